"""The forward view with Adam: one step per episode along the mean update of its steps.

Not along their sum: in Adam's moments, long episodes would count for more than short ones.
"""

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.learners.network.forward import add_updates, work_for
from preftd._src.learners.network.layers import Weights, compiled, like, score
from preftd._src.learners.steps import Steps
from preftd._src.tasks.scored import Scored

FIRST, SECOND, TINY = 0.9, 0.999, 1e-8


@compiled
def learn_adam(
    weights: Weights,
    moments: tuple[Weights, Weights, Vector],
    units: int,
    step_sizes: Vector,
    steps: Steps,
    scored: Scored,
    errors: Dense,
) -> None:
    """Learn from whole episodes; moments are m, v and the number of steps, and are kept."""
    work, spare = work_for(weights, steps), np.empty(weights.out.size)
    mean, square, taken = moments
    change, share = like(weights), np.empty(step_sizes.size)
    squares = np.zeros(steps.code_t.size)  # steps are not bounded
    lanes, columns = step_sizes.size, weights.out.size
    by_column = np.zeros(columns)
    for lane in range(lanes):
        by_column[lane * units : (lane + 1) * units] = step_sizes[lane]
    begin, episode = 0, 0
    for t in range(steps.code_t.size):
        if steps.is_last[t]:
            change.hidden[:], change.hidden_bias[:] = 0.0, 0.0
            change.out[:], change.bias[:] = 0.0, 0.0
            share[:] = 1 / (t + 1 - begin)
            span = (int(begin), t + 1)  # of the literal 0, numba would compile once more
            add_updates(weights, units, share, steps, squares, span, work, change)
            taken[0] += 1
            _step(weights.hidden, change.hidden, mean.hidden, square.hidden, by_column, taken[0])
            _step(
                weights.hidden_bias,
                change.hidden_bias,
                mean.hidden_bias,
                square.hidden_bias,
                by_column,
                taken[0],
            )
            _step(weights.out, change.out, mean.out, square.out, by_column, taken[0])
            _step(weights.bias, change.bias, mean.bias, square.bias, step_sizes, taken[0])
            score(weights, units, scored, spare, errors[episode])
            begin, episode = t + 1, episode + 1


@compiled
def _step(
    weights: Vector,
    change: Vector,
    mean: Vector,
    square: Vector,
    step_sizes: Vector,
    taken: float,
) -> None:
    """Let m ← 0.9 m + 0.1 Δ,  v ← 0.999 v + 0.001 Δ²,  w ← w + α m̂ / (√v̂ + 1e-8)."""
    sizes = step_sizes.size
    for k in range(weights.size):
        mean[k] = FIRST * mean[k] + (1 - FIRST) * change[k]
        square[k] = SECOND * square[k] + (1 - SECOND) * (change[k] * change[k])
        scale = np.sqrt(square[k]) / np.sqrt(1 - SECOND**taken) + TINY
        weights[k] += step_sizes[k % sizes] / (1 - FIRST**taken) * (mean[k] / scale)
