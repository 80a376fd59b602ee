"""Learners: coefficients and experience become weights."""

from typing import TYPE_CHECKING

from preftd.lazy import lazy

if TYPE_CHECKING:
    from preftd.learners.actor_critic.learner import ActorCriticLearner
    from preftd.learners.actor_critic.options import Actor, Critic
    from preftd.learners.actor_critic.specification import ActorCritic
    from preftd.learners.custom import Custom, Episode, as_spec
    from preftd.learners.growth import GrowthWarning
    from preftd.learners.least_squares.batch import LeastSquares
    from preftd.learners.least_squares.learner import LeastSquaresLearner
    from preftd.learners.linear.batch import Linear
    from preftd.learners.linear.learner import LinearLearner
    from preftd.learners.network.batch import Network
    from preftd.learners.network.learner import NetworkLearner
    from preftd.learners.offline import forward_update, offline_update
    from preftd.learners.pretrained import Pretrained, PretrainedLearner, Training
    from preftd.learners.returns import beta_advantages, beta_returns
    from preftd.learners.step_size import Decreasing, StepSizePair
    from preftd.learners.steps import Steps

__getattr__ = lazy(
    __name__,
    {
        "actor_critic.learner": "ActorCriticLearner",
        "actor_critic.options": "Actor Critic",
        "actor_critic.specification": "ActorCritic",
        "custom": "Custom Episode as_spec",
        "growth": "GrowthWarning",
        "least_squares.batch": "LeastSquares",
        "least_squares.learner": "LeastSquaresLearner",
        "linear.batch": "Linear",
        "linear.learner": "LinearLearner",
        "network.batch": "Network",
        "network.learner": "NetworkLearner",
        "offline": "forward_update offline_update",
        "pretrained": "Pretrained PretrainedLearner Training",
        "returns": "beta_advantages beta_returns",
        "step_size": "Decreasing StepSizePair",
        "steps": "Steps",
    },
)

__all__ = [
    "Actor",
    "ActorCritic",
    "ActorCriticLearner",
    "Critic",
    "Custom",
    "Decreasing",
    "Episode",
    "GrowthWarning",
    "LeastSquares",
    "LeastSquaresLearner",
    "Linear",
    "LinearLearner",
    "Network",
    "NetworkLearner",
    "Pretrained",
    "PretrainedLearner",
    "StepSizePair",
    "Steps",
    "Training",
    "as_spec",
    "beta_advantages",
    "beta_returns",
    "forward_update",
    "offline_update",
]
