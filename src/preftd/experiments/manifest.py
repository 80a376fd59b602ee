"""Manifests: for each run of a study a file that says when, where and by what it was made.

Results do not depend on it; it is for people.
"""

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Self, final

from preftd.experiments.content import SCHEMA
from preftd.files import alive, host, write_whole

PACKAGES = ("preftd", "numpy", "scipy", "numba", "llvmlite", "polars", "gymnasium")


@final
@dataclass(frozen=True, kw_only=True)
class Manifest:
    """A run of a study."""

    study: str
    command: list[str]
    state: str = "running"
    """running (or killed while it was), finished, failed, interrupted."""
    started: str
    ended: str | None = None
    cells: int = 0
    """How many cells the study has, as far as they are known."""
    computed: int = 0
    failures: list[dict[str, Any]] = field(default_factory=list)
    """Each cell that raised: its description, and the traceback."""
    schema: int = SCHEMA
    versions: dict[str, str] = field(default_factory=dict)
    commit: str | None = None
    """Of the repository that the study is from, if there is one."""
    machine: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def begin(cls, study: str, repository: Path) -> Self:
        """Of a run that starts now; `repository` is a folder of that of the study."""
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

    def end(self, state: str, *, cells: int, computed: int, failures: list[dict[str, Any]]) -> Self:
        """The same, ended now."""
        return replace(
            self, state=state, ended=_now(), cells=cells, computed=computed, failures=failures
        )

    def write(self, folder: Path) -> Path:
        """Write it into a folder, under its own name."""
        folder.mkdir(parents=True, exist_ok=True)
        when = self.started.translate(str.maketrans("", "", "-:")).replace("+0000", "Z")
        path = folder / f"{when}-{os.getpid()}.json"
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"
        write_whole(path, lambda file: file.write(text.encode()))
        return path


def read_manifests(folder: Path) -> list[dict[str, Any]]:
    """All manifests in a folder, the oldest first; other files are passed over."""
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            manifest = json.loads(path.read_text())
        except (ValueError, OSError):
            continue
        if isinstance(manifest, dict) and {"study", "state", "started"} <= manifest.keys():
            found.append(manifest)
    return found


def state_of(manifest: Mapping[str, Any]) -> str:
    """How a run ended; one that was killed could not write it down."""
    machine: Any = manifest.get("machine")
    process = machine.get("process") if isinstance(machine, dict) else None
    if (
        manifest["state"] == "running"
        and isinstance(process, int)
        and machine.get("host") == host()
    ):
        return "running" if alive(process) else "killed"
    return str(manifest["state"])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):  # this one, if it is run from its source
            found[name] = _version(name)
    return found


@cache
def _version(package: str) -> str:
    return version(package)


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
