"""The documentation: every snippet is run, every link leads somewhere, and the site builds."""

import contextlib
import io
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from typer.core import TyperGroup
from typer.main import get_command

from preftd import cli, tasks
from preftd.paper.contents import CLAIMS
from preftd.paper.titles import TITLES

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
REPOSITORY = (
    "https://github.com/preftd/preftd/blob/main/",
    "https://raw.githubusercontent.com/preftd/preftd/main/",
)


REGISTERED = cli.app.registered_commands


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in a language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_example_of_the_readme_prints_what_is_shown() -> None:
    (code,), (shown,) = blocks(README, "python"), blocks(README, "text")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})  # noqa: S102  (our own README)
    assert printed.getvalue() == shown


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.stem)
def test_every_snippet_is_a_doctest(page: Path) -> None:
    """Pytest runs what begins with >>>, and nothing else."""
    assert all(code.startswith(">>> ") for code in blocks(page, "python"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_to_other_sites_are_well_formed_and_files_of_the_repository_exist(page: Path) -> None:
    """There may be no network: links between pages are checked by the build of the site."""
    for address in re.findall(r"\]\((http[^)]*)\)", page.read_text(encoding="utf-8")):
        parts = urlsplit(address)
        assert parts.scheme == "https", address
        assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", parts.netloc), address
        assert " " not in address
        for start in REPOSITORY:
            if address.startswith(start):
                assert (ROOT / address.removeprefix(start).partition("#")[0]).exists(), address


def test_the_readme_reads_well_as_the_page_of_a_package() -> None:
    """There, links that are relative lead nowhere."""
    for address in re.findall(r"\]\(([^)]*)\)", README.read_text(encoding="utf-8")):
        assert address.startswith("https://"), address


def commands() -> list[str]:
    """The commands that help and pages show, each on an indented line."""
    helps = [cli.HELP, *(info.callback.__doc__ or "" for info in REGISTERED if info.callback)]
    texts = [*helps, *(page.read_text(encoding="utf-8") for page in PAGES)]
    joined = [re.sub(r"\\\n\s*", "", text) for text in texts]
    shown = [line for text in joined for line in re.findall(r"^ {4,}preftd (.*)", text, re.M)]
    typed = {re.split(r"\s#|\s{3,}", line)[0].strip() for line in shown}
    return sorted(line for line in typed if not line.startswith("COMMAND"))


@pytest.mark.parametrize("line", commands())
def test_a_command_that_is_shown_can_be_typed(line: str) -> None:
    """Its command, options and files exist, and so do the names of figures, claims and the like."""
    name, *arguments = shlex.split(line)
    group = get_command(cli.app)
    assert isinstance(group, TyperGroup)
    if name.startswith("--"):
        assert name in {option for part in group.params for option in part.opts}
        return
    context = group.commands[name].make_context(name, arguments)
    given = {key: part for key, part in context.params.items() if part}
    for kind, known in (("figures", TITLES), ("names", CLAIMS)):
        assert set(given.get(kind, ())) <= set(known), line
    for kind in ("file", "study"):
        assert kind not in given or (ROOT / given[kind]).exists(), line
    assert name != "tasks" or given.get("name", "corridor") in tasks.TASKS


@pytest.mark.slow
@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("plot_*.py")), ids=str)
def test_every_example_of_the_gallery_draws_something(example: Path) -> None:
    with mpl.rc_context(), contextlib.redirect_stdout(io.StringIO()):
        plt.switch_backend("agg")
        runpy.run_path(str(example))
        drawn = plt.get_fignums()
        plt.close("all")
    assert drawn


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """Links between pages and their anchors are among what would give one."""
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]
    done = subprocess.run(
        [*command, str(ROOT / "docs"), str(tmp_path)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "gallery" / "plot_corridor.html").exists()
    assert "register_task" in (tmp_path / "api" / "index.html").read_text(encoding="utf-8")
