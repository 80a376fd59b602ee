"""Compiled code is what the files say, and is stored where nobody else can write."""

import errno
import itertools
import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from numba import config

from benchmarks.published import batch, beliefs
from preftd._src import kernels
from preftd._src.kernels import NotStoredWarning

SOURCE = Path(__file__).parents[1] / "src" / "preftd" / "_src"
KERNEL_FOLDER = kernels.kernel_folder.__wrapped__
"""As it is without a cache, and when a test has put another in its place."""
FILES = {
    "made_base.py": "BASE = 1.0",
    "made_constant.py": "from preftd.made_base import BASE\nCONSTANT = BASE + 1",
    "made_helper.py": """
from preftd._src.kernels import kernel
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
    "made_options.py": """
from preftd._src.kernels import kernel
quick = kernel(error_model="numpy")
""",
    "made_kernels.py": """
from preftd._src.kernels import kernel
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
"""Modules of the library whose kernels contain code of other files."""
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
    (package / "_src").mkdir(parents=True)
    for folder in (package, package / "_src"):
        (folder / "__init__.py").write_text("")  # no environments, which take a second to load
    for name in ("kernels", "command", "terminal"):
        shutil.copy(SOURCE / f"{name}.py", package / "_src")
    for name, text in FILES.items():
        (package / name).write_text(text)
    return package


def contents(package: Path) -> set[str]:
    """The names of stored files but for what depends on the types of arguments."""
    return {path.name.rsplit(".", 2)[0] for path in package.glob("_src/__pycache__/kernels/*")}


def test_a_change_in_any_file_that_a_kernel_uses_takes_effect(tmp_path: Path) -> None:
    package = copied(tmp_path)
    old = {"calls": 1.0, "reads": 2.0, "takes": 1.0, "is_replaced": 1.0, "divides": float("inf")}
    assert run(tmp_path) == {name: (value, 0) for name, value in old.items()}
    stored = contents(package)
    for name, (before, after) in CHANGES.items():
        assert before in (package / name).read_text()
        (package / name).write_text((package / name).read_text().replace(before, after))
    new = {"calls": 5.0, "reads": 6.0, "takes": 2.0, "is_replaced": 5.0, "divides": None}
    assert run(tmp_path) == {name: (value, 0) for name, value in new.items()}
    assert run(tmp_path) == {name: (value, 1) for name, value in new.items()}  # from the store
    now = contents(package)
    assert len(now) == len(stored)  # old code does not pile up
    assert len(now & stored) == 1  # only the types of arguments of `takes` have changed


def test_kernels_of_the_benchmarks_go_by_their_files_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By those that they take kernels from, too."""
    before, real = kernels.content_of(beliefs.learn_greedily), kernels._hash_of.__wrapped__
    for changed in (beliefs, batch):

        def hashed(module: Any, changed: Any = changed) -> str:
            return "changed" if module is changed else real(module)

        monkeypatch.setattr(kernels, "_hash_of", hashed)
        assert kernels.content_of(beliefs.learn_greedily) != before


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
    monkeypatch.setattr(kernels, "PACKAGE", blocked)
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr(tempfile, "tempdir", str(blocked))
    kernels.say_not_stored.cache_clear()
    yield tmp_path
    kernels.say_not_stored.cache_clear()


def find() -> Path | None:
    """The folder that another process would choose."""
    return KERNEL_FOLDER()


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
        assert_refused()
    private.chmod(0o700)
    private.rename(no_folder / "elsewhere")
    private.symlink_to(no_folder / "elsewhere")
    assert_refused()


def test_a_temporary_folder_of_another_user_is_not_used(
    no_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(no_folder))
    found = find()
    assert found is not None
    mine = os.getuid()
    found.parent.rename(no_folder / f"preftd-{mine + 1}")
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    assert_refused("")


def assert_refused(cause: str = "is not used, as") -> None:
    """Another process would use no folder, and say why."""
    kernels.say_not_stored.cache_clear()
    with pytest.warns(NotStoredWarning) as said:
        assert find() is None
    assert any(cause in str(one.message) for one in said)


OTHER = 65534
"""Another user."""
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root makes files of other users")


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def foreign_link(path: Path) -> None:
    link(path)
    os.chown(path, OTHER, OTHER, follow_symlinks=False)


HOSTILE: dict[str, Callable[[Path], None]] = {
    "is of another user": lambda path: os.chown(path, OTHER, OTHER),
    "a group can write to": lambda path: path.chmod(0o770),
    "all can write to": lambda path: path.chmod(0o707),
    "is a link of another user": foreign_link,
}
CANDIDATES: dict[str, Callable[[Path], tuple[Any, str, Any]]] = {
    "named by the user": lambda at: (config, "CACHE_DIR", str(at)),
    "the package": lambda at: (kernels, "PACKAGE", at),
    "of caches": lambda at: (os, "environ", {**os.environ, "XDG_CACHE_HOME": str(at)}),
    "for temporary files": lambda at: (tempfile, "tempdir", str(at)),
}


@as_root
@pytest.mark.parametrize("how", HOSTILE)
@pytest.mark.parametrize("which", CANDIDATES)
def test_a_folder_is_not_used_if_it_or_one_above_it(
    which: str, how: str, no_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = no_folder / "above" / "base"
    base.mkdir(parents=True)
    monkeypatch.setattr(*CANDIDATES[which](base))
    found = find()
    assert found is not None
    for part in (found, *found.relative_to(no_folder).parents):
        at = no_folder / part
        if at != no_folder:
            HOSTILE[how](at)
            assert_refused()
            if at.is_symlink():
                at.unlink()
                at.with_name("elsewhere").rename(at)
            os.chown(at, os.getuid(), os.getgid())
            at.chmod(0o700)
    assert find() == found


def test_a_shared_folder_is_used_if_others_cannot_replace_ours_in_it(
    no_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, own = no_folder / "shared", no_folder / "link"
    shared.mkdir()
    shared.chmod(0o1777)
    own.symlink_to(shared)  # by us: caches are often moved to another disk
    monkeypatch.setattr(config, "CACHE_DIR", str(own))
    found = find()
    assert found is not None
    assert found.parent == shared
    assert found.stat().st_mode & 0o777 == 0o700
    shared.chmod(0o777)
    assert_refused()


def test_links_that_lead_nowhere_are_passed_over(
    no_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (no_folder / "loop").symlink_to(no_folder / "loop")
    (no_folder / "dangling").symlink_to(no_folder / "missing")
    for name in ("loop", "dangling"):
        monkeypatch.setattr(config, "CACHE_DIR", str(no_folder / name))
        assert_refused("no folder can be written to")


def test_folders_that_are_missing_are_made_and_used_whatever_the_umask(
    no_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(no_folder / "some" / "where"))
    before = os.umask(0)
    try:
        found = find()
        assert found is not None
        monkeypatch.setattr(kernels, "kernel_folder", lambda: found)
        assert kernels.kernel(increment)(1) == 2
    finally:
        os.umask(before)
    assert not [p for p in no_folder.rglob("*") if p != found and p.stat().st_mode & 0o022]
    again: Any = kernels.kernel(increment)
    assert again(1) == 2
    assert again.stats.cache_hits


def test_the_folder_that_a_user_names_comes_first(
    no_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(no_folder / "chosen"))
    found = find()
    assert found is not None
    assert found.parent == no_folder / "chosen"


def increment(number: int) -> int:
    return number + 1


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with the compiled code of `increment`."""
    monkeypatch.setattr(kernels, "kernel_folder", lambda: tmp_path)
    assert kernels.kernel(increment)(1) == 2
    (path,) = tmp_path.iterdir()
    return path


def hits() -> int:
    """How often another process finds compiled code of `increment`, which works anyway."""
    one: Any = kernels.kernel(increment)
    assert one(1) == 2
    return sum(one.stats.cache_hits.values())


def assert_repaired(path: Path, whole: bytes, damage: str) -> None:
    """Code that is damaged is not run but made again, and stored."""
    assert hits() == 0, damage
    assert [*path.parent.iterdir()] == [path], damage
    assert path.stat().st_size == pytest.approx(len(whole), abs=64), damage
    assert hits() == 1, damage


def flipped(whole: bytes, at: int, bit: int) -> bytes:
    edited = bytearray(whole)
    edited[at] ^= 1 << bit
    return bytes(edited)


def damaged(whole: bytes) -> Iterator[bytes]:
    """Code that was cut off, changed, or replaced."""
    yield from (b"", whole[:20], whole[:32], whole[:-1], whole + b".", b"no code" * 99)
    for at, bit in [(0, 0), (31, 7), (32, 0), (40, 3), (500, 5), (2000, 1), (-1, 6)]:
        yield flipped(whole, at, bit)


def test_damaged_code_is_compiled_again_and_stored(stored: Path) -> None:
    whole = stored.read_bytes()
    for number, edited in enumerate(damaged(whole)):
        stored.write_bytes(edited)
        assert_repaired(stored, whole, f"damage {number}")


@pytest.mark.slow
def test_300_random_flips_and_cuts_of_code_are_each_noticed(stored: Path) -> None:
    whole, chance = stored.read_bytes(), random.Random(0)  # noqa: S311  (no secret)
    for _ in range(300):
        at, bit = chance.randrange(len(whole)), chance.randrange(9)
        stored.write_bytes(flipped(whole, at, bit) if bit < 8 else whole[:at])
        assert_repaired(stored, whole, f"bit {bit} of byte {at}")


def decrement(number: int) -> int:
    return number - 1


def test_code_of_another_kernel_is_not_run(stored: Path) -> None:
    whole = stored.read_bytes()
    assert kernels.kernel(decrement)(1) == 0
    (other,) = set(stored.parent.iterdir()) - {stored}
    other.replace(stored)
    assert_repaired(stored, whole, "of another kernel")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


FOREIGN: dict[str, Callable[[Path], None]] = HOSTILE | {
    "is a link": link,
    "is a pipe": pipe,
}


@as_root
@pytest.mark.parametrize("how", FOREIGN)
def test_code_is_not_run_from_a_file_that(how: str, stored: Path, tmp_path: Path) -> None:
    whole = stored.read_bytes()
    FOREIGN[how](stored)
    (tmp_path / "elsewhere").unlink(missing_ok=True)
    assert_repaired(stored, whole, how)
    assert stat.S_IMODE(stored.lstat().st_mode) == 0o600
    assert stored.owner() == "root"


def test_a_folder_in_the_place_of_code_costs_time_and_a_sentence_says_so(stored: Path) -> None:
    stored.unlink()
    stored.mkdir()
    kernels.say_not_stored.cache_clear()
    with pytest.warns(NotStoredWarning, match="compiles it again"):
        assert hits() == 0
    assert [*stored.parent.iterdir()] == [stored]


def test_a_full_disk_only_costs_time_and_a_sentence_says_so(
    no_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(kernels, "kernel_folder", lambda: no_folder)
    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(NotStoredWarning, match="No space left"):
        assert kernels.kernel(increment)(1) == 2
    assert [*no_folder.iterdir()] == [no_folder / "file"]  # nothing unfinished stays


def inner(number: float) -> float:
    return number * 2.0


twice: Any = None
"""`inner`, compiled by a fixture."""


def outer(number: float) -> float:
    return float(twice(number) + 1.0)


@pytest.fixture
def renew(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    interrupts_as_usual: None,  # noqa: ARG001  (it changes the process)
) -> Callable[[], None]:
    """Forget all compiled code."""

    def forget() -> None:
        for path in tmp_path.iterdir():
            path.unlink()
        monkeypatch.setitem(globals(), "twice", kernels.kernel(inner))

    monkeypatch.setattr(kernels, "kernel_folder", lambda: tmp_path)
    forget()
    return forget


class Press:
    """Presses Ctrl-C when Python calls a function for the nth time, or one of some name."""

    def __init__(self, at: int | str) -> None:
        self.at, self.calls = at, itertools.count(1)

    def __call__(self, frame: Any, event: str, _: object) -> None:
        if event == "call" and self.at in (frame.f_code.co_name, next(self.calls)):
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)


def interrupted(at: int | str) -> Any:
    """A kernel whose first call is interrupted."""
    one: Any = kernels.kernel(outer)
    with pytest.raises(KeyboardInterrupt):
        press_during(one, at)
    return one


def press_during(one: Any, at: int | str) -> int:
    """Call a kernel, press Ctrl-C meanwhile, and return how many functions were called."""
    press = Press(at)
    sys.setprofile(press)
    try:
        assert one(1.0) == 3.0
    finally:
        sys.setprofile(None)
    return next(press.calls)


LLVM = "_raw_object_cache_notify", "_raw_object_cache_getbuffer"
"""What LLVM calls, and may raise nothing."""


@pytest.mark.usefixtures("renew")
@pytest.mark.parametrize("at", LLVM)
def test_ctrl_c_while_a_kernel_is_compiled_comes_when_it_is_complete(at: str) -> None:
    handler = signal.getsignal(signal.SIGINT)
    one = interrupted(at)
    assert signal.getsignal(signal.SIGINT) is handler
    assert twice.signatures
    assert not one.signatures  # it did not wait for the kernel that calls the first
    assert one(1.0) == 3.0
    again: Any = kernels.kernel(outer)
    assert again(1.0) == 3.0
    assert again.stats.cache_hits  # it was stored whole


@pytest.mark.slow
def test_60_interrupts_at_random_moments_of_compiling_leave_kernels_that_work(
    renew: Callable[[], None],
) -> None:
    chance, calls = random.Random(0), 0  # noqa: S311  (no secret)
    for test in range(62):
        renew()
        if test < 2:  # numba calls more at first
            calls = press_during(kernels.kernel(outer), "nowhere")
        else:
            assert interrupted(chance.randint(1, calls * 9 // 10))(1.0) == 3.0
        again: Any = kernels.kernel(outer)
        assert again(1.0) == 3.0
        assert again.stats.cache_hits


@pytest.mark.usefixtures("renew")
def test_a_handler_that_raises_nothing_lets_compiling_go_on() -> None:
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        press_during(kernels.kernel(outer), LLVM[0])
    finally:
        signal.signal(signal.SIGINT, before)
    assert pressed == [signal.SIGINT]
