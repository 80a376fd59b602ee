"""Manifests: a file for each run of a study, with time, machine, command and versions.

Results do not depend on it; it is for people.
"""

import json
import os
import platform
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import UnionType
from typing import Any, Self, final, get_args, get_origin, get_type_hints

from preftd._src.arrays import InputError, as_count, short
from preftd._src.experiments.content import SCHEMA
from preftd._src.experiments.study import MOST_NAME
from preftd._src.files import alive, host, write_whole
from preftd._src.names import nearest

PACKAGES = ("preftd", "numpy", "scipy", "numba", "llvmlite", "polars", "gymnasium")

MOST_CELLS = 2**53
"""Larger than the number of cells of any study."""
STATES = ("running", "finished", "failed", "interrupted")
LONGEST = timedelta(days=3653)
"""The longest plausible run in seconds."""


@final
@dataclass(frozen=True, kw_only=True)
class Manifest:
    """A run of a study."""

    study: str
    command: list[str]
    state: str = "running"
    """One of STATES; still "running" if it was killed."""
    started: str
    ended: str | None = None
    cells: int = 0
    """The number of cells of the study known so far."""
    computed: int = 0
    rounded: int = 0
    """How many of them are equal to rounding only, because other processors or versions computed
    them."""
    failures: list[dict[str, Any]] = field(default_factory=list)
    """Each cell that raised: its description, and the traceback."""
    schema: int = SCHEMA
    versions: dict[str, str] = field(default_factory=dict)
    commit: str | None = None
    """The commit of the study's repository, if there is one."""
    machine: dict[str, str | int | None] = field(default_factory=dict)

    @classmethod
    def begin(cls, study: str, repository: Path) -> Self:
        """The manifest of a run that starts now.

        `repository` is a folder in the study's repository.
        """
        return cls(
            study=study,
            command=list(sys.argv),
            started=_now(),
            versions={"python": platform.python_version()} | _versions(),
            commit=_commit(repository),
            machine={
                "host": host(),
                "process": os.getpid(),
                "system": platform.platform(),
                "processor": _processor(),
                "cores": os.cpu_count(),
            },
        )

    def end(self, state: str, **counted: Any) -> Self:
        """The manifest with its end, and fields that are known by then."""
        ended = max(self.started, _now())  # a clock may be set back
        return replace(self, state=state, ended=ended, **counted)

    @property
    def duration(self) -> timedelta:
        """Seconds that the run took; 0 if its end is unknown."""
        return timedelta() if self.ended is None else _time(self.ended) - _time(self.started)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read it from a file of any origin."""
        try:
            if not path.is_file():  # a pipe would be waited for
                raise InputError("it is not a file")
            found = cls(**_checked(json.loads(path.read_text(encoding="utf-8"))))
            if not timedelta() <= found.duration <= LONGEST:
                raise InputError(f"started is {found.started} and ended {short(found.ended)}")
            return found
        except (ValueError, OSError, RecursionError, MemoryError) as error:  # also InputError
            cause = " ".join(str(error).split()).rstrip(".") or type(error).__name__
            raise InputError(f"{path.name} cannot be read: {cause}.") from None

    def write(self, folder: Path) -> Path:
        """Write it into a folder, under its own name."""
        folder.mkdir(parents=True, exist_ok=True)
        when = self.started.translate(str.maketrans("", "", "-:")).replace("+0000", "Z")
        path = folder / f"{when}-{os.getpid()}.json"
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"
        # The command may name files in bytes that are not UTF-8: JSON has the same escapes.
        write_whole(path, lambda file: file.write(text.encode(errors="backslashreplace")))
        return path


def read_manifests(folder: Path) -> list[Manifest | InputError]:
    """All manifests in a folder, the oldest first.

    With an error in place of each unreadable one.
    """
    found: list[Manifest | InputError] = []
    for path in sorted(folder.glob("*.json")):
        try:
            found.append(Manifest.read(path))
        except InputError as error:
            found.append(error)
    return found


def state_of(manifest: Manifest) -> str:
    """How a run ended; one that was killed could not record it."""
    process = manifest.machine.get("process")
    here = manifest.machine.get("host") == host()
    if manifest.state == "running" and here and isinstance(process, int) and process > 0:
        return "running" if alive(process) else "killed"
    return manifest.state


def _checked(given: Any) -> dict[str, Any]:
    """The fields of a manifest file; a file with other fields is of another version."""
    if not isinstance(given, dict):
        raise InputError("it contains no fields")
    missing = [name for name in ("study", "command", "started") if name not in given]
    if missing:
        raise InputError(f"it has no {missing[0]}")
    kinds = get_type_hints(Manifest)
    found = {name: given[name] for name in kinds if name in given}
    for name, value in found.items():
        if not _fits(value, kinds[name]):
            raise InputError(f"{name} is {short(value)}")
    for name in ("cells", "computed", "rounded"):
        as_count(name, found.get(name, 0), 0, MOST_CELLS)
    nearest("state", found.get("state", "running"), STATES)
    if len(found["study"].encode(errors="replace")) > MOST_NAME or not found["study"].isprintable():
        raise InputError(f"study is {short(found['study'])}")
    for name in ("started", "ended"):
        try:
            if found.get(name) is not None:
                _time(found[name])
        except (ValueError, OverflowError):
            raise InputError(f"{name} is {short(found[name])}, not a time") from None
    return found


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value of JSON, and its members, have the annotated type."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return any(_fits(value, one) for one in inside)
    if origin is None:
        return kind is Any or type(value) is kind
    members = value.values() if type(value) is dict else value
    return type(value) is origin and all(_fits(one, inside[-1]) for one in members)


def _time(text: str) -> datetime:
    """A time; one without a zone is UTC."""
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):  # this one, if it is run from its source
            found[name] = _version(name)
    return found


_version = cache(version)


def _commit(folder: Path) -> str | None:
    # Files that git does not know do not count: results, above all, are such.
    asked = ["status", "--porcelain=v2", "--branch", "--untracked-files=no"]
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *asked],  # noqa: S607  (whichever git there is)
            check=False,
            capture_output=True,
            text=True,
        )
    except OSError:  # there is no git
        return None
    said = re.findall(r"(?m)^# branch\.oid (\w+)$", done.stdout)
    changed = any(not line.startswith("#") for line in done.stdout.splitlines())
    if done.returncode or not said:
        return None
    return f"{said[0]}, with changes" if changed else str(said[0])


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
