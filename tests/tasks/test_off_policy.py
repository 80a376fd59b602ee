"""Off-policy tasks: one policy acts, the values of another are predicted."""

from pathlib import Path

import numpy as np
import pytest

from preftd import ETD, PTD, TD, Experience, InputError, Rule, Task, evaluate, tasks, theory
from preftd._src.arrays import Dense, Vector
from preftd._src.experiments.study import load_studies
from preftd.preferences import Constant, Observability, PerState
from preftd.rules import FromBeta, stream_coefficients

EXAMPLE = Path(__file__).parents[2] / "examples" / "off_policy.py"
ROWS = [
    *((s, a, 0.9, (s + 1 if a else 0), float(a * s)) for s in range(3) for a in range(2)),
    *((s, a, 0.1, -1, 1.0) for s in range(3) for a in range(2)),
    *((3, a, 1.0, -1, 5.0) for a in range(2)),
]
FEATURES = np.array([[1.0, 0], [1, 1], [0, 1], [0.5, 2]])
TARGET = np.array([[0.1, 0.9]] * 4)
ACTING = np.array([[0.6, 0.4]] * 4)
RULES = [TD(), PTD(), ETD(), ETD([1.0, 0, 2, 0.5]), ETD(FromBeta(lambda beta: 0.5 * beta))]


def off_policy() -> Task:
    return Task(
        "off policy", ROWS, FEATURES, 0.95,
        start=[1, 0, 0, 0], policy=TARGET, behaviour=ACTING, observable=[1, 1, 0, 1],
    )  # fmt: skip


def on_policy(policy: Dense) -> Task:
    return Task("on policy", ROWS, FEATURES, 0.95, start=[1, 0, 0, 0], policy=policy)


def test_where_the_target_policy_never_goes_it_need_not_end_episodes() -> None:
    moves = tasks.Outcomes.deterministic([[-1, 1], [1, -1]], 1.0)
    task = Task(
        "loops in state 1", moves, np.eye(2), 0.5,
        start=[1, 0], policy=[0, 0], behaviour=np.full((2, 2), 0.5),
    )  # fmt: skip
    np.testing.assert_allclose(task.values, [1, 2])


def test_values_are_those_of_the_target_and_visits_those_of_the_behaviour() -> None:
    task = off_policy()
    np.testing.assert_array_equal(task.values, on_policy(TARGET).values)
    acting = on_policy(ACTING).process.stationary_distribution
    np.testing.assert_allclose(task.process.visits, acting, rtol=1e-12)
    assert not np.allclose(task.process.visits, task.process.stationary_distribution, atol=0.05)
    on = on_policy(TARGET).process
    np.testing.assert_array_equal(on.visits, on.stationary_distribution)


def test_sampled_actions_and_ratios_are_those_of_the_policies() -> None:
    steps = off_policy().sampler(0).episodes(5000)
    assert steps.state is not None
    assert steps.action is not None
    assert steps.rho is not None
    expected = TARGET[steps.state, steps.action] / ACTING[steps.state, steps.action]
    np.testing.assert_array_equal(steps.rho, expected)
    assert steps.action.mean() == pytest.approx(0.4, abs=0.02)
    on = on_policy(TARGET).sampler(0).episodes(5)
    assert on.rho is None
    assert on.action is not None


@pytest.mark.parametrize("rule", RULES, ids=["TD", "PTD", "ETD", "ETD per state", "ETD of beta"])
def test_sampled_updates_approach_the_exact_ones(rule: Rule) -> None:
    """A and b from importance-weighted traces, against visits of the policy that acts."""
    task, beta = off_policy(), np.array([1.0, 0.3, 0.0, 0.6])
    exact = theory.key_matrix(task.process, FEATURES, rule, beta)
    batches = [_sampled(task.sampler(seed).episodes(1000), rule, beta) for seed in range(12)]
    for found, wanted in zip(zip(*batches, strict=True), exact, strict=True):
        values = np.array(found)
        error = (values.mean(axis=0) - wanted) / (values.std(axis=0) / np.sqrt(len(values)))
        assert np.abs(error).max() < 4
    ignored = _sampled(task.sampler(0).episodes(3000), rule, beta, rho=1.0)[0]
    assert np.abs(ignored - exact.A).max() > 0.02  # without ratios it is another chain


def _sampled(
    steps: Experience,
    rule: Rule,
    beta: Vector,
    rho: float | None = None,
) -> tuple[Dense, Vector]:
    decay, gain = stream_coefficients(rule, PerState(beta), steps, rho=rho).coefficients
    x, following = steps.features(), steps.next_features()
    trace, A, b = np.zeros(2), np.zeros((2, 2)), np.zeros(2)
    for t in range(len(steps)):
        trace = decay[t] * trace + gain[t] * x[t]
        A += np.outer(trace, x[t] - steps.discount_tp1[t] * following[t])
        b += trace * steps.reward[t]
    return A / len(steps), b / len(steps)


def test_limits_know_who_acts() -> None:
    task = off_policy()
    found = [theory.limit(task, rule, Constant(0.5)) for rule in (TD(), ETD())]
    same = [theory.limit(on_policy(TARGET), rule, Constant(0.5)) for rule in (TD(), ETD())]
    assert all(np.isfinite([*found, *same]))
    assert found != same
    assert theory.limit(task, PTD(), Observability()) > 0


def test_what_the_behaviour_must_cover() -> None:
    with pytest.raises(InputError, match="behaviour never takes action 1 in state 0 but policy"):
        Task("t", ROWS, FEATURES, 0.9, start=[1, 0, 0, 0], policy=TARGET, behaviour=[0, 1, 1, 1])
    with pytest.raises(InputError, match=r"behaviour row 0 sums to 0\.5"):
        Task("t", ROWS, FEATURES, 0.9, start=[1, 0, 0, 0], behaviour=[[0.25, 0.25]] * 4)
    with pytest.raises(InputError, match="visited by another policy"):
        next(theory.key_matrices_over_time(off_policy().process, FEATURES, TD(), 1.0))


def test_a_corridor_can_be_walked_by_another_policy() -> None:
    corridor = tasks.make("corridor", length=3)
    policy = np.full((corridor.states, 2), 0.5)
    policy[0] = [0.9, 0.1]
    task = Task(
        "up mostly", corridor.outcomes, corridor.features, 1.0, start=corridor.start,
        observable=corridor.observable, policy=policy, behaviour=corridor.policy,
    )  # fmt: skip
    assert task.values[0] == pytest.approx(0.9 * 2 - 0.1)
    assert theory.limit(task, PTD(), Observability()) == pytest.approx(0, abs=1e-12)


def test_a_target_that_never_leaves_a_state_can_be_learned_about() -> None:
    """The target chain has two recurrent classes; the data come from one that visits both."""
    task = Task(
        "stay", [(s, a, 1, a, s) for s in (0, 1) for a in (0, 1)], np.eye(2), 0.9,
        policy=[0, 1], behaviour=[[0.5, 0.5]] * 2,
    )  # fmt: skip
    np.testing.assert_allclose(task.values, [0, 10])
    np.testing.assert_allclose(task.process.visits, [0.5, 0.5])
    np.testing.assert_allclose(task.start, [0.5, 0.5])
    steps = task.sampler(0).steps(1000)
    assert steps.state is not None
    assert steps.state.mean() == pytest.approx(0.5, abs=0.1)
    with pytest.raises(InputError, match="2 recurrent classes"):
        Task("stay", task.outcomes, np.eye(2), 0.9, policy=[0, 1])


def test_the_example_shows_what_diverges_off_policy() -> None:
    (study,) = load_studies(EXAMPLE, seeds=5)
    (_, task), rules = study.axes.tasks[0], dict(study.axes.rules)
    stable = {
        (rule, preference): np.isfinite(theory.limit(task, rules[rule], signal))
        for rule in rules
        for preference, signal in study.axes.preferences
    }
    all_, half, none = dict(study.axes.preferences)
    assert not stable["TD(λ)", all_]
    assert not stable["PTD", all_]
    assert not stable["PTD", half]
    assert stable["PTD", none]
    assert all(stable["ETD", preference] for preference in (all_, half, none))
    sizes = study.axes.step_sizes["PTD"]
    learned = evaluate(task, PTD(), [0.0, 1.0], sizes, study.episodes, 5)
    assert learned.average().mean[learned.best] < 1.0  # that of predicting 0 is 2.5
    for rule in (TD(), PTD()):
        lost = evaluate(task, rule, 1.0, sizes, study.episodes, 5).errors[..., -1].mean(axis=0)
        assert lost.min() > 2.5
