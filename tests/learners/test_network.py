"""Laws of networks that need no other implementation."""

from typing import Any

import numpy as np
import pytest

from learners.network_cases import CASES, RULES, some_scored, steps_of
from pairs import in_pairs
from preftd import ETD, PTD, TD, InputError, Rule, tasks
from preftd._src.arrays import Vector
from preftd._src.learners.network import backward, forward, held
from preftd._src.learners.network.backward import SHORT
from preftd._src.learners.network.batch import Network, NetworkBatch
from preftd._src.learners.network.layers import Lesson
from preftd._src.learners.steps import Steps
from preftd.preferences import Constant, Observability
from preftd.rules import stream_coefficients

VIEWS = ["backward", "forward", "held"]
METHODS = [Network(5, view) for view in VIEWS] + [Network(5, "forward", "adam")]
SIZES = [0.002, 0.05, 0.01]


def _name(method: Network) -> str:
    return f"{method.view} {method.optimiser}"


def not_bounded(steps: Steps) -> Vector:
    """What kernels take where steps are not bounded."""
    return np.zeros(steps.code_t.size)


def _weights(batch: NetworkBatch, lane: int) -> Any:
    return np.concatenate([np.ravel(w) for w in batch.parameters(lane)])


def _learned(method: Network, case: str, sizes: Any, rule: Any = RULES["ETD"]) -> Any:
    experience, preference = CASES[case]
    batch = method.start(experience.size, sizes, seed=0)
    errors = batch.learn(steps_of(experience, rule, preference), some_scored(experience.size))
    return batch, errors


@pytest.mark.parametrize("method", METHODS, ids=_name)
@pytest.mark.parametrize("case", ["cross grid", "soft tiles"])
def test_a_lane_learns_the_same_alone_to_the_bit(method: Network, case: str) -> None:
    together, errors = _learned(method, case, SIZES)
    for lane, size in enumerate(SIZES):
        alone, own = _learned(method, case, [size])
        assert np.array_equal(own[:, 0], errors[:, lane])
        assert np.array_equal(_weights(alone, 0), _weights(together, lane))


@pytest.mark.parametrize("method", METHODS, ids=_name)
@pytest.mark.parametrize("case", ["cross grid", "tiles", "soft log"])
def test_episodes_one_by_one_teach_the_same_to_the_bit(method: Network, case: str) -> None:
    together, errors = _learned(method, case, SIZES)
    experience, preference = CASES[case]
    batch = method.start(experience.size, SIZES, seed=0)
    ends = np.flatnonzero(experience.is_last) + 1
    rows = []
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        steps = steps_of(experience[begin:end], RULES["ETD"], preference)
        rows.append(batch.learn(steps, some_scored(experience.size)))
    assert np.array_equal(np.concatenate(rows), errors)
    assert all(np.array_equal(_weights(batch, k), _weights(together, k)) for k in range(3))


@pytest.mark.parametrize("method", METHODS[:3], ids=_name)
@pytest.mark.parametrize("case", ["cross grid", "soft log"])
def test_a_lane_that_diverges_shows_it_and_disturbs_no_other(method: Network, case: str) -> None:
    calm, errors = _learned(method, case, [0.01])
    both, wild = _learned(method, case, [1e200, 0.01, 1e200])
    assert not np.isfinite(wild[-1, [0, 2]]).any()
    assert np.array_equal(wild[:, 1], errors[:, 0])
    assert np.array_equal(_weights(both, 1), _weights(calm, 0))


@pytest.mark.parametrize("unit", range(5))
def test_a_unit_that_is_not_a_number_is_not_taken_for_one_at_rest(unit: int) -> None:
    experience, _ = CASES["log"]
    batch = Network(5, "backward").start(experience.size, [0.1], seed=0)
    batch._weights.hidden_bias[unit] = np.nan
    steps = steps_of(experience, PTD(), Constant(0.0))
    assert np.isnan(batch.learn(steps, some_scored(experience.size))).all()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("rule", RULES)
def test_views_agree_while_weights_hardly_move(case: str, rule: str) -> None:
    size, changes = 1e-9, []
    for view in VIEWS:
        batch, _ = _learned(Network(5, view), case, [size], RULES[rule])
        fresh = Network(5, view).start(batch.size, [size], seed=0)
        changes.append((_weights(batch, 0) - _weights(fresh, 0)) / size)
    scale = np.abs(changes[0]).max()
    assert scale > 0.01
    assert np.abs(changes[0] - changes[1]).max() < 1e-5 * scale
    assert np.abs(changes[0] - changes[2]).max() < 1e-5 * scale


@pytest.mark.parametrize("case", ["cross grid", "log", "tiles"])
@pytest.mark.parametrize("rule", RULES)
def test_held_segments_and_the_general_way_agree(case: str, rule: str) -> None:
    experience, preference = CASES[case]
    steps, scored = steps_of(experience, RULES[rule], preference), some_scored(experience.size)
    quick, general = (Network(5, "held").start(experience.size, SIZES, seed=0) for _ in range(2))
    errors = quick.learn(steps, scored)
    other = np.empty_like(errors)
    sizes = np.array(SIZES)
    lesson = Lesson(general._weights, 5, sizes, steps, not_bounded(steps))
    held.learn_held(lesson, scored, other, True)
    assert np.allclose(other, errors, rtol=1e-12, atol=0)
    for lane in range(3):
        assert np.allclose(_weights(general, lane), _weights(quick, lane), rtol=1e-12, atol=1e-13)


@in_pairs(case=CASES, rule=RULES, longest=[0, 2, 1000])
def test_segments_of_any_length_learn_the_same(case: str, rule: str, longest: int) -> None:
    experience, preference = CASES[case]
    steps, scored = steps_of(experience, RULES[rule], preference), some_scored(experience.size)
    batch = Network(5, "backward").start(experience.size, SIZES, seed=0)
    errors = np.empty((int(steps.is_last.sum()), len(SIZES)))
    lesson = Lesson(batch._weights, 5, np.array(SIZES), steps, not_bounded(steps))
    backward.learn_backward(lesson, scored, errors, longest)
    usual, expected = _learned(Network(5, "backward"), case, SIZES, RULES[rule])
    assert np.allclose(errors, expected, rtol=1e-11, atol=0)
    for lane in range(3):
        assert np.allclose(_weights(batch, lane), _weights(usual, lane), rtol=1e-11, atol=1e-13)


def test_a_trace_may_outlast_a_discount_of_0() -> None:
    """As with a custom rule, whose decay is not the discount's."""
    experience, preference = CASES["cross grid"]
    steps, scored = steps_of(experience, RULES["TD"], preference), some_scored(experience.size)
    inside = np.flatnonzero(~steps.is_last)[3::7]
    steps = steps._replace(discount_tp1=steps.discount_tp1.copy(), decay=steps.decay.copy())
    steps.discount_tp1[inside], steps.decay[inside + 1] = 0.0, 0.7
    found = []
    for longest in (0, 1000):
        batch = Network(5, "backward").start(experience.size, SIZES, seed=0)
        errors = np.empty((int(steps.is_last.sum()), len(SIZES)))
        lesson = Lesson(batch._weights, 5, np.array(SIZES), steps, not_bounded(steps))
        backward.learn_backward(lesson, scored, errors, longest)
        found.append(errors)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-11, atol=0)


@pytest.mark.parametrize("method", METHODS, ids=_name)
def test_compiled_and_plain_kernels_agree(method: Network) -> None:
    for case in ("tiles", "soft log"):
        experience, preference = CASES[case]
        steps, scored = steps_of(experience, TD(), preference), some_scored(experience.size)
        compiled = method.start(experience.size, SIZES, seed=0)
        errors = compiled.learn(steps, scored)
        plain = method.start(experience.size, SIZES, seed=0)
        kernels: dict[str, Any] = {
            "backward sgd": (backward.learn_backward, (SHORT * 5,)),
            "forward sgd": (forward.learn_forward, ()),
            "held sgd": (held.learn_held, (False,)),
            "forward adam": (forward.learn_adam, ()),
        }
        kernel, extra = kernels[_name(method)]
        first = (plain.moments,) if method.optimiser == "adam" else ()
        other = np.empty_like(errors)
        lesson = Lesson(plain._weights, 5, np.array(SIZES), steps, not_bounded(steps))
        kernel.py_func(lesson, *first, scored, other, *extra)
        assert np.allclose(other, errors, rtol=1e-12, atol=0)


@pytest.mark.parametrize("method", METHODS, ids=_name)
@pytest.mark.parametrize(
    ("rule", "preference"), [(PTD(), Constant(0.0)), (ETD(interest=0.0), Observability())]
)
def test_without_preference_or_interest_nothing_is_learned(
    method: Network, rule: Any, preference: Any
) -> None:
    experience, _ = CASES["cross grid"]
    batch = method.start(experience.size, [0.1], seed=0)
    before = _weights(batch, 0)
    batch.learn(steps_of(experience, rule, preference), some_scored(experience.size))
    assert np.array_equal(_weights(batch, 0), before)


@pytest.mark.parametrize("view", VIEWS)
def test_ptd_with_constant_beta_is_td_with_a_smaller_step(view: str) -> None:
    experience, _ = CASES["log"]
    scored, beta = some_scored(experience.size), Constant(0.25)
    ptd, td = (Network(5, view).start(experience.size, [a], seed=0) for a in (0.08, 0.02))
    ptd.learn(steps_of(experience, PTD(), beta), scored)
    td.learn(steps_of(experience, TD(), beta), scored)
    assert np.allclose(_weights(ptd, 0), _weights(td, 0), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("method", METHODS, ids=_name)
def test_errors_are_those_of_predictions(method: Network) -> None:
    batch, errors = _learned(method, "tiles", SIZES)
    scored = some_scored(7)
    inputs = np.stack([np.eye(7)[0], scored.dense[0]])
    missed = batch.predict(inputs) - scored.values[:, None]
    assert np.allclose((missed**2).mean(axis=0), errors[-1], rtol=1e-13)


def test_networks_of_a_seed_begin_alike() -> None:
    one = Network(3, "held").start(4, [0.1, 0.2], seed=5)
    other = Network(3, "forward", "adam").start(4, [1.0], seed=5)
    another = Network(3, "backward").start(4, [1.0], seed=6)
    assert np.array_equal(_weights(one, 1), _weights(other, 0))
    assert not np.array_equal(_weights(one, 1), _weights(another, 0))
    hidden, hidden_bias, out, bias = (
        Network(400, "backward").start(100, [0.1], seed=0).parameters(0)
    )
    assert 0.099 < np.abs(hidden).max() <= 0.1
    assert 0.09 < np.abs(hidden_bias).max() <= 0.1
    assert 0.045 < np.abs(out).max() <= 0.05
    assert abs(bias) <= 0.05


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Network(0), "units is 0"),
        (lambda: Network(2, "foward"), "did you mean 'forward'"),
        (lambda: Network(2, "forward", "adams"), "did you mean 'adam'"),
        (lambda: Network(2, "held", "adam"), "adam takes one step per episode"),
        (lambda: Network(2, "backward").start(0, [0.1], 0), "size is 0"),
        (lambda: Network(2, "backward").start(3, 0.1, 0), "give a list of step sizes"),
        (
            lambda: Network(2, "backward").start(3, [True], 0),
            r"sizes\[0\] is True: give a number above 0",
        ),
        (lambda: Network(True), "units is True"),
        (lambda: Network(2, "backward").start(3, [0.1], 0).predict([1, 2, 3]), "give rows of 3"),
    ],
)
def test_bad_input_is_refused(build: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()


def test_steps_must_fit_and_be_whole_episodes() -> None:
    experience, preference = CASES["log"]
    steps, scored = steps_of(experience, TD(), preference), some_scored(7)
    with pytest.raises(InputError, match="7 features, the learner 3"):
        Network(2, "backward").start(3, [0.1], 0).learn(steps, scored)
    cut = steps._replace(is_last=np.zeros_like(steps.is_last))
    with pytest.raises(InputError, match="not over"):
        Network(2, "backward").start(7, [0.1], 0).learn(cut, scored)


@pytest.mark.parametrize("rule", [PTD(), ETD(Observability(0.5, 0.0))], ids=repr)
@pytest.mark.parametrize("view", ["forward", "held"])
def test_inputs_without_gain_or_weight_in_a_return_are_never_looked_at(
    view: str, rule: Rule
) -> None:
    """What hidden cells show may be anything, even not a number: nothing of it is computed with."""
    grid = tasks.make("cross_grid", size=4)
    episodes = grid.sampler(0).episodes(5)
    steps = Steps.of(episodes, stream_coefficients(rule, Observability(), episodes))
    assert (steps.code_t < 0).any()
    unseen = steps._replace(dense=np.full_like(steps.dense, np.nan))
    network = Network(units=4, view=view)
    seen, blind = (network.start(grid.features.size, [0.05], 0) for _ in range(2))
    expected = seen.learn(steps, grid.scored)
    np.testing.assert_array_equal(blind.learn(unseen, grid.scored), expected)
    assert np.isfinite(expected).all()
    backward = Network(4, "backward").start(grid.features.size, [0.05], 0)
    assert np.isnan(backward.learn(unseen, grid.scored)).any()
