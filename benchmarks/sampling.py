"""The speed of drawing experience: steps alone, and the noise that hidden states show.

Steps are drawn on the random walk and on grids without hidden cells. The time for noise is compared
with that of NumPy's generator for the same number of values, written to allocated memory.
"""

import time
from collections.abc import Iterator

import numpy as np

from preftd.tasks import Features, Task, make

SECONDS = 1.0
"""How long each measurement lasts."""


def table(seconds: float = SECONDS) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield "| task | million steps / s | one episode at a time | noise, times NumPy's own time |"
    yield "|---|---:|---:|---:|"
    plain = [make("random_walk"), make("cross_grid", size=8), make("cross_grid", size=16)]
    for task in map(_observable, plain):
        rates = f"{rate(task, seconds, 50_000):.1f} | {rate(task, seconds, 1):.1f}"
        yield f"| {task.name}, all observable | {rates} | |"
    for task in (make("corridor", length=25), make("cross_grid", size=16)):
        rates = f"{rate(task, seconds, 50_000):.2f} | {rate(task, seconds, 1):.2f}"
        yield f"| {task.name} | {rates} | {noise_ratio(task, seconds):.2f} |"


def _observable(task: Task) -> Task:
    """The same task without hidden states."""
    return Task(
        task.name, task.outcomes, Features(np.eye(task.states)), task.discount, start=task.start
    )


def rate(task: Task, seconds: float, steps: int) -> float:
    """Return million steps per second, in calls that draw whole episodes of about `steps` steps."""
    episodes = max(1, round(steps / task.mean_episode_length))
    sampler = task.sampler(seed=0)
    sampler.episodes(episodes)
    drawn, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        drawn += len(sampler.episodes(episodes))
    return drawn / (time.perf_counter() - began) / 1e6


def noise_ratio(task: Task, seconds: float) -> float:
    """Return the time of drawing noise, divided by NumPy's for the same number of values.

    Each call draws about 2,000 steps: larger calls also pay for newly allocated memory.
    """
    episodes = max(1, round(2000 / task.mean_episode_length))
    sampler, plain = task.sampler(seed=0), _observable(task).sampler(seed=0)
    generator, out = np.random.default_rng(0), np.empty((0, task.features.size))
    noisy = steps_alone = numpy_alone = 0.0
    while noisy < seconds:
        began = time.perf_counter()
        vectors = sampler.episodes(episodes).dense.shape
        between = time.perf_counter()
        plain.episodes(episodes)
        ended = time.perf_counter()
        noisy, steps_alone = noisy + between - began, steps_alone + ended - between
        if len(out) < vectors[0]:
            # Filled once, so that the memory is allocated before the measurement.
            out = np.zeros((2 * vectors[0], vectors[1]))
        began = time.perf_counter()
        generator.standard_normal(out=out[: vectors[0]])
        numpy_alone += time.perf_counter() - began
    return (noisy - steps_alone) / numpy_alone
