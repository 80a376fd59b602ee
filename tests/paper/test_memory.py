"""`preftd reproduce memory` runs the study's own check, and says what it says."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import complaint, printed, run
from preftd._src.paper import memory


@pytest.fixture
def _study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A study in place of the true one, of which two rows differ."""
    (tmp_path / "memory_study.py").write_text(
        "import os\n"
        "from preftd.failures import FailedError\n"
        "STORED = 'rows'\n"
        "def check(file, number):\n"
        "    yield f'{number} of {file}, {os.environ[\"NPROC\"]} thread'\n"
        "    raise FailedError('two differ.')\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(memory, "FOLDERS", (tmp_path / "none", tmp_path))
    monkeypatch.setattr(memory, "find_spec", lambda name: name)
    monkeypatch.setenv("NPROC", "1")
    yield
    sys.modules.pop("memory_study", None)


@pytest.mark.usefixtures("_study")
def test_rows_are_checked_by_the_study_and_differences_are_a_failure() -> None:
    done = run("reproduce", "memory")
    assert (done.returncode, done.stdout) == (1, "3 of rows, 1 thread\n")
    assert done.stderr == "preftd: two differ.\n"


@pytest.mark.parametrize("missing", ["jax", "optax"])
def test_without_jax_one_sentence_says_what_to_install(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "find_spec", lambda name: None if name == missing else name)
    for figures in (["memory"], ["counterexamples", "memory", "--out", tmp_path / "results"]):
        code, said = complaint("reproduce", *figures)
        assert code == 2
        assert said.strip().endswith(
            f"{missing} is not installed: install it with pip install 'preftd[jax]'."
        )
    assert not (tmp_path / "results").exists()


@pytest.mark.usefixtures("_study")
@pytest.mark.parametrize("option", [["--full"], ["--seeds", "3"]])
def test_options_of_figures_are_refused(option: list[str]) -> None:
    code, said = complaint("reproduce", "memory", *option)
    assert (code, "leave out --full and --seeds" in said) == (2, True)


@pytest.mark.slow
def test_stored_rows_are_computed_again() -> None:
    pytest.importorskip("jax")
    lines = printed("reproduce", "memory").splitlines()
    assert len(lines) == memory.ROWS
    assert all(line.endswith(" equal") for line in lines)
