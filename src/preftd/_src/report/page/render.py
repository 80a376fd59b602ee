"""A page: a template with its style and script inside, so that it needs no other file.

A page may say when, where and by what its results were computed, from the manifests next to them,
and hold the explorer, a small chain to play with, computed in the browser.
"""

import re
import shlex
from base64 import b64encode
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from preftd._src.experiments.manifest import Manifest, read_manifests, state_of
from preftd._src.files import write_output
from preftd._src.report.page.plot import Plot
from preftd._src.style import LOOKS, looks_of

HERE = Path(__file__).parent
SCRIPTS = (
    *("words", "algebra", "toml", "checks", "chain"),
    *("theory", "drawing", "chain_picture", "presets"),
)
"""Scripts `explorer_NAME.js` in the order in which they need each other; `explorer.js` is last."""


CLIP = re.compile("<clipPath .*?</clipPath>", re.DOTALL)
"""They stand at the top of the page: in a figure that is folded they would not clip thumbnails."""


class Shot(NamedTuple):
    """A figure on the page, with its texts.

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
        All figures of the page, with tooltips and switches for methods.
    more_styles, more_scripts : sequence of str
        Of this package, besides those of every page. The page allows these alone.
    **content
        Further variables of the template.

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
    colours = {name: look.colour for name, look in looks_of(ordered).items()} if ordered else {}

    def in_own_colours(plot: Plot) -> list[str]:
        return [name for name in plot.methods if name and colours[name].lower() in plot.svg]

    styles = [_file("page.css"), *more_styles]
    scripts = [_file("number_text.js") + _file("page.js"), *more_scripts]
    page = environment.get_template(template).render(
        shots=shots,
        methods=colours,
        in_own_colours=in_own_colours,
        order=ordered,
        numbers={shot.plot.name: shot.plot.lines for shot in shots},
        policy=Markup(policy(styles, scripts)),  # noqa: S704  (of hashes)
        styles=map(Markup, styles),
        scripts=map(Markup, scripts),
        drawn=markup,
        clips=Markup("".join(CLIP.findall("".join(shot.plot.svg for shot in shots)))),  # noqa: S704
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **content,
    )
    # Paths may hold bytes that are not UTF-8.
    return write_output(path, lambda file: file.write(page.encode(errors="backslashreplace")))


def markup(plot: Plot) -> Markup:
    """The SVG of a figure, in which matplotlib has escaped all texts; without its clip paths."""
    return Markup(CLIP.sub("", plot.svg))  # noqa: S704


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


class Provenance(NamedTuple):
    """The origin of the results: rows of names and values."""

    facts: list[tuple[str, str]]
    runs: list[tuple[str, str, str, str]]
    """Of each study the last run that computed something: study, start, duration, state."""


def provenance(out: Path, studies: Sequence[str] | None = None) -> Provenance:
    """Read the manifests of a results folder.

    Parameters
    ----------
    out : Path
    studies : sequence of str, optional
        Names of the studies that count (default: all).

    """
    files = read_manifests(out / "runs")
    known = [
        run
        for run in files
        if isinstance(run, Manifest) and (studies is None or run.study in studies)
    ]
    if not known:
        return Provenance([], [])
    runs = [run for run in known if run.computed or not run.ended] or known
    spent = sum((run.duration for run in runs), timedelta())
    facts = [
        ("commands", _several(shlex.join(_typed(run)) for run in runs)),
        ("computing time", f"{_told(spent)} in {len(runs)} runs of studies"),
        ("commit", _several(run.commit or "not in a repository" for run in runs)),
        ("machine", _several(map(_machine, runs))),
        ("versions", _several(map(_versions, runs))),
    ]
    unreadable = [str(error) for error in files if not isinstance(error, Manifest)]
    facts += [("left out", text) for text in unreadable]
    rows = [
        (run.study, run.started[:19].replace("T", " "), _told(run.duration), state_of(run))
        for run in {run.study: run for run in runs}.values()
    ]
    return Provenance(facts, rows)


def _typed(run: Manifest) -> list[str]:
    """The command as typed, without the folder of the program."""
    first, *rest = run.command or ["unknown"]
    return [Path(first).name.replace("__main__.py", "preftd"), *rest]


def _told(spent: timedelta) -> str:
    seconds = round(spent.total_seconds())
    if seconds < 120:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def _several(values: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(values))


def _machine(run: Manifest) -> str:
    known = [run.machine.get(name) for name in ("processor", "system")]
    cores = f"{run.machine['cores']} cores" if run.machine.get("cores") else None
    return ", ".join(str(part) for part in (*known, cores) if part) or "unknown"


def _versions(run: Manifest) -> str:
    return ", ".join(f"{name} {number}" for name, number in run.versions.items()) or "unknown"


class Explorer(NamedTuple):
    """A section of a page."""

    html: str
    """The element `<section id="explorer">`."""
    css: str
    """For a `<style>` element; every selector begins with #explorer."""
    script: str
    """For a `<script>` element after the section; it defines `preftdExplorer` and
    `preftdNumberText`, and no other global name."""


def explorer() -> Explorer:
    """Return the explorer's parts."""
    names = ["number_text.js", *(f"explorer_{name}.js" for name in SCRIPTS), "explorer.js"]
    script = "\n".join(map(_file, names))
    return Explorer(_file("explorer.html"), _file("explorer.css"), script)
