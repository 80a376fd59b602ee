"""Credit in four rooms: what theory says, against learning from samples."""

import numpy as np
import pytest

from preftd import PTD, TD, Rule, Task, evaluate
from preftd._src.paper.control import credit
from preftd._src.paper.control.credit import LearningSpeed, learned, preferred, task_of
from preftd._src.tasks.grids import doorways

GOAL = credit.GOALS[-1]


@pytest.mark.parametrize(
    ("rule", "method", "step_size"),
    [
        (TD(), ("constant", 0.9), 0.03),
        (PTD(), ("doorways", 0.1), 0.3),
        (TD(), ("λ only", 0.1), 0.03),
    ],
    ids=["constant", "doorways", "same"],
)
def test_learning_leaves_what_theory_says(
    rule: Rule, method: credit.Method, step_size: float
) -> None:
    """At a small step size, when half of the error is left."""
    task, episodes = task_of(GOAL, "random"), 20
    found = learned(GOAL, "random", method, "all")
    constant = method[0] == "constant"
    beta = 1 - method[1] if constant else np.where(preferred(GOAL, method[0]), 1.0, method[1])
    runs = evaluate(task, rule, beta, [step_size], episodes, 40, workers=1)
    pace = step_size * episodes * found.steps
    bias = np.exp(np.interp(pace, credit.PACES[:15], np.log(found.bias[:15])))
    predicted = bias + step_size * found.noise
    assert runs.errors[:, 0, -1].mean() == pytest.approx(predicted, rel=0.03)
    assert 0.4 < predicted / found.first < 0.6


def test_preferred_states_are_doorways_or_as_many_others() -> None:
    for goal in credit.GOALS:
        doors, others = preferred(goal, "doorways"), preferred(goal, "random")
        assert (doors == doorways(goal)).all()
        assert doors.sum() == others.sum() == 4
        assert not (doors & others).any()


def test_preference_for_doorways_alone_and_the_same_lambda_agree_there() -> None:
    alone, same = (
        learned(GOAL, "random", (kind, 0.0), "doorways") for kind in ("doorways", "λ only")
    )
    np.testing.assert_allclose(alone.bias[:12], same.bias[:12], rtol=1e-8)
    assert alone.noise == pytest.approx(same.noise, rel=1e-8)


def test_the_best_step_size_balances_mean_and_noise() -> None:
    """One state with bias e^(−2τ): at n steps, the least of e^(−2τ) + τ s / n is at its zero."""
    made = LearningSpeed(1.0, np.exp(-2 * credit.PACES), 0.5, 100.0)
    left = made.curve()
    steps = 100.0 * credit.BUDGETS
    pace = np.maximum(np.log(2 * steps / 0.5) / 2, 1.0)
    np.testing.assert_allclose(left, np.exp(-2 * pace) + pace * 0.5 / steps, rtol=0.02)
    least = int(np.argmin(left > credit.LEFT))
    assert made.episodes() <= credit.BUDGETS[max(least, 1)]


def test_the_good_policy_takes_the_best_action_in_85_percent_of_steps() -> None:
    task: Task = task_of(GOAL, "good")
    np.testing.assert_allclose(task.policy.max(axis=1), 0.85)
