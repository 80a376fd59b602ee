"""Studies of other ways to learn a preference or λ, on some of the cases, beside learned ones."""

from collections.abc import Mapping
from functools import partial

from preftd._src.experiments.study import Study
from preftd._src.paper.learned.cases import CASES
from preftd._src.paper.learned.rivals import RIVALS
from preftd._src.paper.learned.studies import GROUPS, study_of
from preftd._src.paper.study import PaperStudy
from preftd.preferences import Constant
from preftd.rules import PTD

RIVAL, CELLS = "rival", ", cells"
"""The label of their preference, which they do not use; what the names of those end in whose
beliefs are a table of observations that repeat."""
ON: Mapping[str, tuple[str, ...]] = {
    "corridors": (
        "corridor 5",
        "corridor 25",
        "corridor 5, aliased",
        "double corridor 15",
        "double corridor 15, jitter 0.1",
        "geometric corridor 10",
    ),
    "walks": ("random walk 19, failing sensor", "random walk 19"),
    "grids": ("cross grid 8",),
}
"""Cases by group."""


def _study(group: str, name: str) -> Study:
    tasks = {case: CASES[case].source for case in ON[group]}
    return study_of(name, group, tasks, PTD(), {RIVAL: Constant(1.0)}, RIVALS)


BY_RIVALS = {
    group: PaperStudy(
        f"learned preferences, {group}, rivals",
        partial(_study, group),
        long_search=True,
        kept_every=GROUPS[group].kept,
    )
    for group in ON
}
STUDIES = tuple(BY_RIVALS.values())
