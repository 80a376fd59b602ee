"""The forward view of one linear learner: episode by episode, at the cost of what is not 0."""

import numpy as np

from preftd.arrays import Vector
from preftd.experience import Experience
from preftd.learners.returns import advantages, spread, values_along
from preftd.learners.steps import Steps
from preftd.learners.transition import DivergedError


def learn_forward(
    experience: Experience, steps: Steps, step_sizes: Vector, scale: Vector, weights: Vector
) -> Vector:
    """The weights after whole episodes, shape (size,).

    Δw = s ∘ Σ_t α_t gain_t A_t x_t, with weights held fixed during each episode.

    Parameters
    ----------
    experience, steps
        The same stream, with its features and with its coefficients.
    step_sizes : array of shape (steps,)
    scale : array of shape (size,)
        A factor for each feature.
    weights : array of shape (size,)

    """
    for which in steps.episodes():
        episode = experience[which]
        with np.errstate(over="ignore", invalid="ignore"):
            ahead = steps.discount_tp1[which] * values_along(episode, episode.code_tp1, weights)
            td_error = episode.reward + ahead - values_along(episode, episode.code_t, weights)
        if not np.isfinite(td_error).all():
            at = which.start + int(np.argmin(np.isfinite(td_error)))
            raise DivergedError(
                f"the prediction is not finite at step {at}: lower the step size; nothing of this "
                "stream was learned."
            )
        advantage = advantages(td_error, steps.decay[which])
        weights = weights + scale * spread(
            episode, step_sizes[which] * steps.gain[which] * advantage
        )
    return weights
