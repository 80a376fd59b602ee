"""Learners of one seed that set λ or β by themselves, one for each step size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, final

import numpy as np

from preftd._src.arrays import Dense, Vector, as_count
from preftd._src.learners.custom import Episode
from preftd._src.learners.step_size import StepSize, as_step_sizes, step_sizes_of
from preftd._src.learners.steps import Steps, check_steps, mean_squared_error, scored_features
from preftd._src.learners.transition import MOST_FEATURES
from preftd._src.paper.learned.rivals.cells import Cells, with_constant
from preftd._src.tasks.scored import Scored


class Lesson(NamedTuple):
    """One episode of T steps, as kernels take it: d features, and m numbers that beliefs go by."""

    x: Dense
    """x_t, shape (T, d)."""
    x_next: Dense
    """x_{t+1}, shape (T, d)."""
    z: Dense
    """What beliefs about x_t are linear in, shape (T, m)."""
    z_next: Dense
    """The same of x_{t+1}, shape (T, m)."""
    reward: Vector
    discount_t: Vector
    discount_tp1: Vector


Teach: TypeAlias = Callable[[Lesson, Dense, Dense, Dense, Dense], None]
"""Learns from a lesson, given step sizes of shape (T, lanes), weights of shape (lanes, d) and
beliefs of shape (lanes, rows, m), which it changes, and trust of shape (T, lanes), which it fills:
1 − λ, β, the emphasis, or whether a TD target counts."""


@final
class RivalBatch:
    """Linear learners with beliefs, from which they set λ or β.

    Parameters
    ----------
    size : int
        The number of features.
    step_sizes : sequence
        One for each learner.
    teach : callable
    rows : int
        How many beliefs there are.
    cells : bool
        Whether beliefs go by cells; otherwise they are linear in the features and a constant.

    """

    def __init__(
        self, size: int, step_sizes: Sequence[StepSize], teach: Teach, rows: int, cells: bool
    ) -> None:
        self._size = as_count("size", size, 1, MOST_FEATURES)
        self._step_sizes, self._teach = as_step_sizes(step_sizes), teach
        self._cells = Cells() if cells else None
        self._steps = 0
        lanes = len(self._step_sizes)
        self.weights = np.zeros((lanes, self._size))
        self.beliefs = np.zeros((lanes, rows, 1 if cells else self._size + 1))
        self.trust = np.ones((0, lanes))
        """How far each observation of the last episode was trusted, shape (T, lanes)."""

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors, episodes × step sizes."""
        check_steps(steps, self._size, scored)
        shown, errors = scored_features(scored), []
        for which in steps.episodes():
            lesson = self.lesson(Episode.of(steps, which))
            count = len(lesson.x)
            alphas = step_sizes_of(self._step_sizes, self._steps, count)
            alphas = np.ascontiguousarray(np.broadcast_to(alphas, (count, alphas.shape[1])))
            self.trust = np.ones(alphas.shape)
            self._teach(lesson, alphas, self.weights, self.beliefs, self.trust)
            self._steps += count
            with np.errstate(all="ignore"):  # weights that diverge have an infinite error
                values = self.weights @ shown.T
            errors.append([mean_squared_error(v, scored) for v in values])
        return np.array(errors).reshape(-1, len(self._step_sizes))

    def lesson(self, episode: Episode) -> Lesson:
        """An episode with what beliefs go by; there is room in `beliefs` for new cells."""
        x, x_next = episode.features, episode.next_features
        if self._cells is None:
            z, z_next = with_constant(x), with_constant(x_next)
        else:
            z = self._cells.see(x)
            z_next = np.concatenate([z[1:], self._cells.look_up(x_next[-1])[None]])
            more = z.shape[1] - self.beliefs.shape[2]
            self.beliefs = np.pad(self.beliefs, ((0, 0), (0, 0), (0, more)))
        into, out = episode.discount_t, episode.discount_tp1
        return Lesson(x, x_next, z, z_next, episode.reward, into, out)
