"""Features are ignored where β and gain are 0, NaN included, whatever ρ is.

It holds for learners whose updates wait for their targets, after a stream, in a study, and at every
step on the way. Algorithm 1 and true online learning break it.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pairs import in_pairs
from preftd import ETD, PTD, TD, Experience, InputError, Rule
from preftd._src.arrays import Vector
from preftd._src.tasks.scored import Scored
from preftd.learners import LeastSquares, Linear, Network, Steps, forward_update
from preftd.rules import Carried, StreamCoefficients

SIZE, STEPS = 4, 120

PROTECTED: dict[str, Any] = {
    "linear held": Linear("held"),
    "linear forward": Linear("forward"),
    "linear held, bounded": Linear("held", bounded=True),
    "linear forward, bounded": Linear("forward", bounded=True),
    "least squares": LeastSquares(regularisation=0.1),
    "recursive least squares": LeastSquares(regularisation=0.1, recursive=True),
    "network forward": Network(3, "forward"),
    "network, Adam": Network(3, "forward", "adam"),
    "network held": Network(3, "held"),
    "network held, bounded": Network(3, "held", bounded=True),
    "network forward, bounded": Network(3, "forward", bounded=True),
}
EXPOSED: dict[str, Any] = {
    "algorithm 1": Linear("backward"),
    "true online": Linear("true_online"),
    "network": Network(3, "backward"),
}
RULES: dict[str, Rule] = {"PTD": PTD(), "ETD": ETD()}
KINDS = ["0 or 1", "any"]
SHOWN = ["noise", "-99", "NaN"]

protected = pytest.mark.parametrize("learning", sorted(PROTECTED))
exposed = pytest.mark.parametrize("learning", sorted(EXPOSED))
rules = pytest.mark.parametrize("rule", sorted(RULES))
betas = pytest.mark.parametrize("kind", KINDS)
shown = pytest.mark.parametrize("what", SHOWN)


def stream(kind: str) -> tuple[Experience, dict[str, Vector], NDArray[np.bool_]]:
    """Episodes that terminate or are truncated, their signals, and which steps are hidden."""
    rng = np.random.default_rng(3)
    ends = rng.random((2, STEPS)) < 0.08
    terminated, truncated = ends[0], ends[1] & ~ends[0]
    terminated[-1], truncated[-1] = True, False
    e = Experience.from_log(
        rng.normal(size=(STEPS, SIZE)),
        rng.normal(size=STEPS),
        discount=rng.uniform(0.6, 1, STEPS),
        terminated=terminated,
        truncated=truncated,
        final=rng.normal(size=(int(truncated.sum()), SIZE)),
    )
    hidden = rng.random(STEPS) < 0.6
    beta = np.where(hidden, 0.0, 1.0 if kind == "0 or 1" else rng.choice([0.2, 0.7, 1.0], STEPS))
    signals = {
        "beta": beta,
        "interest": np.where(hidden, 0.0, rng.uniform(0.5, 1.5, STEPS)),
        "rho": rng.choice([0.5, 1.0, 1.5], STEPS),
    }
    return e, signals, hidden


def showing(e: Experience, hidden: NDArray[np.bool_], what: str) -> Experience:
    """The same stream with something else at the hidden steps."""
    rows = np.array(e.dense)
    noise = 3 * np.random.default_rng(9).normal(size=(len(hidden), SIZE))
    other = {"noise": noise, "-99": np.full_like(noise, -99), "NaN": np.full_like(noise, np.nan)}
    rows[: len(hidden)][hidden] = other[what][hidden]
    return replace(e, dense=rows)


def new(spec: Any, rule: Rule, step_size: float = 0.1) -> Any:
    return spec.learner(SIZE, rule, step_size if spec.takes_step_size else None, seed=1)


def weights(learner: Any) -> Vector:
    """All of them, in a row."""
    found = learner.parameters if hasattr(learner, "parameters") else [learner.weights]
    return np.concatenate([np.ravel(part) for part in found])


def same(one: Vector, other: Vector) -> None:
    np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


@in_pairs(learning=sorted(PROTECTED), rule=sorted(RULES), kind=KINDS, what=SHOWN)
def test_a_stream_teaches_the_same_whatever_hidden_steps_show(
    learning: str, rule: str, kind: str, what: str
) -> None:
    e, signals, hidden = stream(kind)
    one, other = (new(PROTECTED[learning], RULES[rule]) for _ in range(2))
    start = weights(one)
    one.learn(e, **signals)
    other.learn(showing(e, hidden, what), **signals)
    same(weights(other), weights(one))
    assert np.abs(weights(one) - start).max() > 0.01


@in_pairs(learning=sorted(PROTECTED), rule=sorted(RULES), kind=KINDS, what=SHOWN)
def test_a_study_measures_the_same_whatever_hidden_steps_show(
    learning: str, rule: str, kind: str, what: str
) -> None:
    e, signals, hidden = stream(kind)
    coefficients = RULES[rule].coefficients(discount_t=e.discount_t, **signals)
    of_stream = StreamCoefficients(signals["beta"], coefficients, Carried())
    spec = PROTECTED[learning]
    sizes: list[Any] = [0.03, 0.1] if spec.takes_step_size else [None]
    scored = Scored(np.array([0, 2], dtype=np.int32), np.zeros((0, SIZE)), np.array([0.5, -1.0]))
    errors = [
        spec.start(SIZE, sizes, 1).learn(Steps.of(seen, of_stream), scored)
        for seen in (e, showing(e, hidden, what))
    ]
    np.testing.assert_allclose(errors[1], errors[0], rtol=1e-10)
    assert np.isfinite(errors[0]).all()
    assert len(np.unique(errors[0][:, 0])) > 5


ONLINE = [name for name in sorted(PROTECTED) if "forward" not in name and "Adam" not in name]


@pytest.mark.parametrize("learning", ONLINE)
@rules
@betas
@shown
def test_the_weights_of_every_moment_are_the_same(
    learning: str, rule: str, kind: str, what: str
) -> None:
    """One transition at a time, and in pieces of a stream."""
    e, signals, hidden = stream(kind)
    unlike = showing(e, hidden, what)
    one, other, pieces = (new(PROTECTED[learning], RULES[rule]) for _ in range(3))
    moments: list[list[Vector]] = [[], [], []]
    for t in range(STEPS):
        now = {name: float(signal[t]) for name, signal in signals.items()}
        for learner, seen in ((one, e), (other, unlike)):
            which = slice(t, t + 1)
            learner.update(
                seen.features(which)[0],
                float(seen.reward[t]),
                seen.next_features(which)[0],
                discount=float(seen.discount_tp1[t]),
                truncated=bool(seen.is_last[t]),
                **now,
            )
        pieces.learn(unlike[t : t + 1], **{name: s[t : t + 1] for name, s in signals.items()})
        for seen_of, learner in zip(moments, (one, other, pieces), strict=True):
            seen_of.append(weights(learner))
    expected, *found = map(np.array, moments)
    for every_moment in found:
        same(every_moment, expected)


@pytest.mark.parametrize("learning", ONLINE)
@rules
@betas
def test_a_final_observation_counts_as_much_as_its_beta(
    learning: str, rule: str, kind: str
) -> None:
    """At 0 it may show anything; streams, studies and single steps agree."""
    e, signals, _ = stream(kind)
    truncated = np.flatnonzero(e.is_last & (e.discount_tp1 != 0))
    final_beta = np.resize([0.0, 0.4, 1.0], truncated.size)
    rows = np.array(e.dense)
    rows[-1 - e.code_tp1[truncated[::3]]] = np.nan
    unlike = replace(e, dense=rows)
    spec = PROTECTED[learning]
    steps, whole, other, full = (new(spec, RULES[rule]) for _ in range(4))
    ends = dict(zip(truncated.tolist(), final_beta.tolist(), strict=True))
    for t in range(STEPS):
        which = slice(t, t + 1)
        steps.update(
            e.features(which)[0],
            float(e.reward[t]),
            e.next_features(which)[0],
            discount=float(e.discount_tp1[t]),
            truncated=t in ends,
            next_beta=ends.get(t),
            **{name: float(signal[t]) for name, signal in signals.items()},
        )
    whole.learn(e, final_beta=final_beta, **signals)
    other.learn(unlike, final_beta=final_beta, **signals)
    same(weights(whole), weights(steps))
    same(weights(other), weights(steps))
    assert np.abs(weights(full.learn(e, **signals)) - weights(steps)).max() > 1e-4
    coefficients = RULES[rule].coefficients(discount_t=e.discount_t, **signals)
    of_stream = StreamCoefficients(signals["beta"], coefficients, Carried())
    scored = Scored(np.array([0, 2], dtype=np.int32), np.zeros((0, SIZE)), np.array([0.5, -1.0]))
    batch = spec.start(SIZE, [0.1 if spec.takes_step_size else None], 1)
    errors = batch.learn(Steps.of(unlike, of_stream, final_beta), scored)
    error = np.mean((steps.predict(np.eye(SIZE)[[0, 2]]) - scored.values) ** 2)
    np.testing.assert_allclose(errors[-1, 0], error, rtol=1e-9)


@pytest.mark.parametrize("learning", ["algorithm 1", "true online", "network", "linear forward"])
def test_a_learner_that_does_not_wait_has_no_beta_of_final_observations(learning: str) -> None:
    e, signals, _ = stream("any")
    learner = new((PROTECTED | EXPOSED)[learning], PTD())
    with pytest.raises(InputError, match="final_beta is for the held view"):
        learner.learn(e, final_beta=0.0, **signals)
    held = new(Linear("held"), PTD())
    with pytest.raises(InputError, match="final_beta"):
        held.learn(e, final_beta=[0.0, 1.0], **signals)


@protected
def test_what_is_refused_is_named_although_hidden_steps_show_nothing(learning: str) -> None:
    """The last step is hidden and NaN, and so is the final observation: that one is refused."""
    spec, unseen = PROTECTED[learning], np.full(SIZE, np.nan)
    rows = np.concatenate([np.ones((1, SIZE)), unseen[None]])
    log = Experience.from_log(rows, [1, 1], discount=0.9, terminated=False, final=unseen[None])
    with pytest.raises(InputError, match=r"^the final observation of the episode .* at step 1 is"):
        new(spec, PTD()).learn(log, beta=[1.0, 0.0])
    with pytest.raises(InputError, match=r"^features of step 1 are not finite, where β is 0\.5"):
        new(spec, PTD()).learn(log, beta=[1.0, 0.5])
    if learning in ONLINE:
        learner = new(spec, PTD())
        learner.update(rows[0], 1.0, unseen, discount=0.9, beta=1.0)
        with pytest.raises(InputError, match=r"^next_features holds .*: give next_beta=0 there"):
            learner.update(unseen, 1.0, unseen, discount=0.9, beta=0.0, truncated=True)
        with pytest.raises(InputError, match=r"^features holds .*: give β = 0 there"):
            learner.update(unseen, 1.0, rows[0], discount=0.9, beta=0.5)


@pytest.mark.parametrize("learning", ONLINE)
@betas
def test_targets_are_complete_where_a_discount_is_0_inside_an_episode(
    learning: str, kind: str
) -> None:
    e, signals, _ = stream(kind)
    inside = np.random.default_rng(5).random(STEPS) < 0.2
    discount = np.where(inside, 0.0, e.discount_tp1)
    into = np.where(e.is_first, 0.0, np.append(0.0, discount[:-1]))
    e = replace(e, discount_tp1=discount, discount_t=into)
    whole, pieces = (new(PROTECTED[learning], PTD()) for _ in range(2))
    whole.learn(e, **signals)
    for t in range(STEPS):
        pieces.learn(e[t : t + 1], **{name: s[t : t + 1] for name, s in signals.items()})
    same(weights(pieces), weights(whole))


@exposed
@rules
@betas
def test_algorithm_1_and_true_online_learning_break_it(learning: str, rule: str, kind: str) -> None:
    e, signals, hidden = stream(kind)
    found = []
    for seen in (e, showing(e, hidden, "noise")):
        learner = new(EXPOSED[learning], RULES[rule], 0.03)
        found.append(weights(learner.learn(seen, **signals)))
    assert np.abs(found[0] - found[1]).max() > 1e-3
    learner = new(EXPOSED[learning], RULES[rule])
    before = weights(learner)
    with pytest.raises(InputError, match="not finite"):
        learner.learn(showing(e, hidden, "NaN"), **signals)
    np.testing.assert_array_equal(weights(learner), before)


@protected
def test_td_with_lambda_updates_hidden_states_so_nothing_protects_from_them(learning: str) -> None:
    e, signals, hidden = stream("0 or 1")
    given = {"beta": signals["beta"]}
    one, other, refused = (new(PROTECTED[learning], TD(), 0.003) for _ in range(3))
    one.learn(e, **given)
    other.learn(showing(e, hidden, "noise"), **given)
    assert np.abs(weights(one) - weights(other)).max() > 1e-3
    with pytest.raises(InputError, match=r"features of step \d+ are not finite.*gain 1"):
        refused.learn(showing(e, hidden, "NaN"), **given)


def test_the_update_of_a_whole_stream_looks_everywhere_and_refuses_nan() -> None:
    e, signals, hidden = stream("any")
    coefficients = PTD().coefficients(
        discount_t=e.discount_t, beta=signals["beta"], rho=signals["rho"]
    )
    given = StreamCoefficients(signals["beta"], coefficients, Carried())
    assert np.isfinite(forward_update(e, given, np.ones(SIZE))).all()
    with pytest.raises(InputError, match=r"^the TD error of step \d+ is not finite: leave out"):
        forward_update(showing(e, hidden, "NaN"), given, np.ones(SIZE))
