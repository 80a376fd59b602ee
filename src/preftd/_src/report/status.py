"""The status of a results folder: stored cells of each study, and how its runs ended."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from preftd._src.arrays import InputError
from preftd._src.experiments.cells import CellGroup, ids_of
from preftd._src.experiments.manifest import Manifest, read_manifests, state_of
from preftd._src.experiments.progress import progress_here
from preftd._src.experiments.runner import Plan
from preftd._src.experiments.store import Store
from preftd._src.experiments.study import Study

RUNS = 10
"""The number of most recent runs that are listed."""


def status_lines(out: Path, studies: Sequence[Study]) -> Iterator[str]:
    """Yield lines of text: the folder, the progress of each study, and the last runs."""
    store = Store(out, warn=progress_here().say)
    stored = store.stored()
    held = f"{len(stored):,} cells in {len(store.paths()):,} files"
    yield f"{out}: {held if out.exists() else 'this folder does not exist yet'}"
    for study in studies:
        plan = Plan.of(study, store)
        yield f"{study.name}: {_progress(plan, stored)}"
    runs = read_manifests(out / "runs")
    for run in runs[-RUNS:]:
        yield f"  {run}" if isinstance(run, InputError) else f"  {_described(run)}"
    if len(runs) > RUNS:
        yield f"  and {len(runs) - RUNS} earlier runs"


def _described(run: Manifest) -> str:
    when = run.started[:19].replace("T", " ")
    computed = f", {run.computed:,} cells computed" if run.ended else ""
    failed = f", {len(run.failures):,} failed" if run.failures else ""
    rounded = f", {run.rounded:,} equal to rounding only" if run.rounded else ""
    return f"{when}  {run.study}: {state_of(run)}{computed}{failed}{rounded}"


def _progress(plan: Plan, stored: set[str]) -> str:
    report = _share(plan.report, stored)
    if not plan.search:
        return report
    search = f"search {_share(plan.search, stored)}"
    if not plan.report:
        return f"{search}; the report starts when the search is complete"
    rest = f"; {len(plan.unfinished)} searches are incomplete" if plan.unfinished else ""
    return f"{search}, report {report}{rest}"


def _share(groups: Sequence[CellGroup], stored: set[str]) -> str:
    wanted = set(ids_of(groups))
    return f"{len(wanted & stored):,} of {len(wanted):,} cells"
