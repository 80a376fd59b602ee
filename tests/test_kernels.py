"""Compiled code is what the files say, and is stored where nobody else can write."""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from numba import config
from numba.core.caching import IndexDataCacheFile

from preftd import kernel_folder, kernels
from preftd.kernel_folder import NotStoredWarning

SOURCE = Path(__file__).parents[1] / "src" / "preftd"
FILES = {
    "made_base.py": "BASE = 1.0",
    "made_constant.py": "from preftd.made_base import BASE\nCONSTANT = BASE + 1",
    "made_helper.py": """
from preftd.kernels import kernel
@kernel
def helper():
    return 1.0
""",
    "made_pair.py": """
from typing import NamedTuple
class Pair(NamedTuple):
    first: float
    second: float
""",
    "made_overload.py": """
from numba.extending import overload
from preftd.made_base import BASE
def replaced():
    return 0.0
@overload(replaced)
def _replaced():
    return lambda: BASE
""",
    "made_options.py": 'from preftd.kernels import kernel\nquick = kernel(error_model="numpy")',
    "made_kernels.py": """
from preftd.kernels import kernel
from preftd.made_constant import CONSTANT
from preftd.made_helper import helper
from preftd.made_overload import replaced
from preftd.made_options import quick
@kernel
def calls():
    return later()
@kernel
def reads():
    return CONSTANT
@kernel
def takes(pair):
    return pair.first
@kernel
def is_replaced():
    return replaced()
@quick
def divides(zero):
    return 1.0 / zero
@kernel
def later():
    return helper()
""",
    "made_run.py": """
import json
from preftd import made_kernels as made
from preftd.made_pair import Pair
found = {}
for name, arguments in {
    "calls": (), "reads": (), "takes": (Pair(1.0, 2.0),), "is_replaced": (), "divides": (0.0,)
}.items():
    one = getattr(made, name)
    try:
        value = one(*arguments)
    except ZeroDivisionError:
        value = None
    found[name] = value, sum(one.stats.cache_hits.values())
print(json.dumps(found))
""",
}
"""Modules of the library whose kernels hold what stands in other files."""
CHANGES = {
    "made_base.py": ("1.0", "5.0"),
    "made_helper.py": ("1.0", "5.0"),
    "made_pair.py": ("first: float\n    second: float", "second: float\n    first: float"),
    "made_options.py": ("numpy", "python"),
}


def run(parent: Path) -> dict[str, tuple[float | None, int]]:
    """Numbers, and how often compiled code was found, in a process of its own."""
    script = f"import sys; sys.path.insert(0, {str(parent)!r}); import preftd.made_run"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=parent
    )
    return {name: (value, hits) for name, (value, hits) in json.loads(done.stdout).items()}


def copied(parent: Path) -> Path:
    """A copy of what the kernels need of the library, and the modules above."""
    package = parent / "preftd"
    package.mkdir()
    (package / "__init__.py").write_text("")  # no environments, which take a second to load
    for name in ("kernels", "kernel_content", "kernel_folder", "command", "terminal"):
        shutil.copy(SOURCE / f"{name}.py", package)
    for name, text in FILES.items():
        (package / name).write_text(text)
    return package


def test_a_change_in_any_file_that_a_kernel_uses_takes_effect(tmp_path: Path) -> None:
    package = copied(tmp_path)
    old = {"calls": 1.0, "reads": 2.0, "takes": 1.0, "is_replaced": 1.0, "divides": float("inf")}
    assert run(tmp_path) == {name: (value, 0) for name, value in old.items()}
    stored = [path.suffix for path in package.glob("__pycache__/kernels/*.nbi")]
    for name, (before, after) in CHANGES.items():
        assert before in (package / name).read_text()
        (package / name).write_text((package / name).read_text().replace(before, after))
    new = {"calls": 5.0, "reads": 6.0, "takes": 2.0, "is_replaced": 5.0, "divides": None}
    assert run(tmp_path) == {name: (value, 0) for name, value in new.items()}
    assert run(tmp_path) == {name: (value, 1) for name, value in new.items()}  # from the store
    now = [path.suffix for path in package.glob("__pycache__/kernels/*.nbi")]
    assert now == stored  # old code does not pile up


def test_all_kernels_are_compiled_by_one_decorator() -> None:
    # jax.jit is not numba's: the benchmark of returns compiles a peer with it.
    other = re.compile(r"(?<!\bjax\.)\b(njit|jit|vectorize|guvectorize|cfunc|stencil)\b(?=\(|\n)")
    files = [path for path in SOURCE.rglob("*.py") if path.name != "kernels.py"]
    assert not [path for path in files if other.search(path.read_text())]


@pytest.fixture
def no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file where each folder for compiled code would be."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setattr(config, "CACHE_DIR", str(blocked))
    monkeypatch.setattr(kernel_folder, "PACKAGE", blocked)
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr(tempfile, "tempdir", str(blocked))
    kernel_folder.say_not_stored.cache_clear()
    yield tmp_path
    kernel_folder.say_not_stored.cache_clear()


def find() -> Path | None:
    """The folder that another process would choose."""
    return kernel_folder.kernel_folder.__wrapped__()


def test_without_any_folder_kernels_work_and_a_sentence_says_what_it_costs(
    no_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.warns(NotStoredWarning, match="compiles it again: set NUMBA_CACHE_DIR"):
        assert find() is None
    with warnings.catch_warnings(action="error"):
        assert find() is None  # said once
        monkeypatch.setattr(kernels, "kernel_folder", find)
        one = kernels.kernel(increment)
    assert one(1) == 2
    assert list(no_folder.iterdir()) == [no_folder / "file"]


def test_the_temporary_folder_is_used_last_and_only_if_it_is_private(
    no_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(no_folder))
    found = find()
    assert found is not None
    private = no_folder / f"preftd-{os.getuid()}"
    assert found.parent == private
    assert private.stat().st_mode & 0o777 == 0o700
    for mode in (0o770, 0o707, 0o777):
        private.chmod(mode)
        with pytest.warns(NotStoredWarning):
            assert find() is None
        kernel_folder.say_not_stored.cache_clear()
    private.chmod(0o700)
    private.rename(no_folder / "elsewhere")
    private.symlink_to(no_folder / "elsewhere")
    with pytest.warns(NotStoredWarning):
        assert find() is None


def test_a_temporary_folder_of_another_user_is_not_used(
    no_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(no_folder))
    found = find()
    assert found is not None
    mine = os.getuid()
    found.parent.rename(no_folder / f"preftd-{mine + 1}")
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    with pytest.warns(NotStoredWarning):
        assert find() is None


def test_the_folder_that_a_user_names_comes_first(
    no_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(no_folder / "chosen"))
    found = find()
    assert found is not None
    assert found.parent == no_folder / "chosen"


def increment(number: int) -> int:
    return number + 1


def test_a_stored_file_that_was_cut_off_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "kernel_folder", lambda: tmp_path)
    assert kernels.kernel(increment)(1) == 2
    for suffix in (".nbi", ".nbc"):
        (path,) = tmp_path.glob(f"*{suffix}")
        path.write_bytes(path.read_bytes()[:20])
        again: Any = kernels.kernel(increment)
        assert again(1) == 2
        assert not again.stats.cache_hits
    stored: Any = kernels.kernel(increment)
    assert stored(1) == 2
    assert sum(stored.stats.cache_hits.values()) == 1


def test_a_full_disk_only_costs_time_and_a_sentence_says_so(
    no_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(kernels, "kernel_folder", lambda: no_folder)
    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    with pytest.warns(NotStoredWarning, match="No space left"):
        assert kernels.kernel(increment)(1) == 2
