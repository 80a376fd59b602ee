"""Preferences: whole streams and single steps agree, for every one of them."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import cloudpickle
import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preftd import Experience, InputError, tasks
from preftd._src.experiments.content import content, text
from preftd._src.preferences.learned.steps import run
from preftd.experience import Indices, OneHot, Recorder, Visit
from preftd.preferences import (
    Constant,
    Displacement,
    Function,
    Learned,
    Observability,
    PerState,
    Signal,
    Uncertainty,
    as_preference,
)

CORRIDOR = tasks.make("corridor", length=6)
STREAM = tasks.make("corridor", length=6).sampler(seed=2).steps(200)
EVERY: list[Signal] = [
    Constant(0.3),
    Observability(),
    Observability(observable=0.9, hidden=0.05),
    PerState(np.linspace(0, 1, 13)),
    Function(lambda x: float(1 / (1 + x @ x))),
    Function(lambda x: 1 / (1 + x[0] ** 2), compiled=True),
    Uncertainty(lambda x: x[0] * np.arange(3.0), scale=0.3),
    Displacement({0: 0.5}, between=0.1),
    Displacement({0: 1.5, 2: 1.0}, between=0.0),
    Learned(),
]


@pytest.mark.parametrize("preference", EVERY, ids=lambda preference: type(preference).__name__)
def test_streams_and_steps_agree(preference: Signal) -> None:
    betas, end = preference.stream(STREAM)
    memory = None
    for t in range(len(STREAM)):
        beta, memory = preference.step(STREAM.visit(t), memory)
        assert beta == betas[t]
    np.testing.assert_array_equal(np.asarray(memory, dtype=float), np.asarray(end, dtype=float))


@pytest.mark.parametrize("preference", EVERY, ids=lambda preference: type(preference).__name__)
def test_a_stream_in_pieces_is_the_stream(preference: Signal) -> None:
    whole, _ = preference.stream(STREAM)
    memory, pieces = None, []
    for first in range(0, 200, 23):
        betas, memory = preference.stream(STREAM[first : first + 23], memory)
        pieces.append(betas)
    np.testing.assert_array_equal(np.concatenate(pieces), whole)


def shown(x: Any) -> float:
    """Numba makes no float of a bool."""
    return float(x.max() == 1)


def test_a_compiled_function_returns_the_same_numbers_and_is_compiled_once_in_a_process() -> None:
    plain = Function(lambda x: x.max() == 1)
    compiled = Function(plain.function, compiled=True)
    np.testing.assert_array_equal(compiled.stream(STREAM)[0], plain.stream(STREAM)[0])
    row = tasks.make("random_walk", states=5)
    np.testing.assert_array_equal(compiled.per_state(row), plain.per_state(row))
    assert plain == Function(plain.function) != compiled
    assert text(content(compiled)) == text(content(plain)).replace("(", "(compiled=True, ", 1)
    jobs = [cloudpickle.loads(cloudpickle.dumps(compiled)) for _ in range(2)]
    assert jobs[0]._call is jobs[1]._call
    with pytest.raises(IndexError, match="out of bounds"):
        Function(lambda x: x[99], compiled=True).stream(STREAM)
    again = Function(compiled._call, compiled=True)
    np.testing.assert_array_equal(again.stream(STREAM)[0], plain.stream(STREAM)[0])


def test_observability_follows_the_task() -> None:
    betas, _ = Observability(observable=0.9, hidden=0.2).stream(STREAM)
    assert STREAM.observable is not None
    np.testing.assert_array_equal(betas, np.where(STREAM.observable, 0.9, 0.2))


def walk(positions: list[float], begins: list[bool]) -> Experience:
    """A stream that shows positions."""
    ends = [*begins[1:], True]
    return Experience.from_log(
        np.array(positions)[:, None],
        np.zeros(len(positions)),
        discount=1.0,
        terminated=ends,
    )


def test_displacement_is_measured_from_the_last_preferred_step() -> None:
    betas, _ = Displacement({0: 1.0}, between=0.1).stream(
        walk([0, 0.9, 1.0, 1.1, 2.0, 2.2, 5, 5.5], [True] + 7 * [False])
    )
    # 1.0 is not *more* than the threshold; from 1.1 on, 2.2 is the first that is.
    np.testing.assert_array_equal(betas, [1, 0.1, 0.1, 1, 0.1, 1, 1, 0.1])


def test_displacement_begins_afresh_with_each_episode() -> None:
    betas, _ = Displacement({0: 1.0}, between=0.0).stream(
        walk([0, 0.5, 0.6, 1.2], [True, False, True, False])
    )
    np.testing.assert_array_equal(betas, [1, 0, 1, 0])


@given(seed=st.integers(0, 2**32 - 1), limit=st.floats(0.1, 3))
def test_displacement_by_jumps_equals_step_by_step(seed: int, limit: float) -> None:
    rng = np.random.default_rng(seed)
    begins = rng.random(120) < 0.05
    begins[0] = True
    stream = walk(np.cumsum(rng.normal(size=120) * 0.5).tolist(), begins.tolist())
    preference = Displacement({0: limit})
    betas, _ = preference.stream(stream)
    memory = None
    for t in range(120):
        beta, memory = preference.step(stream.visit(t), memory)
        assert beta == betas[t]


def test_cartpole_rule_on_cartpole() -> None:
    """Thresholds on position, velocity and angle, of raw observations behind any encoder."""
    recorder = Recorder(
        gymnasium.make("CartPole-v1"),
        lambda x: int(x[2] > 0),
        discount=0.99,
        encoder=_Coarse(),
        seed=1,
    )
    stream = recorder.take(300)
    betas, _ = Displacement({0: 0.5, 1: 0.5, 2: 0.05}, between=0.1).stream(stream)
    assert set(betas) == {0.1, 1.0}
    # Between two preferred steps of an episode, some entry has moved by more than its threshold.
    seen, limits = stream.observations()[:, :3], np.array([0.5, 0.5, 0.05])
    preferred = np.flatnonzero(betas == 1)
    assert preferred.size > 20
    for last, now in pairwise(preferred):
        if not stream.is_first[now]:
            assert (np.abs(seen[now] - seen[last]) > limits).any()
            assert (np.abs(seen[last + 1 : now] - seen[last]) <= limits).all()


class _Coarse:
    """Left or right of the middle."""

    size = 2

    def __call__(self, observation: Any) -> Indices:
        return OneHot(2)(int(observation[0] > 0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Constant(-0.5), "beta is -0.5"),
        (lambda: Constant(1.5).stream(STREAM), r"beta\[0\] is 1.5"),
        (lambda: as_preference(Constant(1.5)), "preference reaches 1.5"),
        (lambda: as_preference(1.5), "preference reaches 1.5"),
        (lambda: as_preference([0.5, 2.0]), "preference reaches 2"),
        (lambda: as_preference("high"), "preference is 'high': give a number"),
        (lambda: as_preference(Constant), "give a number"),
        (lambda: Constant(float("nan")), "beta is nan"),
        (lambda: Constant(True), "beta is True: give a number"),
        (lambda: Observability(hidden=False), "hidden is False: give a number"),
        (lambda: Observability(hidden=-0.1), "hidden is -0.1"),
        (lambda: PerState([0.5, -2.0]), r"beta\[1\] is -2"),
        (lambda: PerState([]), "one number for each state"),
        (lambda: PerState([0.5]).per_state(CORRIDOR), "beta has 1 numbers but corridor"),
        (lambda: Function(lambda _: 1.0).per_state(CORRIDOR), "depends on more than the state"),
        (lambda: Surprised().stream(STREAM), "watches the learner"),
        (lambda: PerState([[0.5]]), "one number for each state"),
        (lambda: Displacement({}), "thresholds are missing"),
        (lambda: Displacement([0.5, 0.5]), "thresholds are missing"),  # type: ignore[arg-type]
        (lambda: Displacement({0.5: 1.0}), "an entry is 0.5"),  # type: ignore[dict-item]
        (lambda: Displacement({0: -1.0}), "threshold is negative: give 0 or more"),
        (lambda: Function(3), "cannot be called"),  # type: ignore[arg-type]
        (lambda: Function(len, compiled="yes"), "compiled is 'yes'"),  # type: ignore[arg-type]
        (lambda: Function(len, compiled=True), r"len> cannot be compiled \(.*\): use only what"),
        (lambda: Function(shown, compiled=True), r"found for signature: float\(bool\)\): use"),
        (lambda: Function(lambda x: x).stream(STREAM), "return one number"),  # type: ignore[arg-type, return-value]
        (
            lambda: PerState([0.5]).step(Visit(np.zeros(1), True, state=-1)),
            "beta covers states 0 to 0",
        ),
        (lambda: Displacement({0: 1.0}, between=2), "between is 2"),
        (lambda: Function(lambda x: float(len(x))).stream(STREAM), r"beta\[0\] is 3"),
        (lambda: Function(lambda _: float("nan")).stream(STREAM), r"beta\[0\] is nan"),
        (lambda: Function(lambda _: 7.0).step(STREAM.visit(0)), "beta is 7"),
        (lambda: PerState([0.5]).stream(STREAM), "beta covers states 0 to 0 but"),
        (lambda: Displacement({9: 1.0}).stream(STREAM), "entry 9"),
        (lambda: Observability().step(Visit(np.zeros(1), True)), "which steps are observable"),
        (lambda: Observability().stream(walk([0, 1], [True, False])), "which steps are observable"),
        (lambda: PerState([0.5]).step(Visit(np.zeros(1), True)), "does not know its states"),
        (lambda: PerState([0.5]).stream(walk([0, 1], [True, False])), "does not know its states"),
    ],
)
def test_what_is_no_preference_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


class Surprised(Signal):
    """Trusts what surprised the learner little."""

    watches_learner = True

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        assert visit.td_error is not None
        return 1 / (1 + visit.td_error**2), memory


def test_a_number_an_array_and_a_function_are_preferences() -> None:
    assert as_preference(0.5) == Constant(0.5)
    assert as_preference(Observability()) == Observability()
    table = as_preference(np.linspace(0, 1, 13))
    assert isinstance(table, PerState)
    np.testing.assert_array_equal(table.beta, np.linspace(0, 1, 13))
    betas, _ = as_preference(lambda x: float(x[0] > 0)).stream(STREAM)
    np.testing.assert_array_equal(betas, STREAM.features()[:, 0] > 0)


@pytest.mark.parametrize("preference", EVERY[:4], ids=lambda preference: type(preference).__name__)
def test_per_state_is_what_streams_say_of_each_state(preference: Signal) -> None:
    per_state, (betas, _) = preference.per_state(CORRIDOR), preference.stream(STREAM)
    assert STREAM.state is not None
    np.testing.assert_array_equal(per_state[STREAM.state], betas)


class Memory(Signal):
    """β from the reward, discount and action that led to a step."""

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        assert memory is None
        if visit.is_first:
            assert (visit.reward_t, visit.discount_t, visit.action_tm1) == (0.0, 0.0, None)
            return 1.0, None
        assert visit.action_tm1 is not None
        return (visit.reward_t + visit.discount_t + visit.action_tm1) / 4, None


def test_a_preference_sees_what_led_to_a_step() -> None:
    log = Experience.from_log(
        [[0.0]] * 4,
        [0.5, 1.0, 0.0, 0.0],
        discount=0.5,
        terminated=[0, 0, 0, 1],
        action=[0, 1, 2, 0],
    )
    assert Memory().stream(log)[0].tolist() == [1.0, 0.25, 0.625, 0.625]


def test_a_function_of_what_states_always_show_is_known_for_each() -> None:
    walk, trust = tasks.make("random_walk"), Function(lambda x: float(x[:5].sum()))
    betas, _ = trust.stream(steps := walk.sampler(0).episodes(3))
    assert steps.state is not None
    np.testing.assert_array_equal(trust.per_state(walk)[steps.state], betas)


SIGNALS = [
    Constant(0.5),
    Observability(),
    PerState([0.25, 0.5]),
    Function(lambda x: float(x[0])),
    Displacement({0: 0.5}),
    Learned(),
    Learned(linear=True),
]
PLAIN = Visit(np.array([1.0, 0.0]), False, 1, True, 1.0, 1.0, 0, 1, None, 1.0, 0.0, None)
SAME: dict[str, list[Any]] = {
    "observation": [[1, 0], (1.0, 0.0), np.array([1, 0], np.uint8), np.array([1, 0], np.float32)],
    "is_first": [0, np.False_, np.int8(0)],
    "state": [np.int64(1), np.uint8(1)],
    "observable": [1, np.True_],
    "reward_t": [1, np.float32(1), np.array(1.0)],
    "discount_t": [1, np.float32(1), np.int64(1)],
    "action": [np.int32(1)],
}
BAD: dict[str, list[Any]] = {
    "observation": [
        "x",
        ["x", "y"],
        np.array(["1", "0"]),
        np.array(["2026-01-01", "2026-01-02"], "M8[D]"),
        np.array([1 + 2j, 0]),
        np.array([1, None]),
        [[1, 0], [1]],
        None,
        object(),
    ],
    "is_first": [None, "no", 2, 0.5, np.nan, [True], np.array([True, False])],
    "state": ["x", 0.5, True, 2**40, [1]],
    "observable": ["x", 0.5, [1]],
    "reward_t": [None, "x", np.nan, np.inf, 1j, [1.0, 2.0], True],
    "discount_t": [None, "x", np.nan, 1.5, -0.5, 1j],
    "action": ["x", 0.5, 2**40],
    "rho": ["x", np.nan, 1j],
    "value": ["x", np.nan],
    "td_error": [1j, np.inf],
    "reward_end": ["x", np.nan],
}
COMPARED: list[Any] = [np.ones((1, 2)), np.array(1.0), np.ones(0), {"x": 1}]
"""Observations that a function may take, but that have no entries to compare."""


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: type(signal).__name__)
def test_a_visit_in_other_types_gives_the_same_and_compiles_nothing(signal: Signal) -> None:
    beta, memory = signal.step(PLAIN)
    before = len(run.signatures)
    for field, values in SAME.items():
        for value in values:
            again, remembered = signal.step(PLAIN._replace(**{field: value}))
            assert again == beta, (field, value)
            if memory is not None:
                np.testing.assert_array_equal(np.asarray(remembered), np.asarray(memory))
    assert len(run.signatures) == before


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: type(signal).__name__)
def test_a_visit_with_a_bad_field_is_refused_by_its_name(signal: Signal) -> None:
    for field, values in BAD.items():
        for value in values:
            for call in (signal.step, signal.at):
                with pytest.raises(InputError, match=field):
                    call(PLAIN._replace(**{field: value}), None)


@pytest.mark.parametrize("signal", SIGNALS[-3:], ids=lambda signal: type(signal).__name__)
def test_what_is_compared_must_be_a_row_of_numbers(signal: Signal) -> None:
    for value in COMPARED:
        with pytest.raises(InputError, match="observation"):
            signal.step(PLAIN._replace(observation=value))


@pytest.mark.parametrize("signal", SIGNALS[-3:], ids=lambda signal: type(signal).__name__)
def test_what_is_masked_counts_as_missing(signal: Signal) -> None:
    masked = np.ma.array([1.0, 7.0], mask=[False, True])
    beta, memory = signal.step(PLAIN._replace(observation=masked))
    missing = signal.step(PLAIN._replace(observation=np.array([1.0, np.nan])))
    assert beta == missing[0]
    np.testing.assert_array_equal(np.asarray(memory), np.asarray(missing[1]))


@pytest.mark.parametrize("memory", ["x", [1.0, 2.0], 1j, object(), np.ones((1, 1))])
def test_a_memory_that_a_displacement_cannot_have_is_refused(memory: Any) -> None:
    with pytest.raises(InputError, match="memory is"):
        Displacement({0: 0.5}).step(PLAIN, memory)
    with pytest.raises(InputError, match="memory is"):
        Displacement({0: 0.5}).stream(STREAM[1:], memory)


def test_uncertainty_weights_updates_by_inverse_variances() -> None:
    """The trust in two observations is in the proportion of 1 / (scale + variance)."""
    rng = np.random.default_rng(0)
    made = {x: rng.normal(scale=x, size=7) for x in (0.5, 2.0)}
    trust = Uncertainty(lambda x: made[float(x[0])], scale=0.4)
    betas = [trust.step(Visit(np.array([x]), is_first=True))[0] for x in made]
    variances = [float(((m - m.mean()) ** 2).sum() / 6) for m in made.values()]
    assert betas[0] / betas[1] == pytest.approx((0.4 + variances[1]) / (0.4 + variances[0]))
    assert Uncertainty(lambda _: [3.0, 3.0], 0.4).step(Visit(np.ones(1), is_first=True))[0] == 1
    assert trust.largest == 1


@pytest.mark.parametrize(
    ("ensemble", "scale", "message"),
    [
        (None, 1.0, "None cannot be called: give a function"),
        (len, 0.0, "scale is 0: give a variance above 0"),
        (len, 1.0, r"the ensemble's prediction has shape \(\): return one number for each"),
        (lambda _: [1.0], 1.0, r"the ensemble's prediction has shape \(1,\): "),
        (lambda _: [1.0, np.nan], 1.0, r"the ensemble's prediction\[1\] is nan"),
    ],
)
def test_an_ensemble_without_a_variance_is_refused(
    ensemble: Any, scale: float, message: str
) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        Uncertainty(ensemble, scale).stream(STREAM)
