"""The page of the paper: its findings in words, every figure, and the claims behind them.

A finding groups claims, and its verdict follows from theirs:

    all of its claims are reproduced                reproduced
    some are                                        in part
    none is, and at least one is not reproduced     not reproduced
    none is, and all are inconclusive               inconclusive
    results of some claim are missing               not tested
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from preftd._src.files import refuse_others
from preftd._src.paper.claim import Claim, Verdict
from preftd._src.paper.contents import CLAIMS, FIGURES
from preftd._src.paper.counterexamples import COUNTEREXAMPLES
from preftd._src.paper.counterexamples.figures import (
    SEEDS,
    chain_verdicts,
    chains,
    draw_counterexamples,
)
from preftd._src.paper.experiment import PaperFinding
from preftd._src.paper.order import Order, stored
from preftd._src.paper.registry import FINDINGS, WORDS
from preftd._src.paper.study import Found, FoundOnDemand
from preftd._src.paper.summary import (
    LEGEND,
    ClaimAnswer,
    ask,
    averages,
    effect_text,
    few_seeds,
    interval_text,
    where,
)
from preftd._src.report.page.plot import Plot, plot_of
from preftd._src.report.page.render import Shot, explorer, provenance, write_page

PAGE = "paper.html"
EXACT = "credit"
"""The figure of claims that theory decides, without a study."""
RULE = (
    "A finding is reproduced if all of its claims are, reproduced in part if some are, not "
    "reproduced if none is and the results contradict at least one, and inconclusive if they "
    "decide none."
)


class Overall(StrEnum):
    """What results say about a finding."""

    REPRODUCED = "reproduced"
    IN_PART = "in part"
    INCONCLUSIVE = "inconclusive"
    NOT_REPRODUCED = "not reproduced"
    NOT_TESTED = "not tested"


ICONS = {
    Overall.REPRODUCED: "✓",
    Overall.IN_PART: "◐",
    Overall.INCONCLUSIVE: "?",
    Overall.NOT_REPRODUCED: "✗",
    Overall.NOT_TESTED: "–",
}
"""Signs of verdicts, so that no colour is needed."""
AROUND = 3.0
"""What of a figure a thumbnail shows around a panel, in its units."""


def overall(verdicts: Sequence[Verdict | None]) -> Overall:
    """The verdict on a finding, given those on its claims; None stands for missing results.

    >>> overall([Verdict.REPRODUCED, Verdict.INCONCLUSIVE])
    <Overall.IN_PART: 'in part'>
    """
    if None in verdicts:
        return Overall.NOT_TESTED
    if Verdict.REPRODUCED in verdicts:
        return Overall.REPRODUCED if len(set(verdicts)) == 1 else Overall.IN_PART
    return Overall.NOT_REPRODUCED if Verdict.NOT_REPRODUCED in verdicts else Overall.INCONCLUSIVE


class Card(NamedTuple):
    """A finding on the page.

    finding  what the paper found
    verdict  what our results say about it
    claims   verdicts on its claims, by name; missing ones are "not tested"
    box      the part of its figure that is its thumbnail: left, top, width, height
    """

    finding: PaperFinding
    verdict: Overall
    claims: dict[str, str]
    box: tuple[float, float, float, float] | None


def stored_page(order: Order) -> Iterator[str]:
    """Write the page of what is stored in a results folder; yields the path last."""
    refuse_others(order.out / PAGE)
    names = list(dict.fromkeys(study for figure in FIGURES.values() for study in figure.studies))
    claimed = [study for claim in CLAIMS.values() for study in claim.studies]
    found, missing = stored([*names, *claimed], order)
    if missing:
        yield f"not on the page, as results are missing: {', '.join(one.name for one in missing)}"
    plots = {COUNTEREXAMPLES: plot_of(COUNTEREXAMPLES, draw_counterexamples(order.seeds or SEEDS))}
    plots |= {
        name: plot_of(name, figure.draw(FoundOnDemand(figure.studies, found.__getitem__)))
        for name, figure in FIGURES.items()
        if all(study in found for study in figure.studies)
    }
    yield f"wrote {write_paper_page(order.out, *answers(found), plots)}"


def answers(found: Found) -> tuple[list[ClaimAnswer], str]:
    """What results say about all claims that they can decide, and a remark if seeds are few."""
    return ask(list(CLAIMS.values()), found), " ".join(few_seeds(found)).strip()


def write_paper_page(
    out: Path, answered: Sequence[ClaimAnswer], remark: str, plots: Mapping[str, Plot]
) -> Path:
    """Write the page into a results folder.

    Parameters
    ----------
    out : Path
        The results folder.
    answered : sequence of ClaimAnswer
        What results say about claims; others count as not tested.
    remark : str
        What is said above the findings; it may be empty.
    plots : mapping
        Figures by name.

    Returns
    -------
    Path
        The page.

    """
    verdicts = {answer.claim.name: answer.finding.verdict for answer in answered}
    known = {**verdicts, **chain_verdicts()}
    cards = [_card(finding, known, plots) for finding in FINDINGS]
    shots = {name: _shot(name, plots[name], verdicts) for name in in_order(plots)}
    made = provenance(out)
    contents = [
        ("findings", "Findings"),
        ("chains", "Counterexamples"),
        ("figures", "Figures"),
        ("beyond", "Beyond the paper"),
        ("explorer", "Explorer"),
        ("claims", "Claims"),
        *([("made", "How it was made")] if made.facts else []),
    ]
    parts = explorer()
    return write_page(
        out / PAGE,
        "paper/page.html.j2",
        list(shots.values()),
        title="Preferential temporal-difference learning, reproduced",
        contents=contents,
        cards=cards,
        tally=Counter(card.verdict for card in cards),
        rule=RULE,
        icons=ICONS,
        heading=heading,
        chains=chains(),
        chain_shot=shots.get(COUNTEREXAMPLES),
        figures=[shots[name] for name in shots if _is_paper(name)],
        beyond=[shots[name] for name in shots if not _is_paper(name) and name != COUNTEREXAMPLES],
        tables=[
            ("paper", "What the paper claims", [one for one in answered if one.claim.figures]),
            (
                "own",
                "What we found beyond the paper",
                [one for one in answered if not one.claim.figures],
            ),
        ],
        told={
            "effect": effect_text,
            "interval": interval_text,
            "where": where,
            "averages": averages,
            "figures": figures_of,
        },
        shown=shots,
        verdicts=list(Verdict),
        explorer=parts.html,
        more_styles=[parts.css],
        more_scripts=[parts.script],
        legend=LEGEND,
        remark=remark,
        untested=[name for name in CLAIMS if name not in verdicts],
        made=made,
    )


def in_order(names: Mapping[str, object]) -> list[str]:
    """Names of figures in the order of the paper, its appendix after it, and ours at the end."""

    def place(name: str) -> tuple[bool, bool, int]:
        number = re.match(r"figure_(a?)(\d+)", name)
        return not number, bool(number and number[1]), int(number[2]) if number else 0

    return sorted((name for name in WORDS if name in names), key=place)


def _is_paper(name: str) -> bool:
    return name.startswith("figure_")


def heading(name: str) -> str:
    """The heading of a figure.

    >>> heading("figure_a13_biases"), heading("true_online")
    ('Figure A.13, with biases', 'True online')
    """
    number = re.match(r"figure_(a?)(\d+)(_biases)?", name)
    if not number:
        return name.replace("_", " ").capitalize()
    return f"Figure {'A.' * bool(number[1])}{number[2]}{', with biases' * bool(number[3])}"


def _shot(name: str, plot: Plot, verdicts: Mapping[str, Verdict]) -> Shot:
    words = WORDS[name]
    title = words.title.replace(", beyond the paper", "").removeprefix("Beyond the paper: ")
    about = [claim.name for claim in CLAIMS.values() if name in figures_of(claim)]
    return Shot(
        heading(name),
        title[0].upper() + title[1:],
        plot,
        words.setting,
        words.caption,
        f"preftd reproduce {name}",
        [(claim, str(verdicts[claim])) for claim in about if claim in verdicts],
    )


def _card(finding: PaperFinding, known: Mapping[str, Verdict], plots: Mapping[str, Plot]) -> Card:
    claims = {name: known.get(name) for name in finding.claims}
    plot = plots.get(finding.figure)
    return Card(
        finding,
        overall(list(claims.values())),
        {name: str(verdict or Overall.NOT_TESTED) for name, verdict in claims.items()},
        _box(plot, finding.panel) if plot else None,
    )


def _box(plot: Plot, panel: int) -> tuple[float, float, float, float]:
    """The part of a figure with one panel."""
    left, top, width, height = plot.panels[min(panel, len(plot.panels) - 1)]
    return left - AROUND, top - AROUND, width + 2 * AROUND, height + 2 * AROUND


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
