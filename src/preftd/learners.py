"""Learners: coefficients and experience become weights."""

from typing import TYPE_CHECKING

from preftd._src.lazy import lazy

if TYPE_CHECKING:
    from preftd._src.learners.actor_critic.learner import ActorCriticLearner
    from preftd._src.learners.actor_critic.options import Actor, Critic
    from preftd._src.learners.actor_critic.specification import ActorCritic
    from preftd._src.learners.custom import Custom, Episode, as_spec
    from preftd._src.learners.growth import GrowthWarning
    from preftd._src.learners.least_squares.learner import LeastSquares, LeastSquaresLearner
    from preftd._src.learners.linear.batch import Linear
    from preftd._src.learners.linear.learner import LinearLearner
    from preftd._src.learners.network.batch import Network
    from preftd._src.learners.network.learner import NetworkLearner
    from preftd._src.learners.offline import forward_update, offline_update
    from preftd._src.learners.pretrained import Pretrained, PretrainedLearner, Training
    from preftd._src.learners.returns import beta_advantages, beta_returns
    from preftd._src.learners.step_size import Decreasing, StepSizePair
    from preftd._src.learners.steps import Steps
    from preftd._src.learners.transition import DivergedError

__getattr__, __dir__ = lazy(
    __name__,
    {
        "actor_critic.learner": "ActorCriticLearner",
        "actor_critic.options": "Actor Critic",
        "actor_critic.specification": "ActorCritic",
        "custom": "Custom Episode as_spec",
        "growth": "GrowthWarning",
        "least_squares.learner": "LeastSquares LeastSquaresLearner",
        "linear.batch": "Linear",
        "linear.learner": "LinearLearner",
        "network.batch": "Network",
        "network.learner": "NetworkLearner",
        "offline": "forward_update offline_update",
        "pretrained": "Pretrained PretrainedLearner Training",
        "returns": "beta_advantages beta_returns",
        "step_size": "Decreasing StepSizePair",
        "steps": "Steps",
        "transition": "DivergedError",
    },
)

__all__ = [
    "Actor",
    "ActorCritic",
    "ActorCriticLearner",
    "Critic",
    "Custom",
    "Decreasing",
    "DivergedError",
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
