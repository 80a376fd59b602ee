"""When, where and by what results were computed, from the manifests beside them."""

import shlex
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from preftd._src.experiments.manifest import Manifest, read_manifests, state_of


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
