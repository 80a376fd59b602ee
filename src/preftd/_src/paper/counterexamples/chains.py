"""Both counterexamples for the page: all numbers of the chains, and what theory says of them."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from preftd._src.paper.claim import Verdict
from preftd._src.paper.counterexamples.figures import diagnoses
from preftd._src.style import number_text
from preftd._src.tasks.counterexamples import LAMBDAS
from preftd.tasks import make
from preftd.theory import Diagnosis, report

RULES = {"td_diverges": ("TD(λ)", False), "ptd_converges": ("PTD", True)}
"""Claims about each chain: the rule, and whether its expected update should converge."""


class Chain(NamedTuple):
    """A chain of two states.

    title          such as "Counterexample 1"
    discount       γ
    probabilities  of the next state, by state
    features       of each state, as text
    lambdas        of each state
    told           of each rule, whether it converges, A, and its eigenvalues
    report         what theory says, as text
    """

    title: str
    discount: str
    probabilities: list[list[str]]
    features: list[str]
    lambdas: list[str]
    told: list[tuple[str, str, str, str]]
    report: str


def chains() -> list[Chain]:
    """Both chains."""
    return [_chain(name, found) for name, found in diagnoses().items()]


def chain_verdicts() -> Mapping[str, Verdict]:
    """Verdicts on the claims that exact theory decides, by name."""
    held, failed = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED
    return {
        f"{chain}_{claim}": held if found.stable is expected else failed
        for chain, every in diagnoses().items()
        for claim, (rule, expected) in RULES.items()
        for found in every
        if found.rule.name == rule
    }


def _chain(name: str, found: list[Diagnosis]) -> Chain:
    task = make(name)
    features = task.features.columns(slice(None))
    moves = np.zeros((task.states, task.states))
    outcomes = task.outcomes
    np.add.at(moves, (outcomes.state, outcomes.next_state), outcomes.probability)
    return Chain(
        name.replace("_", " ").capitalize(),
        f"{task.discount:g}",
        [[f"{p:g}" if p else "" for p in row] for row in moves.tolist()],
        [", ".join(number_text(x, "g") for x in row) for row in features.tolist()],
        [f"{x:g}" for x in LAMBDAS[name]],
        [
            (
                d.rule.name,
                "converges" if d.stable else "diverges",
                "; ".join(", ".join(_number(x) for x in row) for row in d.key.A.tolist()),
                ", ".join(_complex(x) for x in d.eigenvalues.tolist()),
            )
            for d in found
        ],
        report(found),
    )


def _number(x: float) -> str:
    return number_text(x, ".4g")


def _complex(x: complex) -> str:
    if abs(x.imag) < 1e-12:
        return _number(x.real)
    return f"{_number(x.real)} {'+' if x.imag > 0 else '−'} {_number(abs(x.imag))}i"
