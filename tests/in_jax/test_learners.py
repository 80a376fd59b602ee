"""Learners in JAX learn what those of the library learn, in every view and by every rule."""

from __future__ import annotations

import itertools
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from learners.linear_cases import SIZE, Case, case
from preftd import ETD, PTD, TD, InputError, LinearLearner, NetworkLearner
from preftd.jax import Transition, bounded, checked, held, linear, obgd, trace, value_learner
from preftd.rules import FromBeta, Rule

RULES: dict[str, Rule] = {
    "TD": TD(),
    "PTD": PTD(),
    "ETD": ETD(0.5),
    "ETD of β": ETD(FromBeta(lambda beta: 0.5 + beta)),
}
VIEWS = ("backward", "true_online", "held")
UNITS, ALPHA = 4, 0.05
WAYS = [
    (kind, view, bounds)
    for kind, view, bounds in itertools.product(("linear", "network"), VIEWS, (False, True))
    if kind == "linear" or view != "true_online"
]


class Numbered(Rule):
    """A rule of the table by its number, which may be traced: all are compiled once."""

    name = "numbered"

    def __init__(self, number: Any) -> None:
        self.number = number

    @property
    def interest(self) -> FromBeta:
        of_beta = jnp.array([name == "ETD of β" for name in RULES])
        return FromBeta(lambda beta: jnp.where(of_beta[self.number], 0.5 + beta, 0.5))

    def gain(self, beta: Any, interest: Any, follow_on: Any) -> Any:
        return jnp.stack([one.gain(beta, interest, follow_on) for one in RULES.values()])[
            self.number
        ]


def ended(given: Case) -> Case:
    """The same stream, truncated at its end."""
    given.experience.is_last.setflags(write=True)
    given.experience.is_last[-1] = True
    return given


STREAM = ended(case(0, 60))


def transitions(given: Case, interest: bool = True) -> Transition:
    e = given.experience
    return Transition(
        e.features(slice(None)),
        e.reward,
        e.next_features(slice(None)),
        e.discount_tp1,
        given.beta,
        interest=given.interest if interest else None,
        rho=given.rho,
        truncated=np.asarray(e.is_last & (e.discount_tp1 != 0)),
        next_beta=np.full(len(e), 0.7),
    )


def two_layers(params: Any, x: Any) -> Any:
    hidden, hidden_bias, out, bias = params
    return jax.nn.relu(x @ hidden + hidden_bias) @ out + bias


def optimiser(view: str, bounds: bool, alpha: Any = ALPHA) -> Any:
    before = bounded(alpha) if bounds else optax.identity()
    if view == "held":
        return held(before=before, after=optax.scale(alpha))
    return optax.chain(before, trace(), optax.scale(alpha))


def network(rule: str, view: str, bounds: bool) -> NetworkLearner:
    return NetworkLearner(SIZE, RULES[rule], ALPHA, UNITS, view=view, bounded=bounds, seed=3)


@cache
def learned() -> Any:
    """States and TD errors of all rules, views and bounds: compiling costs more than learning."""
    start = jax.tree.map(jnp.asarray, tuple(network("TD", "held", False).parameters))
    stream = transitions(STREAM, interest=False)

    def run(number: Any) -> Any:
        found = {}
        for kind, view, bounds in WAYS:
            rule = Numbered(number)
            if kind == "linear":
                learner = linear(SIZE, rule, ALPHA, view=view, bounded=bounds)
            else:
                learner = value_learner(two_layers, rule, optimiser(view, bounds))
            begun = learner.init() if kind == "linear" else learner.init(start)
            found[kind, view, bounds] = jax.lax.scan(learner.step, begun, stream)
        return found

    return jax.jit(jax.vmap(run))(jnp.arange(len(RULES)))


@pytest.mark.parametrize("kind", ["linear", "network"])
@pytest.mark.parametrize("rule", RULES)
def test_they_have_the_weights_of_numpy_in_every_view(kind: str, rule: str) -> None:
    for one, view, bounds in WAYS:
        if one != kind:
            continue
        learner: Any = (
            LinearLearner(SIZE, RULES[rule], ALPHA, view=view, bounded=bounds)
            if kind == "linear"
            else network(rule, view, bounds)
        )
        given: dict[str, Any] = {"beta": STREAM.beta, "rho": STREAM.rho}
        learner.learn(STREAM.experience, **given, **({"final_beta": 0.7} if view == "held" else {}))
        expected = [learner.weights] if kind == "linear" else learner.parameters
        found = learned()[kind, view, bounds][0].params
        for ours, theirs in zip(jax.tree.leaves(found), expected, strict=True):
            wrong = f"{view}, bounded={bounds}"
            mine = ours[list(RULES).index(rule)]
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12, err_msg=wrong)
        assert np.abs(np.ravel(expected[0])).max() > 0.05


def test_td_errors_are_those_of_single_updates() -> None:
    e, index = STREAM.experience, list(RULES).index("ETD")
    x, x_next = e.features(slice(None)), e.next_features(slice(None))
    for view in VIEWS:
        learner = LinearLearner(SIZE, RULES["ETD"], ALPHA, view=view)
        for t, found in enumerate(np.asarray(learned()["linear", view, False][1])[index]):
            step: dict[str, Any] = {
                "discount": e.discount_tp1[t],
                "truncated": bool(e.is_last[t] and e.discount_tp1[t]),
            }
            step |= {"beta": STREAM.beta[t], "rho": STREAM.rho[t]}
            step |= {"next_beta": 0.7} if view == "held" and step["truncated"] else {}
            expected = learner.update(x[t], e.reward[t], x_next[t], **step)
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_interest_of_steps_and_single_steps_without_scan() -> None:
    learner, expected = linear(SIZE, ETD(), ALPHA), LinearLearner(SIZE, ETD(), ALPHA)
    stream = transitions(STREAM)
    state, step = learner.init(np.full(SIZE, 0.25)), jax.jit(learner.step)
    for t in range(12):
        state, _ = step(state, jax.tree.map(lambda one, t=t: one[t], stream))
    expected.load_state_dict(expected.state_dict() | {"weights": np.full((SIZE, 1), 0.25)})
    expected.learn(STREAM.experience[:12], **STREAM.part(0, 12).signals)
    np.testing.assert_allclose(state.params, expected.weights, rtol=1e-12)


def test_seeds_and_step_sizes_in_one_call() -> None:
    def draw(key: Any) -> Any:
        return 0.1 * jax.random.normal(key, (SIZE,))

    stream = transitions(STREAM)
    own = jnp.array([0.5, 1.0, 2.0])

    def run(key: Any, step_size: Any) -> Any:
        learner = value_learner(jnp.dot, PTD(), optimiser("held", True, step_size))
        return jax.lax.scan(learner.step, learner.init(draw(key)), stream)[0].params

    keys = jax.random.split(jax.random.key(0), 2)
    found = jax.jit(jax.vmap(jax.vmap(run, (None, 0)), (0, None)))(keys, own * ALPHA)
    assert found.shape == (2, 3, SIZE)
    one = LinearLearner(SIZE, PTD(), 2 * ALPHA, view="held", bounded=True)
    one.load_state_dict(one.state_dict() | {"weights": np.asarray(draw(keys[1]))[:, None]})
    one.learn(STREAM.experience, beta=STREAM.beta, rho=STREAM.rho, final_beta=0.7)
    np.testing.assert_allclose(found[1, 2], one.weights, rtol=1e-12)


@pytest.mark.parametrize("kind", [jnp.float32, jnp.bfloat16])
def test_weights_keep_their_type_next_to_a_stream_in_float64(kind: Any) -> None:
    start, stream = np.zeros(SIZE, kind), transitions(STREAM)
    learners = [linear(SIZE, ETD(), jnp.asarray(0.1), view=view, bounded=True) for view in VIEWS]
    learners += [value_learner(jnp.dot, ETD(), optimiser(view, True)) for view in VIEWS[::2]]
    for one in learners:
        state, _ = jax.eval_shape(partial(jax.lax.scan, one.step), one.init(start), stream)
        assert state.params.dtype == kind


def test_states_can_be_donated() -> None:
    one = jax.tree.map(lambda x: x[0], transitions(STREAM))
    for learner in (linear(SIZE, TD(), ALPHA), value_learner(jnp.dot, TD(), held())):
        step = jax.jit(learner.step, donate_argnums=0)
        state, _ = step(step(learner.init(jnp.zeros(SIZE)), one)[0], one)
        assert np.isfinite(state.params).all()


WILD = [np.nan, -99.0]


def hidden_stream() -> tuple[Transition, Any]:
    """A stream whose hidden steps have neither β nor interest, and where these are."""
    given = transitions(STREAM)
    hidden = np.random.default_rng(1).random(len(STREAM.experience)) < 0.5
    beta, interest = (np.where(hidden, 0.0, one) for one in (given.beta, given.interest))
    return given._replace(beta=beta, interest=interest), hidden


def showing(stream: Transition, hidden: Any, what: float) -> Transition:
    """The same with something else at hidden steps, also where these are x'."""
    last = np.asarray(stream.truncated) | (stream.discount == 0)
    into = np.append(hidden[1:], False) & ~last
    rows = np.where(hidden[:, None], what, stream.features)
    after = np.where(into[:, None], what, stream.next_features)
    return stream._replace(features=rows, next_features=after)


@pytest.mark.parametrize("kind", ["linear", pytest.param("network", marks=pytest.mark.slow)])
def test_what_hidden_steps_show_changes_neither_weights_nor_their_gradients(kind: str) -> None:
    stream, hidden = hidden_stream()
    start = jax.tree.map(jnp.asarray, tuple(network("TD", "held", False).parameters))
    begun = jnp.full(SIZE, 0.1) if kind == "linear" else start

    def run(params: Any, alpha: Any, stream: Transition) -> Any:
        rule = ETD()
        learner = linear(SIZE, rule, alpha, view="held", bounded=True)
        if kind == "network":
            learner = value_learner(two_layers, rule, optimiser("held", True, alpha))
        state, _ = jax.lax.scan(learner.step, learner.init(params), stream)
        return sum((one**2).sum() for one in jax.tree.leaves(state.params))

    both = jax.jit(jax.value_and_grad(run, (0, 1)))
    expected = both(begun, ALPHA, stream)
    for what in WILD:
        found = both(begun, ALPHA, showing(stream, hidden, what))
        for one, other in zip(*map(jax.tree.leaves, (found, expected)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_td_errors_of_what_is_not_known_are_nan_and_no_others() -> None:
    stream, hidden = hidden_stream()
    learner = linear(SIZE, ETD(), ALPHA, view="held")
    scan = jax.jit(partial(jax.lax.scan, learner.step))
    _, expected = scan(learner.init(), stream)
    _, found = scan(learner.init(), showing(stream, hidden, np.nan))
    last = np.asarray(stream.truncated) | (stream.discount == 0)
    unknown = hidden | (np.append(hidden[1:], False) & ~last)
    np.testing.assert_allclose(found, np.where(unknown, np.nan, expected), rtol=1e-12)


def test_the_bound_of_obgd_is_that_of_its_authors() -> None:
    stream, alpha = transitions(STREAM), 0.3
    optimise = optax.chain(trace(), obgd(alpha), optax.scale(alpha))
    learner = value_learner(jnp.dot, TD(), optimise)
    state, _ = jax.jit(partial(jax.lax.scan, learner.step))(learner.init(jnp.zeros(SIZE)), stream)
    e = STREAM.experience
    decay, gain = TD().coefficients(discount_t=e.discount_t, beta=STREAM.beta, rho=STREAM.rho)
    w, along, factors = np.zeros(SIZE), np.zeros(SIZE), []
    for t, (x, x_next) in enumerate(zip(stream.features, stream.next_features, strict=True)):
        along = decay[t] * along + gain[t] * x
        delta = e.reward[t] + e.discount_tp1[t] * (w @ x_next) - w @ x
        reach = alpha * 2.0 * max(abs(delta), 1.0) * np.abs(along).sum()
        factors.append(1 / max(reach, 1.0))
        w = w + alpha * factors[-1] * delta * along
    np.testing.assert_allclose(state.params, w, rtol=1e-12)
    assert min(factors) < 0.9
    assert max(factors) == 1


def test_values_are_checked_where_checkify_asks_for_it() -> None:
    stream = transitions(STREAM)
    learner = linear(SIZE, PTD(), ALPHA)
    scan = checked(jax.jit(partial(jax.lax.scan, learner.step)))
    error, _ = scan(learner.init(), stream)
    assert error.get() is None
    error, _ = scan(learner.init(), stream._replace(beta=np.append(stream.beta[:-1], 1.5)))
    assert "beta holds 1.5: every entry must lie in [0, 1]." in str(error.get())


def single(**changed: Any) -> Transition:
    given: dict[str, Any] = {"features": np.ones(2), "next_features": np.ones(2), "reward": 1.0}
    return Transition(**given | {"discount": 0.9, "beta": 0.5} | changed)


wrong: Any = {"TD": TD, "text": "no", "number": 3}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: linear(0, TD(), 0.1), "size is 0: give 1 or more"),
        (
            lambda: linear(2, wrong["TD"], 0.1),
            "rule is <class .*: give an instance",
        ),
        (lambda: linear(2, TD(), -0.1), r"step_size is -0\.1: give a number above 0"),
        (lambda: linear(2, TD(), 0.1, view="forward"), "there is no view 'forward'"),
        (
            lambda: linear(2, TD(), 0.1, bounded=wrong["text"]),
            "bounded is 'no': give",
        ),
        (lambda: linear(2, TD(), 0.1).init(jnp.zeros(3)), r"shape \(3,\): give 2 of them"),
        (lambda: value_learner(jnp.dot, TD(), 0.1), "optimiser is 0.1: give optax.chain"),
        (lambda: value_learner(wrong["number"], TD(), held()), "apply is 3: give a function"),
        (lambda: stepped(single(features=np.ones(3))), r"features have shape \(3,\), next_fea"),
        (lambda: stepped(single(beta=1.5)), r"beta is 1\.5: every entry must lie in \[0, 1\]"),
        (lambda: stepped(single(reward=np.ones(2))), r"reward has shape \(2,\), which does not"),
        (lambda: stepped(single(truncated=np.ones(()))), "truncated is an array of float64: give"),
        (
            lambda: stepped(single(next_beta=2.0)),
            r"next_beta is 2: every entry must lie in \[0, 1\]",
        ),
        (lambda: stepped(single(interest=-1.0)), "interest is -1: every entry must be 0 or more"),
        (lambda: stepped(single(features=None)), "features is None: give an array of real numbers"),
        (
            lambda: stepped(single(features=1j * np.ones(2))),
            "features is array.*: give an array of r",
        ),
        (
            lambda: linear(2, PTD(), 0.1).step(wrong["number"], single()),
            "state is 3: give the state that init",
        ),
        (lambda: stepped((1.0, 2.0)), r"transition is \(1\.0, 2\.0\): give a Transition"),
        (
            lambda: stepped(single(), lambda w, x: w * x),
            r"apply returned shape \(2,\): let it",
        ),
    ],
)
def test_what_does_not_fit_is_refused_while_jax_traces(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def stepped(transition: Any, apply: Any = None) -> Any:
    learner = linear(2, PTD(), 0.1)
    if apply is not None:
        learner = value_learner(apply, PTD(), held(after=optax.scale(0.1)))
    return jax.jit(lambda: learner.step(learner.init(jnp.zeros(2)), transition))()
