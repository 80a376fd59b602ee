"""Compiled runs equal the learner in a Gymnasium environment, step by step, to the bit."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from preftd import ETD, PTD, TD, Actor, ActorCritic, Critic, Rule, StepSizePair, tasks
from preftd._src.arrays import InputError
from preftd._src.learners.actor_critic.options import GAINS
from preftd._src.learners.actor_critic.run import Classes, compiled_run
from preftd._src.learners.actor_critic.specification import MEASURES
from preftd._src.rules.interest import FromBeta
from preftd.experience import Fourier, Polynomial, TileCoding
from preftd.preferences import Constant, Displacement, Function, Observability, PerState, Signal

PAIR = StepSizePair(actor=0.05, critic=1e-3)
MOVED = Displacement({0: 0.5, 1: 0.5, 2: 0.05})
LOW, HIGH = [-2.4, -3.0, -0.21, -3.0], [2.4, 3.0, 0.21, 3.0]
CARTPOLE = tasks.CartPole(limit=60)
GRID = tasks.ControlTask(tasks.make("cross_grid", size=4), limit=40)
CRITICS = {
    "raw": Critic(),
    "terminates": Critic(truncation="terminate", bias=True),
    "true online": Critic("true_online"),
    "held": Critic("held", bias=True),
    "tiles": Critic("held", TileCoding(LOW, HIGH, [4, 4, 4, 4], 4), bias=True),
    "cosines": Critic("true_online", Fourier(LOW, HIGH, 1)),
}
ACTORS = {
    "tanh": Actor(),
    "relu": Actor(8, "relu", bias=True, optimiser="sgd", reduction="mean", gain="one"),
}


def _assert_equal(
    spec: ActorCritic,
    task: Any,
    rule: Rule,
    preference: Signal,
    rtol: float = 0.0,
    pair: StepSizePair = PAIR,
) -> None:
    """Compare measures and weights of a compiled run with the learner in the environment."""
    spec = spec.for_rule(rule)
    compiled, measured = compiled_run(spec, task, rule, preference), np.zeros((4, 12))
    assert compiled is not None
    learned = compiled.run(pair, 7, measured)
    assert learned is not None
    environment = task.environment()
    inputs, actions = environment.observation_space.shape[0], int(environment.action_space.n)
    learner = spec.learner(inputs, actions, rule, pair, 7)
    found = learner.learn(environment, preference, 12, discount=task.discount, seed=7)
    np.testing.assert_array_equal(measured, np.array(found))
    assert len(set(measured[2].tolist())) > 3
    np.testing.assert_allclose(learned.critic.weights, learner.weights, rtol, rtol)
    np.testing.assert_allclose(learned.actor.weights.flat, learner.parameters.flat, rtol, rtol)
    assert learned.critic.weights.any()


@pytest.mark.parametrize("critic", CRITICS.values(), ids=CRITICS)
@pytest.mark.parametrize("actor", ACTORS.values(), ids=ACTORS)
def test_compiled_runs_equal_the_learner_in_cartpole(actor: Actor, critic: Critic) -> None:
    # NumPy's cosines may differ in the last digit from those of the C library.
    rtol = 1e-12 if isinstance(critic.features, Fourier) else 0.0
    _assert_equal(ActorCritic(actor, critic), CARTPOLE, PTD(), MOVED, rtol)


@pytest.mark.parametrize("critic", CRITICS.values(), ids=CRITICS)
def test_so_they_are_when_steps_are_bounded(critic: Critic) -> None:
    rtol = 1e-12 if isinstance(critic.features, Fourier) else 0.0
    pair = StepSizePair(actor=0.05, critic=2.0)  # nearly every step is
    spec = ActorCritic(Actor(), replace(critic, bounded=True))
    _assert_equal(spec, CARTPOLE, PTD(), MOVED, rtol, pair)


INTERESTS = {
    "number": 0.5,
    "from β": FromBeta(lambda beta: 0.5 * beta),
    "observable": Observability(0.5, 0.1),
    "per state": np.linspace(0, 1, GRID.task.states),
}


@pytest.mark.parametrize("interest", INTERESTS.values(), ids=INTERESTS)
@pytest.mark.parametrize(
    "preference",
    [
        Constant(0.4),
        Observability(1.0, 0.1),
        PerState(np.linspace(1, 0, GRID.task.states)),
        Displacement({0: 0.5}, between=0.2),
    ],
    ids=["constant", "observable", "per state", "moved"],
)
def test_compiled_runs_equal_the_learner_with_every_interest(
    preference: Signal, interest: Any
) -> None:
    # The gain is rounded in another order.
    _assert_equal(ActorCritic(), GRID, ETD(interest), preference, rtol=1e-12)


@pytest.mark.parametrize("rule", [TD(), PTD(), ETD(0.5)], ids=["TD", "PTD", "ETD"])
def test_the_gain_of_a_class_is_affine_in_the_follow_on(rule: Rule) -> None:
    classes = Classes.of(rule, Observability(0.9, 0.2))
    assert classes is not None
    for b, beta in enumerate([0.2, 0.9]):
        assert classes.beta[b] == beta
        own = classes.interest[b, 0]
        gain = rule.gain(beta, own, 3.7)
        assert classes.base[b, 0] + 3.7 * classes.slope[b, 0] == pytest.approx(gain, rel=1e-12)


class _Curved(Rule):
    """A rule that breaks the law: its gain is not affine in F."""

    name = "curved"

    @property
    def interest(self) -> float:
        return 1.0

    def gain(self, beta: Any, interest: Any, follow_on: Any) -> Any:  # noqa: ARG002
        return beta * follow_on**2


class _Limited(_Curved):
    """A rule that breaks it only where F is large."""

    name = "limited"

    def gain(self, beta: Any, interest: Any, follow_on: Any) -> Any:  # noqa: ARG002
        return np.minimum(follow_on, 10.0)


class _Doubled(Rule):
    """A rule that changes more than the gain."""

    name = "doubled"

    def gain(self, beta: Any, interest: Any, follow_on: Any) -> Any:  # noqa: ARG002
        return beta

    def advance(self, *given: Any) -> tuple[float, float, float, float]:
        share, decay, gain, carried = super().advance(*given)
        return share, decay, 2 * gain, carried


_FINAL: Any = Displacement  # mypy keeps you from inheriting, Python does not


class _Still(_FINAL):  # type: ignore[misc]
    """A preference that changes what it inherits."""

    def at(self, visit: Any, memory: Any) -> Any:  # noqa: ARG002
        return 0.25, memory


@pytest.mark.parametrize("beta", [1e-6, 0.1, 1.0])
def test_the_rules_of_the_paper_compile_whatever_their_interest(beta: float) -> None:
    for interest in (1e-3, 0.5, 1e5):
        assert Classes.of(ETD(interest), Constant(beta)) is not None


def test_what_cannot_be_compiled_runs_in_python_with_its_own_results() -> None:
    spec, few = ActorCritic(), tasks.CartPole(limit=30)
    same = Function(lambda x: float(abs(x[2]) > 0.02))
    polynomial = ActorCritic(critic=Critic(features=Polynomial(4, 1)))
    for case, rule, preference in (
        (spec, _Curved(), MOVED),
        (spec, _Limited(), MOVED),
        (spec, PTD(), _Still({0: 0.5})),
        (spec, _Doubled(), MOVED),
        (spec, PTD(), same),
        (polynomial, PTD(), MOVED),
    ):
        assert compiled_run(case, few, rule, preference) is None
        found = case.run(few, rule, preference, [PAIR], 5, 1)
        learner = case.learner(4, 2, rule, PAIR, 1)
        wanted = learner.learn(few.environment(), preference, 5, discount=0.99, seed=1)
        np.testing.assert_array_equal(found["return"][0], wanted.returns)
    # A polynomial of degree 1 is the observation with a bias.
    biased = ActorCritic(critic=Critic(bias=True)).run(few, PTD(), MOVED, [PAIR], 5, 1)
    np.testing.assert_array_equal(found["return"], biased["return"])


def test_a_signal_says_itself_why_it_cannot_be_used() -> None:
    for preference, why in (
        (Observability(), "observable"),
        (PerState([0.5, 1.0]), "does not know its states"),
        (Displacement({4: 1.0}), "entry 4"),
    ):
        with pytest.raises(InputError, match=why):
            ActorCritic().run(CARTPOLE, PTD(), preference, [PAIR], 2, 0)
    with pytest.raises(InputError, match="covers states 0 to 1"):
        ActorCritic().run(GRID, PTD(), PerState([0.5, 1.0]), [PAIR], 2, 0)


def test_each_pair_of_step_sizes_is_a_run_of_its_own() -> None:
    pairs = StepSizePair.grid(actor=[0.1, 0.01], critic=[1e-1, 1e-5])
    together = ActorCritic().run(CARTPOLE, PTD(), MOVED, pairs, 30, 3)
    for row, pair in enumerate(pairs):
        alone = ActorCritic().run(CARTPOLE, PTD(), MOVED, [pair], 30, 3)
        for name in MEASURES:
            assert together[name].shape == (4, 30)
            np.testing.assert_array_equal(together[name][row], alone[name][0])
    assert len({tuple(row) for row in together["return"].tolist()}) == 4


def test_an_episode_may_be_longer_than_the_memory_there_was(monkeypatch: Any) -> None:
    wanted = ActorCritic().run(tasks.CartPole(limit=0), PTD(), MOVED, [PAIR], 30, 3)
    assert wanted["steps"].max() > 40
    monkeypatch.setattr("preftd._src.learners.actor_critic.run.CAPACITY", 5)
    found = ActorCritic().run(tasks.CartPole(limit=0), PTD(), MOVED, [PAIR], 30, 3)
    np.testing.assert_array_equal(found["return"], wanted["return"])


def test_a_run_that_diverges_has_no_measures_from_there_on() -> None:
    wild = StepSizePair(actor=0.05, critic=1e3)
    spec, rule = ActorCritic(), ETD(0.5)
    found = spec.run(CARTPOLE, rule, MOVED, [wild, PAIR], 30, 3)
    lost = np.isnan(found["return"])
    assert lost[0].any()
    assert not lost[1].any()
    first = int(np.argmax(lost[0]))
    assert lost[0, first:].all()
    learner = spec.learner(4, 2, rule, wild, 3)
    environment = CARTPOLE.environment()
    for episode in range(first):
        learner.learn(environment, MOVED, 1, discount=0.99, seed=None if episode else 3)
    with pytest.raises(InputError, match="not finite"):
        learner.learn(environment, MOVED, 1, discount=0.99)


def test_measures_are_what_their_names_say() -> None:
    found = ActorCritic().run(CARTPOLE, PTD(), Constant(1.0), [PAIR], 20, 5)
    np.testing.assert_array_equal(found["return"], found["steps"])
    np.testing.assert_array_equal(found["preferred"], 1.0)
    sums = (1 - 0.99 ** found["steps"]) / 0.01
    np.testing.assert_allclose(found["discounted"], sums, rtol=1e-12)
    moved = ActorCritic().run(CARTPOLE, PTD(), MOVED, [PAIR], 20, 5)["preferred"]
    assert ((moved > 0) & (moved < 1)).all()


DROPPED_PAIR = StepSizePair(actor=0.05, critic=0.02)
DROPPED = tasks.CartPoleDropOuts(dropped=0.4, limit=60)
TILES = TileCoding([-2.4, -3.0, -0.21, -3.0], [2.4, 3.0, 0.21, 3.0], [3] * 4, 4)
DROPPED_CRITICS = {
    "raw": Critic(),
    "held": Critic("held", bias=True),
    "held tiles": Critic("held", TILES),
}


@pytest.mark.parametrize("critic", DROPPED_CRITICS)
@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("rule", [TD(), PTD(), ETD(0.5)], ids=["TD", "PTD", "ETD"])
def test_compiled_runs_equal_the_learner_with_drop_outs(rule: Rule, gain: str, critic: str) -> None:
    spec = ActorCritic(Actor(bias=True, gain=gain), DROPPED_CRITICS[critic])
    preference = Observability(observable=0.8, hidden=0.0)
    found = spec.run(DROPPED, rule, preference, [DROPPED_PAIR], 15, 3)
    learner = spec.learner(4, 2, rule, DROPPED_PAIR, 3)
    told = learner.learn(DROPPED.environment(), preference, 15, discount=DROPPED.discount, seed=3)
    assert (found["return"][0] == told.returns).all()
    np.testing.assert_allclose(found["discounted"][0], told.discounted, rtol=1e-12)
    assert told.preferred.sum() == 0  # β is 0.8 or 0


def test_what_the_actor_is_weighted_by_matters() -> None:
    def returns(rule: Rule, gain: str) -> list[float]:
        spec = ActorCritic(Actor(gain=gain), Critic(bias=True))
        return list(spec.run(DROPPED, rule, Observability(), [DROPPED_PAIR], 40, 0)["return"][0])

    assert returns(PTD(), "rule") == returns(PTD(), "beta") != returns(PTD(), "one")
    assert returns(TD(), "rule") == returns(TD(), "one") != returns(TD(), "beta")
