"""Evaluation: what is measured and by what, what is refused, and what is made of the errors."""

import re
import signal
import subprocess
import sys
import time
from copy import copy
from typing import Any

import numpy as np
import pytest

from preftd import (
    ETD,
    PTD,
    TD,
    Decreasing,
    Evaluation,
    Features,
    InputError,
    Linear,
    Network,
    Task,
    evaluate,
    tasks,
)
from preftd._src.arrays import Vector
from preftd._src.experiments.learning import PIECE_STEPS, Method
from preftd._src.style import look_of
from preftd.learners import LinearLearner, Steps, beta_advantages
from preftd.preferences import Constant, Function, Learned, Observability
from preftd.rules import RULES, stream_coefficients

CORRIDOR = tasks.make("corridor", length=4)
GRID = tasks.make("cross_grid", size=4)
SIZES = [0.3, 0.1, 0.05, 0.02, 0.01]
METHODS: list[Method] = [
    *(Linear(view) for view in ("backward", "forward", "true_online")),
    *(Network(units=3, view=view) for view in ("backward", "forward", "held")),
    Network(units=3, view="forward", optimiser="adam"),
]
EPISODIC = [name for name, make in tasks.TASKS.items() if make().episodic]


@pytest.mark.parametrize("view", ["backward", "true_online"])
@pytest.mark.parametrize("name", sorted(RULES))
@pytest.mark.parametrize("task", EPISODIC)
def test_errors_are_those_of_a_learner_fed_step_by_step(task: str, name: str, view: str) -> None:
    made, rule = tasks.make(task), RULES[name](0.1)
    found = evaluate(made, rule, Observability(), [0.01], 3, [5], learner=Linear(view))
    learner = LinearLearner(made.features.size, rule, 0.01, view=view)
    sampler, phi = made.sampler(5), made.features.columns(slice(None))[made.observable]
    for episode in range(3):
        steps = sampler.episodes(1)
        x, y = steps.features(), steps.next_features()
        for t in range(len(steps)):
            beta = float(made.observable[steps.state[t]])  # type: ignore[index]
            discount, reward = float(steps.discount_tp1[t]), float(steps.reward[t])
            learner.update(x[t], reward, y[t], discount=discount, beta=beta)
        miss = phi @ learner.weights - made.values[made.observable]
        assert found.errors[0, 0, episode] == pytest.approx((miss**2).mean(), rel=1e-9)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_step_size_learns_alike_alone_and_among_others(method: Method) -> None:
    task = CORRIDOR if isinstance(method, Linear) else GRID
    together = evaluate(task, PTD(), Observability(), SIZES, 30, 2, learner=method)
    for i, alpha in enumerate(SIZES):
        alone = evaluate(task, PTD(), Observability(), [alpha], 30, 2, learner=method)
        np.testing.assert_array_equal(together.errors[:, i], alone.errors[:, 0])


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_the_result_does_not_depend_on_workers_or_on_how_episodes_are_taken(
    method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = CORRIDOR if isinstance(method, Linear) else GRID

    def found(workers: int, take: int) -> Vector:
        monkeypatch.setattr("preftd._src.experiments.learning.PIECE_STEPS", take)
        return evaluate(
            task, TD(), Observability(), SIZES, 40, 4, learner=method, workers=workers
        ).errors

    expected = found(1, PIECE_STEPS)
    np.testing.assert_array_equal(found(4, PIECE_STEPS), expected)
    np.testing.assert_array_equal(found(2, 1), expected)


def test_seeds_are_what_they_are_called_and_not_their_order() -> None:
    some = evaluate(CORRIDOR, PTD(), Observability(), SIZES, 5, [7, 3])
    swapped = evaluate(CORRIDOR, PTD(), Observability(), SIZES, 5, [3, 7])
    np.testing.assert_array_equal(some.errors, swapped.errors[::-1])
    assert some.seeds == (7, 3)
    first = evaluate(CORRIDOR, PTD(), Observability(), SIZES, 5, 4)
    np.testing.assert_array_equal(some.errors[1], first.errors[3])


def test_a_task_may_be_made_for_each_seed() -> None:
    def make(seed: int) -> tasks.Task:
        return tasks.make("random_grid", size=4, seed=seed)

    found = evaluate(make, PTD(), Observability(), [0.1], 5, 3)
    for seed in range(3):
        own = evaluate(make(seed), PTD(), Observability(), [0.1], 5, [seed])
        np.testing.assert_array_equal(found.errors[seed], own.errors[0])


@pytest.mark.parametrize("method", METHODS[:-1], ids=repr)
def test_a_run_that_diverges_is_marked_and_disturbs_no_other(method: Method) -> None:
    task = CORRIDOR if isinstance(method, Linear) else GRID
    found = evaluate(task, TD(), Observability(), [1e9, 0.001], 100, 3, learner=method)
    assert found.diverged.tolist() == [[True, False]] * 3
    lost = found.errors[:, 0]
    assert np.isinf(lost[:, -1]).all()
    # Once lost, always lost: nothing that is not a number hides among the errors.
    assert not np.isnan(found.errors).any()
    assert (np.diff(np.isinf(lost).astype(int), axis=1) >= 0).all()
    calm = evaluate(task, TD(), Observability(), [0.001], 100, 3, learner=method)
    np.testing.assert_array_equal(found.errors[:, 1], calm.errors[:, 0])
    assert found.best == 1
    assert "3 of 6 runs diverged" in repr(found)
    mean, width = found.average()
    assert np.isinf(mean[0])
    assert np.isinf(width[0])
    assert np.isfinite([mean[1], width[1]]).all()


def test_constant_preference_is_td_with_a_smaller_step_size() -> None:
    walk, c = tasks.make("random_walk"), 0.25
    ours = evaluate(walk, PTD(), Constant(c), [0.4, 0.8], 10, 4, learner=Linear("backward"))
    same = evaluate(walk, TD(), Constant(c), [0.1, 0.2], 10, 4)
    np.testing.assert_allclose(ours.errors, same.errors, rtol=1e-9)


def test_emphatic_td_knows_step_size_and_interest_by_their_product_only() -> None:
    walk = tasks.make("random_walk")
    ours = evaluate(walk, ETD(0.01), Constant(0.5), [0.8], 10, 4)
    same = evaluate(walk, ETD(0.08), Constant(0.5), [0.1], 10, 4)
    np.testing.assert_allclose(ours.errors, same.errors, rtol=1e-9)


@pytest.mark.parametrize("length", [5, 25])
def test_true_online_learning_keeps_the_noise_of_hidden_states_out(length: int) -> None:
    """The longer the corridor, the more of it leaks in along the trace; true online, none does."""
    task, sizes = tasks.make("double_corridor", length=length), [0.8, 0.5, 0.3, 0.1, 0.05, 0.03]
    least = {
        view: evaluate(task, PTD(), Observability(), sizes, 200, 8, learner=Linear(view))
        for view in ("backward", "true_online")
    }
    error = {view: float(np.min(found.average().mean)) for view, found in least.items()}
    assert error["true_online"] < 0.2
    assert error["backward"] > 5 * error["true_online"]


def test_a_decreasing_step_size_counts_the_steps_of_all_episodes() -> None:
    schedule = Decreasing(0.2, delay=50)
    found = evaluate(CORRIDOR, PTD(), Observability(), [schedule, 0.1], 300, [2])
    learner = LinearLearner(3, PTD(), schedule)
    stream = CORRIDOR.sampler(2).episodes(300)
    beta, _ = Observability().stream(stream)
    learner.learn(stream, beta=beta)
    miss = learner.weights - CORRIDOR.values[CORRIDOR.observable]
    assert found.errors[0, 0, -1] == pytest.approx((miss**2).mean(), rel=1e-9)
    plain = evaluate(CORRIDOR, PTD(), Observability(), [0.1], 300, [2])
    np.testing.assert_array_equal(found.errors[:, 1], plain.errors[:, 0])


def test_far_is_measured_by_the_error_of_predicting_nothing() -> None:
    found = evaluate(GRID, PTD(), Observability(), [0.1], 2, 2)
    trivial = (GRID.values[GRID.observable] ** 2).mean()
    np.testing.assert_allclose(found.trivial, trivial)


def test_states_with_random_features_are_scored_at_their_means() -> None:
    mean, covariance = np.array([[1.0, 0.0], [0.5, 2.0], [0.0, 1.0]]), np.array([0.3, 0.2, 0.0])
    # Each state leads to the next or back to itself; the last one to the end, which pays 1.
    rows = [(0, 0, 1.0, 1, 0.0), (1, 0, 1.0, 2, 0.0), (2, 0, 1.0, -1, 1.0)]
    task = Task("noisy", rows, Features(mean, covariance), 0.9, start=[1, 0, 0])
    found = evaluate(task, TD(), Constant(1.0), [0.05], 20, [3])
    stream = task.sampler(3).episodes(20)
    learner = LinearLearner(2, TD(), 0.05).learn(stream, beta=1.0)
    miss = mean @ learner.weights - task.values
    assert found.errors[0, 0, -1] == pytest.approx((miss**2).mean(), rel=1e-9)


@pytest.mark.parametrize("view", ["backward", "forward", "true_online"])
def test_a_schedule_goes_on_from_one_take_to_the_next(
    view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(take: int) -> Vector:
        monkeypatch.setattr("preftd._src.experiments.learning.PIECE_STEPS", take)
        schedule = Decreasing(0.2, delay=30)
        return evaluate(
            CORRIDOR, PTD(), Observability(), [schedule], 40, 2, learner=Linear(view)
        ).errors

    np.testing.assert_array_equal(found(1), found(PIECE_STEPS))


def test_the_forward_view_updates_each_step_with_its_own_step_size() -> None:
    schedule, w = Decreasing(0.3, delay=5), np.zeros(3)
    found = evaluate(CORRIDOR, TD(), Constant(0.5), [schedule], 3, [1], learner=Linear("forward"))
    sampler, done = CORRIDOR.sampler(1), 0
    for _ in range(3):
        e = sampler.episodes(1)
        x = e.features()
        advantage = beta_advantages(
            e.reward, x @ w, e.next_features() @ w, 0.5, discount=e.discount_tp1
        )
        w = w + (schedule.at(np.arange(done, done + len(e))) * advantage) @ x
        done += len(e)
    miss = w - CORRIDOR.values[CORRIDOR.observable]
    assert found.errors[0, 0, -1] == pytest.approx((miss**2).mean(), rel=1e-9)


LONG = """
from preftd import TD, Network, evaluate, tasks
from preftd.preferences import Observability

print("begun", flush=True)
evaluate(
    tasks.make("cross_grid", size=16), TD(), Observability(), [1e-3], 10**6, 4, learner=Network(16)
)
"""


def test_it_stops_when_it_is_interrupted() -> None:
    """Work of hours, of which threads would otherwise finish their seed first."""
    command = [sys.executable, "-c", LONG]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"begun\n"
        time.sleep(2)
        running.send_signal(signal.SIGINT)
        try:
            _, complaint = running.communicate(timeout=60)
        finally:
            running.kill()
    assert complaint.splitlines()[-1] == b"KeyboardInterrupt"
    assert complaint.count(b"Traceback") == 1


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no rule": ({"rule": "ptd"}, "rule is 'ptd': give one, such as PTD()"),
    "no preference": ({"preference": "high"}, "preference is 'high': give"),
    "no step size": ({"step_sizes": []}, "step_sizes is empty"),
    "one step size": ({"step_sizes": 0.1}, "step_sizes is 0.1: give a list"),
    "a negative step size": ({"step_sizes": [0.1, -1]}, r"step_sizes[1] is -1: give a number"),
    "no episodes": ({"episodes": 0}, "episodes is 0: give a whole number from 1"),
    "half an episode": ({"episodes": 1.5}, "episodes is 1.5: give a whole number"),
    "no seeds": ({"seeds": 0}, "seeds are (): give one or more"),
    "a seed twice": ({"seeds": [1, 1]}, "seeds are (1, 1): give one or more, each once"),
    "the name of a task": ({"task": "corridor"}, "task is 'corridor': give one, such as"),
    "no task of a seed": ({"task": lambda _: 5}, "the task of a seed is 5: give one, such as"),
    "the class of a learner": ({"learner": Linear}, "give one, such as Linear()"),
    "the name of a learner": (
        {"learner": "linear"},
        "learner is 'linear': give one, such as Linear",
    ),
    "an array without entries": ({"seeds": np.array(1.5)}, "seeds is array(1.5): give a whole"),
    "no workers": ({"workers": 0}, "workers is 0: give 1 or more"),
    "no end": ({"task": tasks.make("counterexample_1")}, "counterexample_1 has no episodes"),
    "a bad preference": ({"preference": Function(lambda _: 2.0)}, "beta[0] is 2: every entry"),
    "a schedule for a network": (
        {"step_sizes": [Decreasing(0.1)], "learner": Network(2)},
        "the step sizes of networks do not change: give numbers.",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_evaluated_is_refused_in_one_sentence(case: str) -> None:
    change, message = WRONG[case]
    given: dict[str, Any] = {
        "task": CORRIDOR,
        "rule": PTD(),
        "preference": Observability(),
        "step_sizes": [0.1],
        "episodes": 2,
        "seeds": 2,
    }
    with pytest.raises(InputError, match=re.escape(message)):
        evaluate(**(given | change))


@pytest.mark.parametrize("method", [Linear("held"), Network(3, "held")], ids=repr)
def test_an_episode_that_is_not_over_is_refused(method: Method) -> None:
    stream = GRID.sampler(0).steps(3)
    steps = Steps.of(stream, stream_coefficients(PTD(), Observability(), stream))
    with pytest.raises(InputError, match="the last episode is not over"):
        method.start(GRID.features.size, [0.1], 0).learn(steps, GRID.scored)


@pytest.mark.parametrize("view", ["backwards", "forward view", 3])
def test_unknown_views_are_refused(view: Any) -> None:
    with pytest.raises(InputError, match="there is no view"):
        Linear(view)


def test_means_and_intervals_are_students() -> None:
    rng = np.random.default_rng(0)
    errors = rng.exponential(size=(5, 2, 3))
    found = Evaluation(errors.copy(), np.ones(5), tuple(range(5)), (0.1, 0.2), "PTD")
    mean, width = found.curve(0.95)
    np.testing.assert_allclose(mean, errors.mean(axis=0))
    # 2.776 is the 97.5 % point of Student's distribution with 4 degrees of freedom.
    np.testing.assert_allclose(width, 2.776445 * errors.std(axis=0, ddof=1) / 5**0.5, rtol=1e-6)
    assert found.average().mean.shape == (2,)
    assert found.best == int(np.argmin(errors.mean(axis=(0, 2))))
    alone = Evaluation(errors[:1].copy(), np.ones(1), (0,), (0.1, 0.2), "PTD")
    assert np.isinf(alone.curve().half_width).all()
    with pytest.raises(ValueError, match="read-only"):
        found.errors[0, 0, 0] = 1


def test_axes_are_those_of_matplotlib() -> None:
    found = evaluate(CORRIDOR, PTD(), Observability(), [0.1], 2, 2)
    wrong: list[Any] = [3, 0, "x", [], object, found]
    for axes in wrong:
        for draw in (found.plot, found.plot_step_sizes, Learned().explain(None).plot):
            with pytest.raises(InputError, match=r"^axes is .*: give Axes of matplotlib, or omit"):
                draw(axes)


def test_pictures_show_curves_intervals_and_what_diverged() -> None:
    found = evaluate(CORRIDOR, TD(), Observability(), [1e6, 0.1, 0.01], 40, 4)
    axes = found.plot()
    evaluate(CORRIDOR, PTD(), Observability(), [0.1], 40, 4).plot(axes)
    legend = axes.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["TD(λ), α = 0.1", "PTD, held, α = 0.1"]
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), found.curve().mean[found.best])
    assert len(axes.collections) == 2
    sizes = found.plot_step_sizes()
    crosses = sizes.lines[1]
    assert crosses.get_marker() == "x"
    np.testing.assert_array_equal(crosses.get_xdata(), [1e6])


def test_rules_of_ones_own_look_different_in_one_picture() -> None:
    rng = np.random.default_rng(0)
    mine, yours, papers = (
        Evaluation(rng.exponential(size=(3, 2, 5)), np.ones(3), (0, 1, 2), (0.1, 0.2), rule)
        for rule in ("mine", "yours", "PTD")
    )
    for draw in (Evaluation.plot, Evaluation.plot_step_sizes):
        axes = draw(mine)
        for found in (papers, yours, mine):
            draw(found, axes)
        looks = [(line.get_color(), line.get_linestyle()) for line in axes.lines]
        assert len(set(looks)) == 3
        assert looks[0] == looks[3]
        assert draw(yours).lines[0].get_color() == look_of("yours").colour  # if that is not taken


def test_a_run_that_was_ever_far_off_has_diverged_also_if_it_came_back() -> None:
    errors = np.full((2, 2, 4), 1.9e6)
    # The least mean by far, but one of its runs was once beyond a million times 2.
    errors[:, 1] = 0.0
    errors[0, 1, 1] = 2.1e6
    found = Evaluation(errors, np.array([2.0, 2.0]), (0, 1), (0.1, 0.2), "PTD")
    assert found.diverged.tolist() == [[False, True], [False, False]]
    assert found.best_step_size == 0.1
    everywhere = Evaluation(np.full((1, 1, 2), np.inf), np.ones(1), (0,), (0.1,), "PTD")
    legend = everywhere.plot().get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["PTD: diverged"]


def test_names_in_pictures_are_text_and_never_mathematics() -> None:
    mine = Evaluation(np.ones((2, 1, 3)), np.ones(2), (0, 1), (0.1,), r"$\bad$")
    for draw in (Evaluation.plot, Evaluation.plot_step_sizes):
        axes = draw(mine)
        figure = axes.get_figure(root=True)
        assert figure is not None
        figure.draw_without_rendering()  # which would raise
        legend = axes.get_legend()
        assert legend is not None
        assert legend.get_texts()[0].get_text().startswith(r"$\bad$")
    named = copy(CORRIDOR)
    named.name = r"$\bad$"
    figure = named.plot().get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()


class Told:
    """The specification of a learner that returns given errors."""

    label, takes_step_size, watchable = "told", True, False

    def __init__(self, found: Any) -> None:
        self.found = found

    def start(self, *_: Any) -> "Told":
        return self

    def learn(self, *_: Any) -> Any:
        return self.found


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (
            [[1], [2]],
            r"errors of shape \(2, 1\): give one for each episode and step size, \(2, 2\)",
        ),
        ([1, 2], r"errors of shape \(2,\)"),
        (np.full((2, 2), 1 + 1j), "errors is not an array of real numbers"),
        ([["1", "2"], ["3", "4"]], "errors is not an array of real numbers"),
        ([[1, 2], [3]], "errors is not an array of real numbers"),
        (None, "errors is None: give numbers"),
        ([[1, 2], [3, -4]], r"errors\[1, 1\] is -4: every entry must be 0 or more"),
    ],
)
def test_errors_that_a_learner_cannot_have_are_refused(found: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(
            tasks.make("corridor", length=2), PTD(), 1.0, [0.1, 0.2], 2, 1, learner=Told(found)
        )


def test_errors_that_are_missing_are_infinite() -> None:
    found = np.ma.array([[1.0, -9999], [2.0, 3.0]], mask=[[False, True], [False, False]])
    errors = evaluate(
        tasks.make("corridor", length=2), PTD(), 1.0, [0.1, 0.2], 2, 1, learner=Told(found)
    ).errors
    np.testing.assert_array_equal(errors, [[[1, 2], [np.inf, 3]]])
