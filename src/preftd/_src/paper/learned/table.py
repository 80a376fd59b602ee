"""Tables of all cases as Markdown, from the results on file, so that no figure is typed."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from preftd._src.arrays import InputError
from preftd._src.experiments.results import Results
from preftd._src.files import write_whole
from preftd._src.paper.learned.cases import CASES, KINDS, SECTIONS, Case
from preftd._src.paper.learned.scores import Estimate, Scores, scores_of
from preftd._src.paper.learned.studies import (
    BOUNDED,
    BY_RETURNS,
    OF_LEARNED,
    ONE,
    ORACLE,
    PLAIN,
    TD_LAMBDA,
)
from preftd._src.paper.stored import RUNS, SEARCHES, read_runs, read_search, together
from preftd._src.paper.study import PaperStudy
from preftd._src.style import number_text

COLUMNS = (
    *("case", "share", "95 %", "with returns", "loss", "95 %", "learned", ORACLE, ONE),
    *(TD_LAMBDA, f"{TD_LAMBDA}, {PLAIN}"),
)
OF_TASKS, OF_KINDS = (0.95, 0.01), (0.9, 0.02)
"""The share that is aimed at, and the largest loss."""
DIVERGED = np.array([np.nan])
"""In place of errors where all step sizes diverged."""
PAGES = {"summary": "learned.md", "tables": "research/learned.md"}
"""Pages of the documentation, by their generated part."""


def on_file(study: PaperStudy) -> Results:
    """The results of a study on file: its search and its reported runs."""
    whole = study.study()
    search = read_search(whole, SEARCHES)
    return together(search, read_runs(whole, search, study.kept_every, RUNS))


def scores_on_file() -> dict[str, Scores]:
    """The scores of all cases, by name."""
    return scores_of(map(on_file, OF_LEARNED), CASES)


def summary(
    scores: Mapping[str, Scores],
    what: str,
    sections: Mapping[str, tuple[Case, ...]],
    goal: float,
    small: float,
) -> str:
    """A line on some cases, with the share that is aimed at and the largest loss."""
    every = [case for cases in sections.values() for case in cases]
    gaining = [scores[case.name] for case in every if scores[case.name].has_gain]
    shares = [one.share(one.learned()).centre for one in gaining]
    losses = {case: scores[case.name].loss(scores[case.name].learned()).centre for case in every}
    clean = {case.name: loss for case, loss in losses.items() if not case.hidden}
    worst = max(clean, key=clean.__getitem__)
    harmed = sum(loss > 0.05 for loss in losses.values())
    return (
        f"- **{what}**: the oracle gains in {len(shares)} of {len(every)} cases. The median share "
        f"of its gain is {_percent(float(np.median(shares)))}, and at least {_percent(goal)} is "
        f"reached in {sum(share >= goal for share in shares)}. Where nothing is wrong, the loss is "
        f"at most {_percent(small)} in {sum(loss <= small for loss in clean.values())} of "
        f"{len(clean)} cases, and largest for {worst} ({_percent(clean[worst])}). Of all cases, "
        f"{harmed} {'loses' if harmed == 1 else 'lose'} more than 5 %."
    )


def table_lines(scores: Mapping[str, Scores]) -> Iterator[str]:
    """Tables of tasks and of kinds of streams."""
    for sections in (SECTIONS, KINDS):
        yield _row(COLUMNS)
        yield _line(COLUMNS)
        for section, cases in sections.items():
            yield _row([f"**{section}**", *[""] * (len(COLUMNS) - 1)])
            for case in cases:
                yield _row([case.name, *_cells(scores[case.name])])
        if sections is SECTIONS:
            yield ""


def _cells(one: Scores) -> list[str]:
    nothing = Estimate(np.nan, np.nan, np.nan)
    share = one.share(one.learned()) if one.has_gain else nothing
    asked = one.has_gain and (BY_RETURNS, BOUNDED) in one.errors
    by_returns = one.share(one.learned(BY_RETURNS)) if asked else nothing
    loss = one.loss(one.learned())
    errors = [
        one.learned(),
        one.best(ORACLE),
        one.best(ONE),
        *(one.errors.get((TD_LAMBDA, learner), DIVERGED) for learner in (BOUNDED, PLAIN)),
    ]
    return [
        *(_percent(share.centre), _interval(share), _percent(by_returns.centre)),
        *(_percent(loss.centre), _interval(loss)),
        *(number_text(float(own.mean())) if own is not DIVERGED else "–" for own in errors),
    ]


def _percent(number: float) -> str:
    return "–" if np.isnan(number) else f"{number_text(100 * number, '.1f')} %"


def _interval(found: Estimate) -> str:
    if np.isnan(found.centre):
        return "–"
    return f"{_percent(found.low).removesuffix(' %')} to {_percent(found.high)}"


def _row(cells: Iterator[str] | list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |".replace("  ", " ")


def _line(columns: tuple[str, ...]) -> str:
    return f"|---|{'---:|' * (len(columns) - 1)}"


def write_tables(folder: Path) -> None:
    """Write a summary and the tables into pages of a folder."""
    scores = scores_on_file()
    summaries = (
        summary(scores, *of)
        for of in (("tasks", SECTIONS, *OF_TASKS), ("other kinds of streams", KINDS, *OF_KINDS))
    )
    put(folder / PAGES["summary"], "summary", summaries)
    put(folder / PAGES["tables"], "tables", table_lines(scores))


def put(page: Path, name: str, lines: Iterable[str]) -> None:
    """Write lines into a page, between the two marks that it has for them."""
    begin, end = f"<!-- {name} -->", f"<!-- end of the {name} -->"
    text = page.read_text(encoding="utf-8")
    before, found, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise InputError(f"{page} has no place for the {name}: add the lines {begin} and {end}.")
    whole = "\n".join([before + begin, "", *lines, "", end + after])
    write_whole(page, lambda file: file.write(whole.encode()))
