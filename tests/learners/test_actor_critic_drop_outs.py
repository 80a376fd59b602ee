"""Compiled runs on CartPole with drop-outs equal the learner in the environment."""

import numpy as np
import pytest

from preftd import ETD, PTD, TD, Actor, ActorCritic, Critic, Rule, StepSizePair
from preftd._src.learners.actor_critic.options import GAINS
from preftd.experience import TileCoding
from preftd.preferences import Observability
from preftd.tasks import CartPoleDropOuts

PAIR = StepSizePair(actor=0.05, critic=0.02)
TASK = CartPoleDropOuts(dropped=0.4, limit=60)
TILES = TileCoding([-2.4, -3.0, -0.21, -3.0], [2.4, 3.0, 0.21, 3.0], [3] * 4, 4)
CRITICS = {
    "raw": Critic(),
    "held": Critic("held", bias=True),
    "held tiles": Critic("held", TILES),
}


@pytest.mark.parametrize("critic", CRITICS)
@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("rule", [TD(), PTD(), ETD(0.5)], ids=["TD", "PTD", "ETD"])
def test_compiled_runs_equal_the_learner(rule: Rule, gain: str, critic: str) -> None:
    spec = ActorCritic(Actor(bias=True, gain=gain), CRITICS[critic])
    preference = Observability(observable=0.8, hidden=0.0)
    found = spec.run(TASK, rule, preference, [PAIR], 15, 3)
    learner = spec.learner(4, 2, rule, PAIR, 3)
    told = learner.learn(TASK.environment(), preference, 15, discount=TASK.discount, seed=3)
    assert (found["return"][0] == told.returns).all()
    np.testing.assert_allclose(found["discounted"][0], told.discounted, rtol=1e-12)
    assert told.preferred.sum() == 0  # β is 0.8 or 0


def test_what_the_actor_is_weighted_by_matters() -> None:
    def returns(rule: Rule, gain: str) -> list[float]:
        spec = ActorCritic(Actor(gain=gain), Critic(bias=True))
        return list(spec.run(TASK, rule, Observability(), [PAIR], 40, 0)["return"][0])

    assert returns(PTD(), "rule") == returns(PTD(), "beta") != returns(PTD(), "one")
    assert returns(TD(), "rule") == returns(TD(), "one") != returns(TD(), "beta")
