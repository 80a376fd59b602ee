"""The page as text: a template with its style and script inside, so that it needs no other file."""

from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from preftd._src.files import write_output
from preftd._src.report.page.plot import Plot
from preftd._src.style import LOOKS, looks_of

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


def write_page(
    path: Path,
    template: str,
    shots: Sequence[Shot],
    *,
    more_styles: Sequence[str] = (),
    more_scripts: Sequence[str] = (),
    **content: Any,
) -> Path:
    """Write a page.

    Parameters
    ----------
    path : Path
    template : str
        The name of a template of this package, or its path relative to the package `preftd`.
    shots : sequence of Shot
        All figures of the page: readers can ask them, and switch their methods on and off.
    more_styles, more_scripts : sequence of str
        Of this package, besides those of every page. The page allows these alone.
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
    styles = [_file("page.css"), *more_styles]
    scripts = [_file("number_text.js") + _file("page.js"), *more_scripts]
    page = environment.get_template(template).render(
        shots=shots,
        methods={name: look.colour for name, look in looks_of(ordered).items()} if ordered else {},
        order=ordered,
        numbers={shot.plot.name: shot.plot.lines for shot in shots},
        policy=Markup(policy(styles, scripts)),  # noqa: S704  (of hashes)
        styles=map(Markup, styles),
        scripts=map(Markup, scripts),
        drawn=markup,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **content,
    )
    # Paths may hold bytes that are not UTF-8.
    return write_output(path, lambda file: file.write(page.encode(errors="backslashreplace")))


def markup(plot: Plot) -> Markup:
    """The SVG of a figure, in which matplotlib has escaped all texts."""
    return Markup(plot.svg)  # noqa: S704


def policy(styles: Sequence[str], scripts: Sequence[str]) -> str:
    """The content security policy: these styles and scripts, and nothing from anywhere else.

    >>> policy(["a {}"], [""]).split("; ")[:4]
    ["default-src 'none'", "base-uri 'none'", "form-action 'none'", 'img-src data:']
    """
    parts = ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "img-src data:"]
    parts += [f"style-src {' '.join(map(_hash, styles))}"]
    parts += [f"script-src {' '.join(map(_hash, scripts))}"]
    return "; ".join(parts)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _file(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
