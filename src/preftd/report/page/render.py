"""The page as text: a template with its style and script inside, so that it needs no other file."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from preftd.files import write_output
from preftd.report.page.plot import Plot
from preftd.style import LOOKS, looks_of

HERE = Path(__file__).parent


class Shot(NamedTuple):
    """A figure on the page, and what is said about it.

    heading   such as "Figure 3"
    title     what it shows
    plot      the figure
    setting   the setting, in a line
    caption   what is seen, in words
    command   the command that makes it
    related   names and verdicts of claims about it
    """

    heading: str
    title: str
    plot: Plot
    setting: str = ""
    caption: str = ""
    command: str = ""
    related: Sequence[tuple[str, str]] = ()


def write_page(path: Path, template: str, shots: Sequence[Shot], **content: Any) -> Path:
    """Write a page.

    Parameters
    ----------
    path : Path
    template : str
        The name of a template of this package, or its path relative to the package `preftd`.
    shots : sequence of Shot
        All figures of the page: readers can ask them, and switch their methods on and off.
    **content
        What else the template uses.

    Returns
    -------
    Path
        The same path.

    """
    folders = [HERE, HERE.parents[1]]
    environment = Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # A line of no method cannot be switched off.
    methods = dict.fromkeys(name for shot in shots for name in shot.plot.methods if name)
    known = [name for name in LOOKS if name in methods]
    ordered = [*known, *(name for name in methods if name not in LOOKS)]
    page = environment.get_template(template).render(
        shots=shots,
        methods={name: look.colour for name, look in looks_of(ordered).items()} if ordered else {},
        order=ordered,
        numbers={shot.plot.name: shot.plot.lines for shot in shots},
        style=_file("page.css"),
        script=_file("number_text.js") + _file("page.js"),
        drawn=markup,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **content,
    )
    return write_output(path, lambda file: file.write(page.encode()))


def markup(plot: Plot) -> Markup:
    """The SVG of a figure, in which matplotlib has escaped all texts."""
    return Markup(plot.svg)  # noqa: S704


def _file(name: str) -> Markup:
    return Markup((HERE / name).read_text(encoding="utf-8"))  # noqa: S704  (of this package)
