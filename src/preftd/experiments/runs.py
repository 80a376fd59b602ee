"""One method on one task: errors by seed, step size and episode."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np

from preftd.arrays import Dense
from preftd.experiments.evaluation import Evaluation, finite_or_inf, trivial_error
from preftd.experiments.inputs import (
    as_count,
    as_seeds,
    as_step_sizes,
    as_workers,
    check_kind,
)
from preftd.experiments.interrupts import heed_interrupts
from preftd.experiments.learning import Method, RunningCoefficients, TaskSource, takes, task_of
from preftd.learners.linear.batch import Linear
from preftd.learners.step_size import StepSize
from preftd.preferences import Signal
from preftd.rules import Rule


def evaluate(
    task: TaskSource,
    rule: Rule,
    preference: Signal,
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
    chosen = as_seeds("seeds", seeds)
    alphas = as_step_sizes("step_sizes", step_sizes)
    as_count("episodes", episodes)
    count = as_workers(workers)
    parts = {"rule": rule, "preference": preference, "learner": learner, "task": task}
    for kind, given in parts.items():
        check_kind(kind, kind, given)

    heed_interrupts()
    stop = Event()

    def run(seed: int) -> tuple[Dense, float]:
        made = task_of(task, seed)
        signal, learners = (
            RunningCoefficients(rule, preference),
            learner.start(made.features.size, alphas, seed),
        )
        found = []
        for taken in takes(made, seed, episodes):
            errors = learners.learn(signal.steps(taken), made.scored)
            found.append(np.array(errors))  # the learner may reuse its own
            if stop.is_set():
                break
        return finite_or_inf(np.concatenate(found).T), trivial_error(made)

    with ThreadPoolExecutor(min(count, len(chosen))) as pool:
        try:
            errors, trivial = map(np.array, zip(*pool.map(run, chosen), strict=True))
        except BaseException:
            # Interrupted, or a seed failed: the others need not be finished.
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return Evaluation(errors, trivial, chosen, tuple(alphas), rule.name, learner.label)
