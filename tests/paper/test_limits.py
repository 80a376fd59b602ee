"""Limits: computed by hand, known, and reached by runs."""

from math import inf

import numpy as np
import pytest

from preftd import ETD, PTD, TD, InputError, tasks
from preftd._src.experiments.learning import RunningCoefficients, RunningSignal, pieces
from preftd._src.paper.corridors import studies as corridors
from preftd._src.paper.corridors.limits import limits
from preftd._src.tasks.chains import LAMBDAS
from preftd.experiments import evaluate
from preftd.learners import Decreasing, Linear
from preftd.preferences import Constant, Function, Observability, PerState, Signal
from preftd.rules import Rule
from preftd.tasks import Features, Task
from preftd.theory import limit

LENGTHS = (5, 15, 25)
KNOWN = {
    ("corridor", "TD(λ)"): (1.398, 1.637, 1.683),
    ("corridor", "ETD-fixed"): (0.6182, 0.7557, 0.7831),
    ("double_corridor", "TD(λ)"): (4.330, 4.388, 4.399),
    ("double_corridor", "ETD-fixed"): (3.564, 3.676, 3.700),
}


def by_hand(n: int) -> float:
    """TD on the corridor: equations of the expected update, written down per step and solved.

    n − 1 hidden states on each way, all with the same mean and covariance; λ is 1 there, so each
    sees the value of the goal ahead, 2 or −1 with the same probability, as S1 does that of a goal.
    """
    half, one = np.full(3, 0.5), np.eye(3)
    A = np.outer(one[0], one[0] - (one[1] + one[2]) / 2)
    b = np.zeros(3)
    for goal, pays in ((1, 2.0), (2, -1.0)):
        A += 0.5 * np.outer(one[goal], one[goal])
        b += 0.5 * pays * one[goal]
        hidden = np.outer(half, half - one[goal]) + np.eye(3)
        A += 0.5 * (n - 1) * hidden
    errors = np.linalg.solve(A, b) - [0.5, 2, -1]
    return float(np.mean(errors**2))


@pytest.mark.parametrize("length", LENGTHS)
def test_the_limit_of_td_on_the_corridor_is_that_computed_by_hand(length: int) -> None:
    found = limit(tasks.make("corridor", length=length), TD(), Observability())
    assert found == pytest.approx(by_hand(length), rel=1e-10)


@pytest.mark.parametrize(("task", "rule"), KNOWN)
def test_limits_of_the_papers_methods(task: str, rule: str) -> None:
    for length, known in zip(LENGTHS, KNOWN[task, rule], strict=True):
        made = tasks.make(task, length=length)
        assert limit(made, corridors.METHODS[rule], Observability()) == pytest.approx(
            known, abs=6e-4
        )


@pytest.mark.parametrize("task", corridors.TASKS)
@pytest.mark.parametrize("rule", ["ETD-variable", "PTD"])
def test_what_is_not_updated_at_hidden_states_learns_exactly(task: str, rule: str) -> None:
    for length in LENGTHS:
        found = limit(tasks.make(task, length=length), corridors.METHODS[rule], Observability())
        assert found == pytest.approx(0, abs=1e-15)


def test_interest_and_preference_may_be_given_in_any_way_that_depends_on_the_state() -> None:
    task = tasks.make("corridor", length=5)
    ways: list[tuple[Rule, Signal]] = [
        (ETD(Observability(0.5, 0.05)), Observability(1.0, 0.2)),
        (ETD(np.where(task.observable, 0.5, 0.05)), PerState(np.where(task.observable, 1, 0.2))),
        (ETD(PerState(np.where(task.observable, 0.5, 0.05))), Observability(1.0, 0.2)),
    ]
    first, *others = [limit(task, *way) for way in ways]
    assert first > 0.1
    assert others == pytest.approx([first] * 2, rel=1e-12)
    constant = [limit(task, ETD(i), Constant(0.5)) for i in (0.01, 1.0, Constant(0.3))]
    assert constant == pytest.approx([constant[0]] * 3, rel=1e-9)


def test_only_observable_states_count() -> None:
    shown = [True, False]
    rows = [(0, 0, 1.0, 1, 0.0), (1, 0, 1.0, -1, 1.0)]
    task = Task("two", rows, Features([[1.0], [2.0]]), 1.0, start=[1, 0], observable=shown)
    # Values are 1 and 1; at λ = 1, w makes (w − 1) + 2 (2 w − 1) = 0, so it is 0.6.
    assert limit(task, TD(), Constant(0.0)) == pytest.approx(0.16)


def test_there_is_none_where_the_expected_update_leads_away() -> None:
    task = tasks.make("counterexample_1")
    beta = PerState(1 - np.array(LAMBDAS["counterexample_1"]))
    assert limit(task, TD(), beta) == inf
    assert limit(task, PTD(), beta) == pytest.approx(0, abs=1e-15)


def test_a_preference_that_depends_on_more_than_the_state_is_refused() -> None:
    task, seen = tasks.make("corridor", length=5), Function(lambda x: float(x.max() == 1))
    with pytest.raises(InputError, match=r"depends on more than the state.*such as Observ"):
        limit(task, PTD(), seen)
    with pytest.raises(InputError, match="depends on more than the state"):
        limit(task, ETD(seen), Observability())


def test_a_study_has_a_limit_for_each_of_its_labels() -> None:
    study = corridors.BETWEEN["corridor"].study()
    found = limits(study)
    assert found.height == 3 * 4 * 5
    one = found.filter(task="length 15", rule="ETD, interest 0.5, 0.05", preference="β = 0.5, 0")
    task = tasks.make("corridor", length=15)
    expected = limit(task, ETD(Observability(0.5, 0.05)), Observability(0.5, 0.0))
    assert one["limit"].to_list() == [expected]


@pytest.mark.parametrize("task", corridors.TASKS)
@pytest.mark.parametrize("rule", ["TD(λ)", "ETD-fixed"])
def test_runs_with_decreasing_step_sizes_reach_their_limit(task: str, rule: str) -> None:
    """The studies to the limit, with fewer seeds and episodes, and so wider intervals."""
    study = corridors.TO_THE_LIMIT[task].study()
    ((label, made),), sizes = study.axes.tasks, study.axes.step_sizes[rule]
    assert isinstance(made, Task)
    assert all(isinstance(size, Decreasing) for size in sizes)
    runs = evaluate(
        made, corridors.METHODS[rule], Observability(), sizes, 6000, seeds=10, workers=1
    )
    ends = runs.errors[:, 0, -1]
    spread = ends.std(ddof=1) / np.sqrt(len(ends))
    known = limits(study).filter(rule=rule, task=label)["limit"].item()
    # Twice Student's 95 % interval of 10 seeds: one of the four cases would miss it once in 2,000.
    assert abs(ends.mean() - known) < 2 * 2.26 * spread
    assert spread < 0.02 * known


@pytest.mark.parametrize(
    ("name", "hidden", "noisy"), [("corridor", 4, True), ("double_corridor", 5, False)]
)
def test_what_a_constant_step_size_leaves_is_noise_or_a_displaced_mean(
    name: str, hidden: int, noisy: bool
) -> None:
    """Split by the weights of many seeds, as errors alone do not tell one from the other."""
    task, alpha = tasks.make(name, length=5), 0.1
    ends = []
    for seed in range(40):
        signal, learner = (
            RunningCoefficients(
                PTD(), RunningSignal(Observability().stream), RunningSignal(lambda *_: (None, None))
            ),
            Linear("backward").start(task.features.size, [alpha], seed),
        )
        for taken in pieces(task, seed, 500):
            learner.learn(signal.steps(taken), task.scored)
        ends.append(task.features.predict(learner.weights[:, 0])[task.observable])
    values = task.values[task.observable]
    noise = float(np.var(ends, axis=0, ddof=1).mean())
    displaced = float(np.mean((np.mean(ends, axis=0) - values) ** 2))
    assert noise > 2 * displaced if noisy else displaced > 8 * noise
    # Decision states come first: what is left of the value of one before goals.
    before = 0 if name == "corridor" else 1
    left = np.mean(ends, axis=0)[before] / values[before]
    assert left == pytest.approx(1 / (1 + alpha * hidden), abs=0.2)
