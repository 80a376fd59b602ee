"""When, where and by what results were computed, from the manifests beside them."""

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from preftd.experiments.manifest import read_manifests, state_of


class Provenance(NamedTuple):
    """What the page says about how its results were made: rows of names and values."""

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
    known = [
        run
        for run in read_manifests(out / "runs")
        if studies is None or run["study"] in set(studies)
    ]
    computed = [run for run in known if run.get("computed") or not run.get("ended")] or known
    spent = sum((_duration(run) for run in computed), timedelta())
    last = {run["study"]: run for run in computed}
    facts = [
        ("commands", _several(shlex.join(map(str, _base(run))) for run in computed)),
        ("computing time", f"{_told(spent)} in {len(computed)} runs of studies"),
        ("commit", _several(str(run.get("commit") or "not in a repository") for run in computed)),
        ("machine", _several(_machine(run.get("machine")) for run in computed)),
        ("versions", _several(_versions(run.get("versions")) for run in computed)),
    ]
    rows = [
        (str(run["study"]), str(run["started"])[:19].replace("T", " "), _told(_duration(run)),
         state_of(run))
        for run in last.values()
    ]  # fmt: skip
    return Provenance(facts if computed else [], rows)


def _base(run: Mapping[str, Any]) -> list[str]:
    """The command as typed, without the folder of the program."""
    command = run.get("command") or ["unknown"]
    return [Path(str(command[0])).name.replace("__main__.py", "preftd"), *command[1:]]


def _duration(run: Mapping[str, Any]) -> timedelta:
    if not run.get("ended"):
        return timedelta()
    return datetime.fromisoformat(run["ended"]) - datetime.fromisoformat(run["started"])


def _told(spent: timedelta) -> str:
    seconds = round(spent.total_seconds())
    if seconds < 120:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def _several(values: Any) -> str:
    return "; ".join(dict.fromkeys(values))


def _machine(machine: Any) -> str:
    known = machine if isinstance(machine, dict) else {}
    parts = [known.get("processor"), known.get("system")]
    cores = f"{known['cores']} cores" if known.get("cores") else None
    return ", ".join(str(part) for part in (*parts, cores) if part) or "unknown"


def _versions(versions: Any) -> str:
    known = versions if isinstance(versions, dict) else {}
    return ", ".join(f"{name} {number}" for name, number in known.items()) or "unknown"
