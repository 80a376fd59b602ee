"""The page of the paper: does it hold, what was run, every figure, and the claims behind them.

A finding groups claims. The first of them is its primary claim, whose outcome is that of the
finding; `claim.py` says how it follows from results. The others are listed below it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from preftd._src.experiments.progress import followed
from preftd._src.files import refuse_others
from preftd._src.paper import summary
from preftd._src.paper.cartpole.studies import THRESHOLDS
from preftd._src.paper.claim import Claim, Outcome, Verdict
from preftd._src.paper.contents import CLAIMS, FIGURES, STUDIES
from preftd._src.paper.counterexamples import COUNTEREXAMPLES
from preftd._src.paper.counterexamples.figures import chain_effect, chain_verdicts, chains
from preftd._src.paper.drawings import Drawings
from preftd._src.paper.experiment import PaperFinding
from preftd._src.paper.order import Order, stored
from preftd._src.paper.registry import FINDINGS, WORDS
from preftd._src.paper.summary import ClaimAnswer
from preftd._src.report.page.plot import Plot, plot_of
from preftd._src.report.page.render import Shot, explorer, provenance, write_page
from preftd.tasks import make

PAGE = "paper.html"
EXACT = "credit"
"""The figure of claims that theory decides, without a study."""
RULE = (
    "The first claim of each finding is its primary one: what the paper says of it in a sentence, "
    "measured by what its figure shows, as one average over all cases of that figure (tasks, "
    "lengths, sizes, widths, conditions), seed by seed, with one interval of 95 %. Ratios are "
    "averaged geometrically. If a method is ranked above several others, the nearest of them "
    "counts, and intervals hold for all of them together. A finding holds if this interval lies "
    "inside the claimed region, on average if some case alone does not, is contradicted if the "
    "interval lies outside, and inconclusive otherwise."
)
NOT_TESTED = "not tested"
ICONS = {
    Outcome.HOLDS: "✓",
    Outcome.ON_AVERAGE: "◐",
    Outcome.INCONCLUSIVE: "?",
    Outcome.CONTRADICTED: "✗",
    NOT_TESTED: "–",
    Verdict.REPRODUCED: "✓",
    Verdict.NOT_REPRODUCED: "✗",
    "confirmed": "✓",
    "open": "?",
    "refuted": "✗",
}
"""Signs of verdicts, so that no colour is needed."""
HYPOTHESES = {
    Verdict.REPRODUCED: "confirmed",
    Verdict.INCONCLUSIVE: "open",
    Verdict.NOT_REPRODUCED: "refuted",
}
"""The names of verdicts on claims beyond the paper."""
TASKS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "corridor": ("Figure 1, task 1: a corridor", {"length": 5}),
    "double_corridor": ("Figure 1, task 2: a double corridor", {"length": 5}),
    "cross_grid": ("Grid task 1: a cross is hidden", {"size": 8}),
    "random_grid": ("Grid task 2: half of the cells are hidden", {"size": 8, "seed": 0}),
}
"""Tasks that the page shows, their captions, and how they are made."""
AROUND = 3.0
"""The margin of a thumbnail around a panel, in units of the figure."""


class Card(NamedTuple):
    """A finding on the page.

    finding  what the paper found
    outcome  what our results say about its primary claim, or that it is not tested
    more     in how many cases it holds, if it holds on average only
    effect   the number, with its interval
    measured what the number is
    claims   verdicts on its claims, by name; missing ones are "not tested"
    box      the part of its figure that is its thumbnail: left, top, width, height
    """

    finding: PaperFinding
    outcome: str
    more: str
    effect: str
    measured: str
    claims: dict[str, str]
    box: tuple[float, float, float, float] | None

    @property
    def tally(self) -> Counter[str]:
        """The number of its claims with each verdict."""
        return Counter(self.claims.values())


def stored_page(order: Order) -> Iterator[str]:
    """Write the page of the stored results of a folder; yields the path last."""
    refuse_others(order.out / PAGE)
    found, missing = stored(STUDIES, order)
    if missing:
        yield f"not on the page, as results are missing: {', '.join(one.name for one in missing)}"
    drawings = Drawings(found, order)
    plots = {name: drawings.plot(name) for name in followed(drawings.names, "figures")}
    answered = summary.ask(list(CLAIMS.values()), found)
    yield f"wrote {write_paper_page(order.out, answered, summary.remark(found), plots)}"


def write_paper_page(
    out: Path, answered: Sequence[ClaimAnswer], remark: str, plots: Mapping[str, Plot]
) -> Path:
    """Write the page into a results folder.

    Parameters
    ----------
    out : Path
        The results folder.
    answered : sequence of ClaimAnswer
        The findings on claims; others count as not tested.
    remark : str
        The text above the findings, possibly empty.
    plots : mapping
        Figures by name.

    Returns
    -------
    Path
        The page.

    """
    verdicts = {answer.claim.name: answer.finding.verdict for answer in answered}
    known = {**verdicts, **chain_verdicts()}
    by_name = {answer.claim.name: answer for answer in answered}
    cards = [_card(finding, by_name, known, plots) for finding in FINDINGS]
    own = [one for one in answered if not one.claim.figures]
    strict = Counter(word for card in cards for word in card.claims.values())
    shots = {name: _shot(name, plots[name], verdicts) for name in in_order(plots)}
    tasks = [Shot(caption, "", _task_plot(name, of)) for name, (caption, of) in TASKS.items()]
    made = provenance(out)
    contents = [
        ("findings", "Findings"),
        ("tasks", "Tasks"),
        ("chains", "Counterexamples"),
        ("figures", "Figures"),
        ("beyond", "Beyond"),
        ("explorer", "Explorer"),
        ("claims", "Claims"),
        *([("made", "How made")] if made.facts else []),
    ]
    parts = explorer()
    return write_page(
        out / PAGE,
        "paper/page.html.j2",
        [*tasks, *shots.values()],
        title="Preferential temporal-difference learning, reproduced",
        contents=contents,
        cards=cards,
        tally=Counter(card.outcome for card in cards),
        strict=strict,
        hypotheses=HYPOTHESES,
        outcomes=Counter(HYPOTHESES[one.finding.verdict] for one in own),
        rule=RULE,
        icons=ICONS,
        tasks=tasks,
        thresholds=THRESHOLDS,
        heading=heading,
        chains=chains(),
        chain_shot=shots.get(COUNTEREXAMPLES),
        figures=[shots[name] for name in shots if _is_paper(name)],
        beyond=[shots[name] for name in shots if not _is_paper(name) and name != COUNTEREXAMPLES],
        tables=[
            ("paper", "What the paper claims", [one for one in answered if one.claim.figures]),
            ("own", "Hypotheses beyond the paper", own),
        ],
        told=summary,
        figures_of=figures_of,
        shown=shots,
        verdicts=list(Verdict),
        explorer=parts.html,
        more_styles=[parts.css],
        more_scripts=[parts.script],
        legend=summary.LEGEND,
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
    is_own = not _is_paper(name)
    return Shot(
        heading(name),
        title[0].upper() + title[1:],
        plot,
        words.setting,
        words.caption,
        f"preftd reproduce {name}",
        [
            (claim, HYPOTHESES[verdicts[claim]] if is_own else str(verdicts[claim]))
            for claim in about
            if claim in verdicts
        ],
    )


def _task_plot(name: str, given: Mapping[str, Any]) -> Plot:
    """The picture of a task."""
    figure: Any = make(name, **given).plot().get_figure(root=True)
    return plot_of(f"task_{name}", figure)


def _card(
    finding: PaperFinding,
    answered: Mapping[str, ClaimAnswer],
    known: Mapping[str, Verdict],
    plots: Mapping[str, Plot],
) -> Card:
    claims = {name: str(known.get(name, NOT_TESTED)) for name in finding.claims}
    plot = plots.get(finding.figure)
    box = _box(plot, finding.panel) if plot else None
    return Card(finding, *_primary(finding, answered, known), claims, box)


def _primary(
    finding: PaperFinding, answered: Mapping[str, ClaimAnswer], known: Mapping[str, Verdict]
) -> tuple[str, str, str, str]:
    """The text on a finding's primary claim: see `Card`."""
    name = finding.claims[0]
    if name in answered:
        return summary.primary(answered[name])
    if name not in known:
        return NOT_TESTED, "", "", "Results are missing."
    exact = all(known[one] == Verdict.REPRODUCED for one in finding.claims)
    return Outcome.HOLDS if exact else Outcome.CONTRADICTED, "", *chain_effect()


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
