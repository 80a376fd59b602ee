"""Claims as rows of tables on the page."""

from collections.abc import Mapping
from typing import NamedTuple

from preftd._src.paper.claim import Claim
from preftd._src.paper.contents import FIGURES
from preftd._src.paper.summary import Answer, averages, effect_text, interval_text, where

EXACT = "credit"
"""The figure of claims that theory decides, without a study."""


class ClaimRow(NamedTuple):
    """A claim, and what was found.

    name       the name that users type
    statement  what is claimed
    verdict    what results say
    average    what they say on average over cases, if cases are many
    effect     the number in the weakest case, and for sorting as a number
    interval   its interval
    claimed    where it should lie
    measured   what the number is, and in how many cases the claim holds
    averages   averages over cases, if cases are many
    because    what explains it
    figures    names of figures on the page
    of_paper   whether the paper claims it
    """

    name: str
    statement: str
    verdict: str
    average: str
    effect: str
    value: float
    interval: str
    claimed: str
    measured: str
    averages: str
    because: str
    figures: list[str]
    of_paper: bool


def claim_row(answer: Answer, shown: Mapping[str, object]) -> ClaimRow:
    """A claim as a row; `shown` are the figures of the page."""
    claim, found = answer
    weakest = found.weakest
    return ClaimRow(
        claim.name,
        claim.statement,
        str(found.verdict),
        str(found.on_average or ""),
        effect_text(weakest),
        weakest.centre,
        interval_text(weakest),
        str(found.region),
        f"{found.effect}{where(found)}.",
        averages(found) if found.averages else "",
        claim.because,
        [name for name in figures_of(claim) if name in shown],
        bool(claim.figures),
    )


def figures_of(claim: Claim) -> list[str]:
    """Names of the figures that a claim is about: those of the paper, or the nearest of ours."""
    if claim.figures:
        numbers = [f"figure_{number.replace('.', '').lower()}" for number in claim.figures]
        variants = [f"{name}_biases" for name in numbers if claim.name.endswith("_biases")]
        return variants if variants and variants[0] in FIGURES else numbers
    needed = set(claim.studies)
    if not needed:
        return [EXACT]
    fitting = [figure for figure in FIGURES.values() if needed <= set(figure.studies)]
    own = [figure for figure in fitting if not figure.name.startswith("figure_")] or fitting
    return [min(own, key=lambda figure: len(figure.studies)).name] if own else []
