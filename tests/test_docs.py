"""The documentation: every snippet is run, every link leads somewhere, and the site builds."""

import contextlib
import io
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from typer.core import TyperGroup
from typer.main import get_command

from preftd import tasks
from preftd._src import cli
from preftd._src.paper.contents import CLAIMS
from preftd._src.paper.memory import MEMORY
from preftd._src.paper.registry import WORDS

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
REPOSITORY = "https://github.com/preftd/preftd"
FILES = (f"{REPOSITORY}/blob/main/", "https://raw.githubusercontent.com/preftd/preftd/main/")
"""Where files of the repository are, and where pictures are."""


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


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_snippet_is_a_doctest(page: Path) -> None:
    """Pytest runs what begins with >>>, and nothing else."""
    assert all(code.startswith(">>> ") for code in blocks(page, "python"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_other_sites_are_well_formed_and_files_of_the_repository_exist(page: Path) -> None:
    """There may be no network: links between pages are checked by the build of the site."""
    for address in re.findall(r"\]\((http[^)]*)\)", page.read_text(encoding="utf-8")):
        parts = urlsplit(address)
        assert parts.scheme == "https", address
        assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", parts.netloc), address
        assert " " not in address


def links(text: str) -> list[str]:
    found: list[str] = re.findall(r"\]\(([^)]*)\)", text)
    return found


def test_the_readme_is_for_those_who_have_a_clone() -> None:
    """They see its pictures, and need no release and no site of the repository."""
    text = README.read_text(encoding="utf-8")
    assert "pip install ." in text
    assert "pip install preftd" not in text
    assert REPOSITORY not in text
    own = [address for address in links(text) if not address.startswith("https:")]
    assert len(own) > 20
    for address in own:
        assert (ROOT / address.partition("#")[0]).is_file(), address


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_is_installed_is_the_clone(page: Path) -> None:
    """A line to be typed works before there is a release."""
    typed = re.findall(r"^(?: {4})?pip install .*", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert all(re.match(r" *pip install '?\.", line) for line in typed), typed


def package_page() -> str:
    """The README as the package index shows it, by the settings of its build."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    hook = settings["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = "".join((ROOT / part["path"]).read_text(encoding="utf-8") for part in hook["fragments"])
    for change in hook["substitutions"]:
        text = re.sub(change["pattern"], change["replacement"], text)
    return text


def test_the_readme_reads_well_as_the_page_of_a_package() -> None:
    """There, links that are relative lead nowhere, and nobody has a clone."""
    text = package_page()
    assert "```console\npip install preftd\n```" in text
    assert "pip install ." not in text
    assert f"In a clone of the [repository]({REPOSITORY})" in text
    assert f"]({FILES[1]}docs/pictures/double_corridor.png)" in text
    for address in links(text):
        assert address.startswith("https://"), address
        for start in FILES:
            if address.startswith(start):
                assert address.endswith(".png") == (start == FILES[1])
                assert (ROOT / address.removeprefix(start).partition("#")[0]).is_file(), address


@pytest.mark.slow
def test_a_wheel_holds_that_page(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(tmp_path)]
    subprocess.run([*build, str(ROOT)], check=True)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as held:
        [name] = [one for one in held.namelist() if one.endswith(".dist-info/METADATA")]
        metadata = held.read(name).decode()
        study = [one for one in held.namelist() if "/memory_study/" in one]
    endings = ("agents.py", "study.csv", "study.py", "tasks.py")  # for `preftd reproduce memory`
    assert sorted(study) == [f"preftd/_src/paper/memory_study/memory_{one}" for one in endings]
    assert "Description-Content-Type: text/markdown" in metadata
    assert metadata.partition("\n\n")[2].strip() == package_page().strip()


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
    for kind, known in (("figures", {*WORDS, MEMORY}), ("names", CLAIMS)):
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
