"""Signals that watch the learner: β depends on v(x_t) and on the last TD error.

β is then known only while learning, so that each learner goes through a stream by itself, one step
at a time. It works wherever learning one step at a time does: not in forward views, which look
ahead to the end of the episode, nor with least squares, whose weights are not those of a moment.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Protocol, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import Dense, InputError, as_array
from preftd._src.learners.custom import Specification
from preftd._src.learners.growth import GrowthWarning
from preftd._src.learners.step_size import StepSize
from preftd._src.learners.steps import UNFINISHED, final_betas, mean_squared_error, scored_features
from preftd._src.learners.streams import Memory
from preftd._src.learners.transition import DivergedError
from preftd._src.rules.interest import interest_along
from preftd._src.rules.rule import broadcast
from preftd._src.rules.stream import ratios
from preftd._src.tasks.scored import Scored
from preftd.experience import Experience, Indices
from preftd.preferences import Signal
from preftd.rules import Rule


class OnlineLearner(Protocol):
    """A learner that learns one transition at a time."""

    rule: Rule
    memory: Memory
    discount_t: Any
    """γ_t of the transition into the features that `update` gets next; 0 as an episode starts."""

    def predict(self, features: Any) -> Any:
        """v(x)."""

    def update(  # noqa: PLR0913  (a transition, and its signals)
        self,
        features: Any,
        reward: Any,
        next_features: Any,
        *,
        discount: Any,
        beta: Any,
        interest: Any = None,
        rho: Any = 1.0,
        truncated: bool = False,
        next_beta: Any = None,
    ) -> Any:
        """Learn from one transition; returns δ."""

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that changes while learning."""

    def load_state_dict(self, state: Any) -> None:
        """Continue from what `state_dict` gave."""


def learn_watching(
    learner: OnlineLearner,
    experience: Experience,
    signal: Signal,
    interest: ArrayLike | None,
    rho: ArrayLike | None,
    final_beta: ArrayLike | None,
) -> None:
    """Learn from a stream step by step, with the learner in view; all of it or nothing."""
    before = learner.state_dict()
    try:
        _follow(learner, experience, signal, interest, rho, final_beta)
    except BaseException:
        learner.load_state_dict(before)
        raise


def _follow(
    learner: OnlineLearner,
    e: Experience,
    signal: Signal,
    interest: ArrayLike | None,
    rho: ArrayLike | None,
    final_beta: ArrayLike | None,
) -> None:
    if not len(e):
        return
    steps = e.discount_t.shape
    memory, of_interest, td_error = learner.memory
    given, of_interest = (
        interest_along(learner.rule.interest, e, of_interest)
        if interest is None
        else (broadcast("interest", as_array("interest", interest), steps), of_interest)
    )
    ratio = broadcast("rho", as_array("rho", ratios(e, rho)), steps)
    at_ends = None if final_beta is None else final_betas(e, final_beta)
    learner.discount_t = float(e.discount_t[0])
    few = bool((e.code_t >= 0).all() and (e.code_tp1 >= 0).all())
    for t in range(len(e)):
        now = slice(t, t + 1)
        x, x_next = (
            (_indices(e, e.code_t[t]), _indices(e, e.code_tp1[t]))
            if few
            else (e.features(now)[0], e.next_features(now)[0])
        )
        with np.errstate(over="ignore", invalid="ignore"):
            value = float(learner.predict(x))
        if not np.isfinite(e.features(now)).all():
            raise InputError(
                f"features of step {t} are not finite, and the signal watches v(x): leave the step "
                "out, or use a signal that does not watch the learner."
            )
        if not np.isfinite(value):
            raise DivergedError(f"the prediction is {value} at step {t}: lower the step size.")
        visit = e.visit(t)._replace(value=value, td_error=td_error)
        beta, memory = signal.step(visit, memory)
        td_error = float(
            learner.update(
                x,
                float(e.reward[t]),
                x_next,
                discount=float(e.discount_tp1[t]),
                beta=beta,
                interest=None if given is None else float(given[t]),
                rho=float(ratio[t]),
                truncated=bool(e.is_last[t]),
                next_beta=float(at_ends[t]) if at_ends is not None and e.is_last[t] else None,
            )
        )
    learner.memory = Memory(memory, of_interest, td_error)


def _indices(experience: Experience, code: np.int32) -> Indices:
    return Indices([code] if experience.active is None else experience.active[code])


@final
class WatchingBatch:
    """Learners of one seed in a study, one for each step size, watched by a signal each.

    Parameters
    ----------
    spec : Specification
        One whose learner learns one transition at a time.
    rule : Rule
    preference : Signal
        One that watches the learner.
    size : int
        The number of features.
    step_sizes : sequence
        One for each learner.
    seed : int

    """

    def __init__(
        self,
        spec: Specification,
        rule: Rule,
        preference: Signal,
        size: int,
        step_sizes: Sequence[StepSize],
        seed: SupportsIndex,
    ) -> None:
        maker: Any = spec
        if not getattr(spec, "watchable", False):
            raise InputError(
                f"{preference!r} watches the learner, which {spec!r} does not allow: use a learner "
                "that learns at every step, such as Linear()."
            )
        self._preference = preference
        self.learners = [maker.learner(size, rule, alpha, seed) for alpha in step_sizes]
        self._diverged = [False for _ in self.learners]

    def learn(self, experience: Experience, scored: Scored) -> Dense:
        """Learn from whole episodes.

        Parameters
        ----------
        experience : Experience
            Whole episodes, the next of the stream.
        scored : Scored

        Returns
        -------
        array of shape (episodes, step sizes)
            The mean squared error over the scored states after each episode; infinite from the
            episode on in which a learner diverges.

        """
        if len(experience) and not experience.is_last[-1]:
            raise InputError(UNFINISHED)
        ends = np.flatnonzero(experience.is_last) + 1
        errors, shown = np.full((ends.size, len(self.learners)), np.inf), scored_features(scored)
        for lane, learner in enumerate(self.learners):
            first = 0
            for episode, end in enumerate(ends.tolist()):
                if self._diverged[lane]:
                    break
                try:
                    with warnings.catch_warnings():  # a study marks what diverges
                        warnings.simplefilter("ignore", GrowthWarning)
                        learner.learn(experience[first:end], self._preference)
                except DivergedError:
                    self._diverged[lane] = True
                else:
                    with np.errstate(over="ignore", invalid="ignore"):
                        values = learner.predict(shown)
                    errors[episode, lane] = mean_squared_error(values, scored)
                first = end
        return errors
