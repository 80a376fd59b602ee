"""One method on one task: errors by seed, step size and episode.

A seed's experience is drawn once, some episodes at a time, and every step size learns from it
before more is drawn: memory stays small, and all step sizes (and methods) see the same.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, Protocol, SupportsIndex

import numpy as np

from preftd.arrays import Dense, InputError, whole
from preftd.experiments.evaluation import Evaluation
from preftd.learners.linear.batch import Linear
from preftd.learners.step_size import StepSize, as_step_size
from preftd.learners.steps import Steps
from preftd.preferences import Preference
from preftd.rules import Carried, Rule, along
from preftd.tasks import Task
from preftd.tasks.scored import Scored

TAKE = 2000
"""About how many steps are drawn at a time: few enough to stay in the cache, in whole episodes."""


class Batch(Protocol):
    """Learners of one seed, one for each step size."""

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors after each, episodes × step sizes."""


class Method(Protocol):
    """A way to learn: `Linear(...)`, `Network(...)`, or one's own."""

    @property
    def label(self) -> str:
        """What to call it in a picture, besides the rule."""

    def start(self, inputs: int, step_sizes: Any, seed: SupportsIndex) -> Batch:
        """The learners of a seed."""


def evaluate(
    task: Task | Callable[[int], Task],
    rule: Rule,
    preference: Preference,
    step_sizes: Sequence[StepSize],
    episodes: int,
    seeds: int | Iterable[int],
    *,
    learner: Method = Linear(),  # noqa: B008  (it cannot be changed)
    workers: int | None = None,
) -> Evaluation:
    """Learn on a task with each step size and seed; mean squared error after each episode.

    task        a task, or a function that makes one for each seed
    step_sizes  numbers, or `Decreasing(...)` for linear learners
    seeds       which ones, or how many (0, 1, …)
    learner     Linear(view=...) or Network(units=..., view=...)
    workers     how many seeds are worked on at the same time, by default as many as there are
                cores; the result is the same

    The error is the mean over the task's observable states of (prediction − value)². A run that
    diverges is marked in `.diverged`; its errors are what they are, infinite in the end.

    >>> from preftd import PTD, tasks
    >>> from preftd.preferences import Observability
    >>> corridor = tasks.make("corridor", length=5)
    >>> found = evaluate(corridor, PTD(), Observability(), [0.03, 0.1, 0.3], episodes=100, seeds=10)
    >>> found.errors.shape
    (10, 3, 100)
    >>> found.best_step_size
    0.1
    """
    chosen = _seeds(seeds)
    alphas = _step_sizes(step_sizes)
    if whole("episodes", episodes) < 1:
        raise InputError(f"episodes is {episodes}: give 1 or more.")
    count = _workers(workers)
    _check_kind("rule", rule, isinstance(rule, Rule), "PTD()")
    _check_kind("preference", preference, isinstance(preference, Preference), "Constant(1.0)")
    is_method = hasattr(learner, "start") and not isinstance(learner, type)
    _check_kind("learner", learner, is_method, "Linear()")
    _check_kind("task", task, isinstance(task, Task) or callable(task), _TASK)

    stop = Event()

    def run(seed: int) -> tuple[Dense, float]:
        made = task if isinstance(task, Task) else task(seed)
        _check_kind("the task of a seed", made, isinstance(made, Task), _TASK)
        learners = learner.start(made.features.size, alphas, seed)
        parts = []
        for errors in learned(made, rule, preference, learners, seed, episodes):
            parts.append(errors)
            if stop.is_set():
                break
        found = np.concatenate(parts).T
        trivial = float((made.scored.values**2).mean()) or 1.0
        return np.where(np.isfinite(found), found, np.inf), trivial

    with ThreadPoolExecutor(min(count, len(chosen))) as pool:
        try:
            errors, trivial = map(np.array, zip(*pool.map(run, chosen), strict=True))
        except BaseException:
            # Interrupted, or a seed failed: the others need not be finished.
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return Evaluation(errors, trivial, chosen, tuple(alphas), rule.name, learner.label)


def learned(
    task: Task, rule: Rule, preference: Preference, learners: Batch, seed: int, episodes: int
) -> Iterator[Dense]:
    """Errors of one seed, episodes × step sizes, some episodes at a time."""
    if not task.episodic:
        raise InputError(f"{task.name} has no episodes, after which errors would be measured.")
    if not task.scored.codes.size:
        raise InputError(f"{task.name} has no observable state: there is nothing to measure.")
    sampler, carried = task.sampler(seed), Carried()
    together = max(1, round(TAKE / task.mean_episode_length))
    for first in range(0, episodes, together):
        taken = sampler.episodes(min(together, episodes - first))
        signals = along(rule, preference, taken, carried=carried)
        carried = signals.carried
        yield learners.learn(Steps.of(taken, signals), task.scored)


_TASK = 'tasks.make("corridor")'


def _check_kind(name: str, given: Any, right: bool, example: str) -> None:
    if not right:
        raise InputError(f"{name} is {given!r}: give one, such as {example}.")


def _seeds(given: int | Iterable[int]) -> tuple[int, ...]:
    if isinstance(given, Iterable) and not (isinstance(given, np.ndarray) and given.ndim == 0):
        chosen: Iterable[int] = given
    else:
        chosen = range(whole("seeds", given))
    seeds = tuple(whole("a seed", seed) for seed in chosen)
    if not seeds or len(set(seeds)) < len(seeds):
        raise InputError(f"seeds are {seeds}: give one or more, each once.")
    return seeds


def _step_sizes(given: Sequence[StepSize]) -> list[StepSize]:
    try:
        chosen = list(given)
    except TypeError:
        raise InputError(f"step_sizes is {given!r}: give a list, such as [0.1, 0.01].") from None
    if not chosen:
        raise InputError("step_sizes is empty: give one or more.")
    return [as_step_size(f"step_sizes[{i}]", alpha) for i, alpha in enumerate(chosen)]


def _workers(given: int | None) -> int:
    count = _cores() if given is None else whole("workers", given)
    if count < 1:
        raise InputError(f"workers is {given}: give 1 or more, or leave it out.")
    return count


def _cores() -> int:
    """How many cores this process may use, where that is known."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
