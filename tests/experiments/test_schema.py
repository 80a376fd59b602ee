"""Results that are stored are found by what they are of, and by the number `SCHEMA`.

Whoever changes how results are computed must raise `SCHEMA` in experiments/content.py:
otherwise old results would be shown as if they were new. A test here fails when results change. The
numbers that it then expects are printed by

    PYTHONPATH=tests python -c "import experiments.test_schema as t; t.renew()"

to be written into `EXPECTED`, together with the new `SCHEMA`. If nothing but the case "learned" has
changed, raise `REVISIONS["Learned"]` instead: all other results are then still found.
"""

import math

import numpy as np
import pytest

from preftd import Decreasing, Linear, Network, evaluate, tasks
from preftd._src.experiments.content import REVISIONS, SCHEMA, content
from preftd._src.experiments.learning import Method
from preftd._src.learners.linear.state import VIEWS as LINEAR
from preftd._src.learners.network.batch import VIEWS as NETWORK
from preftd.preferences import Learned, Observability
from preftd.rules import RULES
from preftd.tasks import jittered

OF_SCHEMA = 3
"""The schema whose results these are."""
OF_REVISIONS = {"Learned": 11}
"""And the revisions."""
EXPECTED = {
    "td, linear backward": 4.294798242442269,
    "td, linear forward": 4.301431129594269,
    "td, linear true_online": 4.293558879152032,
    "td, linear held": 4.294847321057302,
    "td, network backward": 5.605349499948661,
    "td, network forward": 5.603604573574986,
    "td, network held": 5.607167790835424,
    "td, network adam": 6.342639853253377,
    "etd, linear backward": 4.13151941777471,
    "etd, linear forward": 4.142060618946475,
    "etd, linear true_online": 4.124458778979688,
    "etd, linear held": 4.128697128448197,
    "etd, network backward": 4.214139043336253,
    "etd, network forward": 4.210629593341794,
    "etd, network held": 4.2144816264083795,
    "etd, network adam": 6.337244766591144,
    "ptd, linear backward": 4.2985735205391125,
    "ptd, linear forward": 4.298606205124388,
    "ptd, linear true_online": 4.298410858439806,
    "ptd, linear held": 4.298360092870685,
    "ptd, network backward": 5.891287253272291,
    "ptd, network forward": 5.891967459908864,
    "ptd, network held": 5.891846142642511,
    "ptd, network adam": 6.337862136941718,
    "decreasing": 4.250729980837187,
    "learned": 1.4648672861988472,
    "random_walk": 0.2981502793154072,
    "corridor": 1.7144899013185058,
    "double_corridor": 4.378091284577585,
    "decision_corridors": 6.093726604617504,
    "cross_grid": 2.7878269193791314,
    "random_grid": 1.6785967569399862,
    "four_rooms": 0.048450142533132214,
}

LEARNERS: dict[str, Method] = {
    **{f"linear {view}": Linear(view) for view in LINEAR},
    **{f"network {view}": Network(3, view) for view in NETWORK},
    "network adam": Network(3, "forward", "adam"),
}
CASES = [f"{rule}, {learner}" for rule in RULES for learner in LEARNERS]
CASES += [
    "decreasing",
    "learned",
    *(name for name in tasks.TASKS if not name.startswith("counter")),
]


def found(case: str) -> float:
    """The mean error of a few episodes."""
    preference, backward = Observability(0.9, 0.2), Linear("backward")
    if case in tasks.TASKS:
        task, rule, learner = tasks.make(case), RULES["ptd"](1.0), LEARNERS["linear backward"]
        return float(
            evaluate(task, rule, preference, [0.01], 3, [7], learner=learner).errors.mean()
        )
    task = tasks.make("double_corridor", length=2)
    if case == "learned":
        noisy = jittered(task, 0.05)
        return float(
            evaluate(
                noisy, RULES["ptd"](1.0), Learned(), [0.1], 100, 2, learner=backward
            ).errors.mean()
        )
    if case == "decreasing":
        sizes = [Decreasing(0.1, delay=10)]
        return float(
            evaluate(
                task, RULES["ptd"](1.0), preference, sizes, 5, 2, learner=backward
            ).errors.mean()
        )
    name, _, method = case.partition(", ")
    step_sizes, learner = [0.01, 0.05], LEARNERS[method]
    rule = RULES[name](0.5)
    return float(evaluate(task, rule, preference, step_sizes, 5, 2, learner=learner).errors.mean())


def renew() -> None:
    """Print what is found now."""
    print(f"OF_SCHEMA = {SCHEMA}\nOF_REVISIONS = {REVISIONS}")
    for case in CASES:
        print(f'    "{case}": {found(case)!r},')


@pytest.mark.parametrize("case", CASES)
def test_results_are_those_that_the_schema_stands_for(case: str) -> None:
    raised = f"SCHEMA or a revision was raised: renew the numbers. {__doc__}"
    assert (SCHEMA, REVISIONS) == (OF_SCHEMA, OF_REVISIONS), raised
    said = found(case)
    assert math.isclose(said, EXPECTED[case], rel_tol=1e-9), (
        f"{case} gives {said!r}, not {EXPECTED[case]!r}: stored results would be mistaken for new "
        f"ones. Raise SCHEMA and renew the numbers. {__doc__}"
    )


def test_a_revision_renames_what_holds_the_class_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = content([Learned()]), content([Observability()])
    monkeypatch.setitem(REVISIONS, "Learned", REVISIONS["Learned"] + 1)
    assert content([Learned()]) != before[0]
    assert content([Observability()]) == before[1]


def test_every_case_gives_another_number() -> None:
    """Otherwise a case would stand for nothing."""
    assert EXPECTED.keys() == set(CASES)
    assert np.unique(np.round(list(EXPECTED.values()), 12)).size == len(CASES)
