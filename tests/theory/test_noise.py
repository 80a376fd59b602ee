"""The noise of weights: exact, against samples of updates and of learned weights."""

import numpy as np
import pytest

from preftd import ETD, PTD, TD, InputError, LinearLearner, Rule, Task, tasks
from preftd._src.arrays import as_dense
from preftd._src.theory.limit import update_noise
from preftd.theory import weight_noise

SMALL = Task(
    "small",
    [
        *((0, 0, 0.5, 1, 0, 0.3), (0, 0, 0.5, 2, 1, 0), (1, 0, 0.7, 0, -1, 0)),
        *((1, 0, 0.3, -1, 2, 1), (2, 0, 0.6, 2, 0, 0), (2, 0, 0.4, -1, 3, 0)),
    ],
    [[1, 0, 0], [0, 2, 0], [0, 1, 1]],
    0.9,
    start=[0.5, 0.25, 0.25],
)
BETA = np.array([1.0, 0.4, 0.6])
"""Random moves, rewards and starts; features that are not one-hot."""
RULES = {"td": TD(), "ptd": PTD()}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_noise_of_updates_is_that_of_samples(rule: Rule) -> None:
    stream = SMALL.sampler(0).steps(150_000)
    assert stream.state is not None
    found = rule.coefficients(beta=BETA[stream.state], discount_t=stream.discount_t)
    features = as_dense(SMALL.features.mean)
    shown, trace = features[stream.state], np.zeros(3)
    value = SMALL.values[stream.state]
    ends = stream.discount_tp1 == 0
    following = np.where(ends, 0.0, 0.9 * np.append(value[1:], 0.0))
    delta = stream.reward + following - value
    products = np.empty((len(stream) - 1, 3, 3))
    for t in range(len(products)):
        trace = found.decay[t] * trace + found.gain[t] * shown[t]
        products[t] = delta[t] ** 2 * np.outer(trace, trace)
    gain = np.ones(3) if rule is RULES["td"] else BETA
    exact = update_noise(SMALL, gain, BETA)
    blocks = products[: 1000 * (len(products) // 1000)].reshape(1000, -1, 3, 3).mean(axis=1)
    error = blocks.std(axis=0) / np.sqrt(len(blocks))
    assert (np.abs(blocks.mean(axis=0) - exact) < 4.5 * error).all()
    assert (np.diag(error) < 0.05 * np.diag(exact)).all()


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_weights_vary_by_the_step_size_times_it(rule: Rule) -> None:
    step_size, found = 0.01, []
    for seed in range(40):
        learner = LinearLearner(3, rule, step_size, view="backward")
        sampler = SMALL.sampler(seed)
        for _ in range(25):
            stream = sampler.steps(1000)
            learner.learn(stream, beta=BETA[stream.state])
            found.append(learner.predict(np.eye(3)))
    after = np.array(found).reshape(40, 25, 3)[:, 5:]
    exact = np.diag(weight_noise(SMALL, rule, BETA))
    sampled = after.var(axis=(0, 1)) / step_size
    np.testing.assert_allclose(sampled, exact, rtol=0.15)


def test_states_that_are_never_updated_have_no_noise() -> None:
    walk = tasks.make("random_walk", states=5)
    beta = np.array([0, 1.0, 0, 1, 0])
    found = weight_noise(walk, PTD(), beta)
    assert not found[[0, 2, 4]].any()
    assert not found[:, [0, 2, 4]].any()
    assert (np.diag(found)[[1, 3]] > 0).all()
    # Where states of preference 0 only pass on, TD with the same λ updates the others alike.
    same = weight_noise(walk, TD(), beta)
    np.testing.assert_allclose(np.diag(found)[[1, 3]], np.diag(same)[[1, 3]], rtol=1e-9)


def test_what_has_no_such_noise_is_refused() -> None:
    walk = tasks.make("random_walk", states=3)
    for task, rule, message in (
        (tasks.make("corridor", length=3), TD(), "random features"),
        (walk, ETD(), "depends on the past"),
        (Task("one", walk.outcomes, [[1], [1], [1]], 1.0, start=walk.start), TD(), "represent"),
    ):
        with pytest.raises(InputError, match=message):
            weight_noise(task, rule, 1.0)
