"""Harder variants of any task: hidden states that look the same, noisy sensors, sensors that fail.

A variant has the states, rewards and values of the task, and other observations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from preftd._src.arrays import InputError, Matrix, as_count, is_sparse, unit
from preftd._src.randomness import generator
from preftd._src.tasks.features import Features, as_deviation
from preftd._src.tasks.outcomes import Outcomes
from preftd._src.tasks.task import Task, as_task, changed


def aliased(task: Task, seed: int = 0) -> Task:
    """Give all hidden states the same fixed features, which recur but are uninformative.

    Parameters
    ----------
    task : Task
    seed : int
        Seed of these features: the mean of the original ones, plus standard normal numbers.

    Examples
    --------
    >>> from preftd import tasks
    >>> task = aliased(tasks.make("corridor", length=5))
    >>> len(np.unique(task.features.rows(np.flatnonzero(~task.observable)), axis=0))
    1

    """
    own, hidden = as_task(task).features, ~task.observable
    seed = as_count("seed", seed, 0, 2**64)
    name = f"{task.name}, aliased(seed={seed})"
    if not hidden.any():
        raise InputError(f"{task.name} has no hidden states: give a task that has some.")
    shown = own.rows(np.flatnonzero(hidden)).mean(axis=0)
    shown += generator(name).standard_normal(own.size)
    mean: Matrix
    if is_sparse(own.mean):
        kept = sparse.diags_array((~hidden).astype(np.float64)) @ own.mean
        mean = sparse.csr_array(kept + sparse.csr_array(hidden[:, None] * shown))
    else:
        mean = np.where(hidden[:, None], shown, own.mean)
    covariance = None
    if own.covariance is not None:
        covariance = own.covariance.copy()
        covariance[hidden] = 0.0
    return changed(task, name=name, features=Features(mean, covariance))


def jittered(task: Task, deviation: float) -> Task:
    """Add independent normal noise to every number of every observation.

    Predictions are scored without it.

    Parameters
    ----------
    task : Task
    deviation : float
        The standard deviation of the noise.

    Examples
    --------
    >>> from preftd import tasks
    >>> jittered(tasks.make("random_walk", states=3), 0.1).sampler(0).steps(1).features().round(2)
    array([[0.07, 0.88, 0.07]])

    """
    own, deviation = as_task(task).features, as_deviation("deviation", deviation)
    kept = np.zeros(own.states) if own.covariance is None else own.covariance
    noise = _noise(own.states, own.size, kept.ndim, deviation)
    name = f"{task.name}, jittered(deviation={deviation:g})"
    return changed(task, name=name, features=Features(own.mean, kept + noise))


def failing(task: Task, fails: float, recovers: float, deviation: float = 1.0) -> Task:
    """Add a sensor that fails at times: hidden states then show normal noise of mean 0.

    The initial state of the sensor is drawn from its long-run distribution.

    Parameters
    ----------
    task : Task
    fails, recovers : float
        The probabilities, at each step, that a working sensor fails, and that a failed one
        recovers. With `recovers = 1 - fails`, each observation is lost independently.
    deviation : float
        The standard deviation of the noise.

    Examples
    --------
    >>> from preftd import tasks
    >>> task = failing(tasks.make("random_walk"), fails=0.02, recovers=0.06)
    >>> float(task.sampler(0).steps(10_000).observable.mean().round(2))
    0.73

    """
    own, states = as_task(task).features, task.states
    fails, recovers = unit("fails", fails), unit("recovers", recovers)
    deviation = as_deviation("deviation", deviation)
    if fails + recovers == 0:
        raise InputError("fails and recovers are both 0: give at least one larger probability.")
    kept = np.zeros(states) if own.covariance is None else own.covariance
    noise = _noise(states, own.size, kept.ndim, deviation)
    mean: Matrix
    if is_sparse(own.mean):
        mean = sparse.csr_array(sparse.vstack([own.mean, sparse.csr_array(own.mean.shape)]))
    else:
        mean = np.concatenate([own.mean, np.zeros_like(own.mean)])
    broken = fails / (fails + recovers)
    return Task(
        f"{task.name}, failing(fails={fails:g}, recovers={recovers:g}, deviation={deviation:g})",
        _with_sensor(task.outcomes, np.array([[1 - fails, fails], [recovers, 1 - recovers]])),
        Features(mean, np.concatenate([kept, noise])),
        task.discount,
        start=np.concatenate([(1 - broken) * task.start, broken * task.start]),
        observable=np.concatenate([task.observable, np.zeros(states, np.bool_)]),
        policy=np.tile(task.policy, (2, 1)),
        behaviour=np.tile(task.behaviour, (2, 1)) if task.off_policy else None,
    )


def _with_sensor(outcomes: Outcomes, moves: NDArray[np.float64]) -> Outcomes:
    """Outcomes of states with a working sensor, then of the same states with a failed one.

    `moves` are probabilities from one to the other, shape (2, 2). Where episodes end, the sensor no
    longer matters.
    """
    o, rows = outcomes, []
    to = np.where(o.ends, -1, o.next_state)
    columns = (o.state, o.action, o.probability, to, o.reward, o.spread)
    table = np.stack([np.asarray(column, np.float64) for column in columns], axis=1)
    for here in (0, 1):
        for there in (0, 1):
            chosen = table[~o.ends | (there == 0)].copy()
            ends = chosen[:, 3] < 0
            chosen[:, 0] += here * o.states
            chosen[:, 2] *= np.where(ends, 1.0, moves[here, there])
            chosen[:, 3] += np.where(ends, 0, there * o.states)
            rows.append(chosen[chosen[:, 2] > 0])
    return Outcomes.of(np.concatenate(rows))


def _noise(states: int, size: int, ndim: int, deviation: float) -> NDArray[np.float64]:
    """The covariance of noise, in the form with `axes` axes."""
    shape = (states, size)[:ndim]
    variances = np.full(shape, deviation**2)
    return variances if ndim < 3 else variances[..., None] * np.eye(size)
