"""A stream, or a piece of one, as every view of linear learning learns it."""

import numpy as np

from preftd._src.arrays import Vector
from preftd._src.learners.bounding import squares_of, with_bounded_gains
from preftd._src.learners.growth import PEAK, compare_value, note_rewards
from preftd._src.learners.linear.state import LinearState
from preftd._src.learners.offline import advantages, spread, values_along
from preftd._src.learners.steps import Steps, check_steps, discount_into, has_weight
from preftd._src.learners.transition import refused_step, refused_stream
from preftd.experience import Experience


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
    used = has_weight(steps)
    looks = np.append(used[1:], False)
    looks[steps.is_last] = steps.discount_tp1[steps.is_last] != 0
    discount = np.append(discount_into(steps.discount_t, steps.beta, steps.decay)[1:], 0.0)
    discount[steps.is_last] = steps.discount_tp1[steps.is_last]
    for which in steps.episodes():
        episode, gain = experience[which], steps.gain[which]
        # Values without a weight cancel, whatever they are: so they are taken to be 0.
        with np.errstate(over="ignore", invalid="ignore"):
            value_t, value_tp1 = np.zeros((2, gain.size))
            value_t[used[which]] = values_along(episode, episode.code_t[used[which]], weights)
            value_tp1[looks[which]] = values_along(episode, episode.code_tp1[looks[which]], weights)
            td_error = episode.reward + discount[which] * value_tp1 - value_t
        if not np.isfinite(td_error).all():
            bad = which.start + int(np.argmin(np.isfinite(td_error)))
            raise refused_step(steps, bad, everywhere=False)
        updated = np.flatnonzero(gain)
        with np.errstate(over="ignore", invalid="ignore"):
            amount = step_sizes[which] * gain * advantages(td_error, steps.decay[which])
            weights = weights + scale * spread(episode, updated, amount[updated])
    return weights


def learn_steps(
    state: LinearState,
    bounded: bool,
    experience: Experience,
    steps: Steps,
    step_sizes: Vector,
    follow_on: float,
) -> None:
    """Learn one prediction from a stream; all of it or nothing.

    Parameters
    ----------
    state : LinearState
    bounded : bool
        Whether steps are.
    experience, steps
        The same stream, with its features and with its coefficients.
    step_sizes : array of shape (steps,) or (1,)
    follow_on : float
        What the rule carries after the stream.

    """
    check_steps(steps, state.scale.size)
    if bounded:
        steps = with_bounded_gains(steps, step_sizes, squares_of(steps, state.scale))
    used = np.flatnonzero(has_weight(steps))
    if state.column[PEAK] < 0 and used.size:
        state.check_growth(experience.features(used[:1])[0])
    if state.view == "forward":
        sizes = np.broadcast_to(step_sizes, (len(experience),))
        weights = learn_forward(experience, steps, sizes, state.scale, state.weights[:, 0])
        if not np.isfinite(weights).all():
            raise refused_stream(steps, everywhere=False)
        state.learned(weights, len(experience), follow_on)
        note_rewards(steps.reward, steps.discount_t, state.work)
        with np.errstate(over="ignore", invalid="ignore"):
            values = values_along(experience, experience.code_t[used], weights)
        compare_value(float(np.abs(values).max(initial=0.0)), state.work, 0)
        return
    done = state.learn(steps, step_sizes, follow_on)
    if done < len(experience):
        raise refused_step(steps, done, not state.holds)
