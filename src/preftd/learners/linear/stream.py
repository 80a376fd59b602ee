"""A stream, or a piece of one, as every view of linear learning learns it."""

import numpy as np

from preftd.arrays import Vector
from preftd.experience import Experience
from preftd.learners.bounding import squares_of, with_bounded_gains
from preftd.learners.growth import PEAK, compare_value, note_rewards
from preftd.learners.linear.forward import learn_forward
from preftd.learners.linear.state import LinearState
from preftd.learners.offline import values_along
from preftd.learners.steps import Steps, check_steps, has_weight
from preftd.learners.transition import refused_step, refused_stream


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
