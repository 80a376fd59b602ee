"""How fast experience is drawn: steps alone, and the noise that hidden states show.

Steps are drawn on grids without hidden cells and on the random walk. Noise is compared with what
NumPy's generator needs for as many numbers, into memory that is there already.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np

from preftd.tasks import Features, Task, make

SECONDS = 1.0
"""How long each measurement goes on."""


def table(seconds: float = SECONDS) -> Iterator[str]:
    """The measurements as lines of a Markdown table, each as soon as it is known."""
    yield "| task | million steps / s | noise, times NumPy's own time |"
    yield "|---|---:|---:|"
    for name, size in (("random_walk", 19), ("cross_grid", 8), ("cross_grid", 16)):
        task = make(name, **{"states" if name == "random_walk" else "size": size})
        yield f"| {task.name}, all observable | {_rate(_observable(task), seconds) / 1e6:.1f} | |"
    for name, parameters in (("corridor", {"length": 25}), ("cross_grid", {"size": 16})):
        task = make(name, **parameters)
        rate, ratio = _rate(task, seconds), noise_ratio(task, seconds)
        yield f"| {task.name} | {rate / 1e6:.2f} | {ratio:.2f} |"


def _observable(task: Task) -> Task:
    """The same task with nothing hidden."""
    return Task(
        task.name, task.outcomes, Features(np.eye(task.states)), task.discount, start=task.start
    )


def _rate(task: Task, seconds: float) -> float:
    """Steps per second."""
    sampler = task.sampler(seed=0)
    sampler.episodes(1)
    steps = 0

    def draw() -> None:
        nonlocal steps
        steps += len(sampler.episodes(20))

    spent = _repeat(draw, seconds)
    return steps / spent


def noise_ratio(task: Task, seconds: float) -> float:
    """Time of all that is drawn beyond steps, over NumPy's for as many random numbers."""
    sampler, plain = task.sampler(seed=0), _observable(task).sampler(seed=0)
    generator = np.random.default_rng(0)
    numbers = sampler.episodes(20).dense.shape
    out = np.empty((2 * numbers[0], numbers[1]))
    drawn, spent, steps_alone, numpy_alone = 0, 0.0, 0.0, 0.0
    while spent < seconds:
        began = time.perf_counter()
        count = len(sampler.episodes(20).dense)
        with_noise = time.perf_counter()
        plain.episodes(20)
        without = time.perf_counter()
        if len(out) < count:
            out = np.empty((2 * count, numbers[1]))
        filled = time.perf_counter()
        generator.standard_normal(out=out[:count])
        numpy_alone += time.perf_counter() - filled
        spent, steps_alone = spent + with_noise - began, steps_alone + without - with_noise
        drawn += count
    return (spent - steps_alone) / numpy_alone


def _repeat(draw: Callable[[], None], seconds: float) -> float:
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        draw()
    return time.perf_counter() - began
