"""What artists show: the method and the numbers behind a line, for pages that readers can ask."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import polars as pl
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from preftd._src.style import LOOKS, Band, number_text


class Shown(NamedTuple):
    """The points that an artist shows, and what they are."""

    label: str
    """The label of the line, as the figure writes it."""
    method: str
    """The method, by which lines are switched on and off in all figures."""
    points: Band
    across: str = ""
    """What x is, such as "episode"; empty if x is only a position."""
    step_sizes: Sequence[str] = ()
    """The step size of each point, or of all of them; empty if there is none."""
    sideways: bool = False
    """Whether values are along the horizontal axis, and x along the vertical one."""


_SHOWN: WeakKeyDictionary[Artist, Shown | str] = WeakKeyDictionary()


def attach(artists: Iterable[Artist], shown: Shown | str) -> None:
    """Remember what artists show, or the label of the line that they name or mark."""
    for artist in artists:
        _SHOWN[artist] = shown


def attached(figure: Figure) -> Iterator[tuple[Artist, Shown | str]]:
    """Yield the artists of a figure about which something is known, in the order of drawing."""
    for artist in figure.findobj(lambda artist: artist in _SHOWN):
        yield artist, _SHOWN[artist]


def method_of(rule: str) -> str:
    """Return the method of which a rule is a variant.

    Examples
    --------
    >>> method_of("ETD, interest 1"), method_of("mine, too")
    ('ETD', 'mine, too')

    """
    name = rule.partition(",")[0]
    return name if name in LOOKS else rule


def step_sizes_of(rows: pl.DataFrame) -> Sequence[str]:
    """Return the step size of each row as text, or a single one if all are the same."""
    if "step_size" not in rows.columns or rows["step_size"].is_null().all():
        return ()
    pairs = rows.select("schedule", "step_size").rows()
    found = [
        schedule or ("" if size is None else number_text(size, "g")) for schedule, size in pairs
    ]
    return found if len(set(found)) > 1 else found[:1]
