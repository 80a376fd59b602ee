"""The page of studies: of each a table and its figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from preftd._src.experiments.results import Results
from preftd._src.experiments.study import Study
from preftd._src.report.page.plot import plot_of
from preftd._src.report.page.provenance import provenance
from preftd._src.report.page.render import Shot, write_page
from preftd._src.report.summary import table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADINGS = {
    "curves": ("Learning curves", "the score of each episode with the chosen step size"),
    "step_sizes": ("Step sizes", "the score of every step size that was tried"),
    "widths": ("Widths", "the score against the number of hidden units"),
    "bars": ("Scores", "the score of every algorithm with its chosen step size"),
}
"""Headings and titles of figures, by their name."""


class Part(NamedTuple):
    """A study on the page."""

    name: str
    stem: str
    """What names of its files begin with."""
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    legend: Sequence[tuple[str, str]]
    remarks: Sequence[str]
    shots: Sequence[Shot]


def part_of(
    number: int,
    study: Study,
    found: Results,
    figures: "Mapping[str, Figure]",
    remarks: Sequence[str],
) -> Part:
    """Return a study for the page, of which it is part `number`.

    Parameters
    ----------
    number : int
    study : Study
    found : Results
    figures : mapping
        Its figures, by name.
    remarks : sequence of str
        What else is to be said, in sentences.

    """
    shots = [
        Shot(*HEADINGS[name], plot_of(f"study-{number}-{name}", figure))
        for name, figure in figures.items()
    ]
    table = table_of(found)
    caption = f"Results of {study.name}"
    return Part(study.name, study.stem, caption, *table, remarks, shots)


def page_of(out: Path, stem: str) -> Path:
    """Return the path of the page of studies, given the stem of the first of them."""
    return out / f"study_{stem}.html"


def write_study_page(out: Path, parts: Sequence[Part]) -> Path:
    """Write the page of studies into their results folder, named after the first of them.

    Parameters
    ----------
    out : Path
        The results folder.
    parts : sequence of Part
        At least one.

    """
    shots = [shot for part in parts for shot in part.shots]
    names = [part.name for part in parts]
    contents = [(f"study-{i}", name) for i, name in enumerate(names, 1)]
    made = provenance(out, names)
    return write_page(
        page_of(out, parts[0].stem),
        "study.html.j2",
        shots,
        title=", ".join(names),
        contents=[*contents, *([("made", "How it was made")] if made.facts else [])],
        parts=parts,
        made=made,
    )
