"""Makes memory.png, memory_values.png and the tables of docs/research/memory.md."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from numpy.typing import NDArray
from scipy.stats import sem, trim_mean
from scipy.stats import t as student

from preftd._src.style import LOOKS, MARK, OTHERS, RC, WIDTH, Look, number_text, save_figure

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
Floats = NDArray[np.float64]
TASKS = ("CartPole", "T-maze", "Pendulum", "corridors", "Acrobot")
FAILURES = ("noise", "outages", "misleading")
LOOKED: dict[str, Look] = {
    "PPO": LOOKS["ETD"],
    "4 frames": LOOKS["ETD-variable"],
    "traces": LOOKS["ETD-fixed"],
    "GRU": OTHERS[1],
    "flag": LOOKS["TD(λ)"],
    "λ = 1 at drops": OTHERS[2],
    "preferences": LOOKS["PTD"],
    "GRU, flag": OTHERS[3],
    "GRU, preferences": OTHERS[0],
}
"""Methods; those from "flag" on know which observations are bad."""
PAIRS = (
    ("flag", "PPO"),
    ("λ = 1 at drops", "flag"),
    ("preferences", "flag"),
    ("preferences", "PPO"),
    ("GRU", "PPO"),
    ("GRU, flag", "GRU"),
    ("GRU, preferences", "GRU, flag"),
    ("GRU, flag", "preferences"),
)
VARIANTS = {
    "preferences, flag not shown": "preferences",
    "preferences in the critic": "preferences",
    "GRU, preferences in the critic": "GRU, preferences",
}
"""Variants, and what they are variants of."""
SINGLE = (
    *("noise, 10 %", "noise", "noise, 60 %"),
    *("outages of 3", "outages", "outages of 40"),
    "where extreme",
)
SINGLE_TASK = "CartPole"
OTHER_TASKS = ("MountainCar", "RockSample")
RIVALS: dict[str, Look] = {
    "oracle": LOOKS["PTD"],
    "learned": OTHERS[0],
    "TD(λ)": LOOKS["TD(λ)"],
    "β ≡ 1": LOOKS["ETD"],
    "λ-greedy, cells": LOOKS["ETD-variable"],
    "Adaptive-TD, cells": LOOKS["ETD-fixed"],
    "expected trace, cells": OTHERS[1],
    "adaptive interest, cells": OTHERS[2],
}
"""Methods of `memory_rivals.py`."""
TITLES = {"last": "return", "real": "error at real observations", "hidden": "error at bad ones"}
SAMPLES = 2000
"""Bootstrap samples."""
TUNED = 1000
"""From this seed on, runs of Stable-Baselines3 choose step sizes."""


def read_rows(file: Path = EXAMPLES / "memory_study.csv") -> pl.DataFrame:
    """Return rows with their measures as lists."""
    numbers = pl.col("last", "all", "real", "hidden").str.split(" ").cast(pl.List(pl.Float64))
    return pl.read_csv(file, infer_schema_length=None).with_columns(numbers)


def read_sb3() -> pl.DataFrame:
    """Return the runs of Stable-Baselines3."""
    return pl.read_csv(HERE / "memory_sb3.csv")


def read_errors() -> pl.DataFrame:
    """Return mean squared errors of methods that adapt, a list by seed."""
    numbers = pl.col("errors").str.split(" ").cast(pl.List(pl.Float64))
    return pl.read_csv(HERE / "memory_rivals.csv").with_columns(numbers)


def of_runs(
    frame: pl.DataFrame, measure: str, task: str, failure: str, method: str, seeds: str = "reported"
) -> Floats:
    """Return a measure of the runs of a row, which is the only one."""
    where = {"task": task, "failure": failure, "method": method, "seeds": seeds}
    found = frame.filter(pl.col(measure).is_not_null(), **where)
    return np.array(found[measure].item())


def ends_of_scale(frame: pl.DataFrame, task: str) -> tuple[float, float]:
    """Return mean returns that score 0 and 1: untrained, and the better network undisturbed."""
    zero = of_runs(frame, "all", task, "none", "PPO", "untrained").mean()
    best = max(of_runs(frame, "last", task, "none", name).mean() for name in ("PPO", "GRU"))
    return float(zero), float(best)


def scores(frame: pl.DataFrame, measure: str, task: str, failure: str, method: str) -> Floats:
    """Return a measure of runs; returns are scaled to 0 and 1."""
    found = of_runs(frame, measure, task, failure, method)
    if measure != "last":
        return found
    zero, one = ends_of_scale(frame, task)
    return (found - zero) / (one - zero)


def strata(
    frame: pl.DataFrame,
    measure: str,
    method: str,
    failures: tuple[str, ...] = FAILURES,
    tasks: tuple[str, ...] = TASKS,
) -> Floats:
    """Return scores of all runs, shape (tasks and failures, seeds)."""
    return np.array([scores(frame, measure, *pair, method) for pair in product(tasks, failures)])


def middle(runs: Floats) -> Floats:
    """Return interquartile means over the last two axes."""
    return np.asarray(trim_mean(runs.reshape(*runs.shape[:-2], -1), 0.25, axis=-1))


def resampled(runs: Floats) -> Floats:
    """Return bootstrap samples of runs, seeds drawn within each stratum; the same for all."""
    rng = np.random.default_rng(0)
    chosen = rng.integers(runs.shape[1], size=(SAMPLES, *runs.shape))
    return np.take_along_axis(runs[None], chosen, axis=2)


def interval(samples: Floats) -> tuple[float, float]:
    """Return the ends of a 95 % interval."""
    low, high = np.quantile(samples, (0.025, 0.975))
    return float(low), float(high)


def cell(runs: Floats) -> str:
    """Return the interquartile mean of runs with its interval."""
    centre, ends = middle(runs), interval(middle(resampled(runs)))
    low, high = (number_text(x, ".2f") for x in ends)
    return f"{number_text(float(centre), '.2f')} [{low}, {high}]"


def difference(own: Floats, other: Floats) -> str:
    """Return the difference of interquartile means with its interval, paired by seed."""
    centre = float(middle(own) - middle(other))
    ends = interval(middle(resampled(own)) - middle(resampled(other)))
    centre_text, low, high = (number_text(x, "+.2f") for x in (centre, *ends))
    return f"{centre_text} [{low}, {high}]"


def _lines(head: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def main_table(frame: pl.DataFrame, measure: str) -> str:
    """Return interquartile means of all methods over tasks, for each failure and for all."""
    columns: dict[str, tuple[str, ...]] = {one: (one,) for one in FAILURES}
    columns["all three"] = FAILURES
    rows = [
        [name, *(cell(strata(frame, measure, name, some)) for some in columns.values())]
        for name in LOOKED
    ]
    return _lines([TITLES[measure], *columns], rows)


def task_table(frame: pl.DataFrame, measure: str) -> str:
    """Return interquartile means of all methods over failures, for each task."""
    rows = [
        [name, *(cell(strata(frame, measure, name, tasks=(task,))) for task in TASKS)]
        for name in LOOKED
    ]
    return _lines([TITLES[measure], *TASKS], rows)


def pair_table(frame: pl.DataFrame) -> str:
    """Return differences of pairs of methods, over tasks and failures, and by failure."""
    columns: list[tuple[str, str, tuple[str, ...]]] = [
        *((f"return, {one}", "last", (one,)) for one in FAILURES),
        ("return, all three", "last", FAILURES),
        *((f"{TITLES[measure]}, all three", measure, FAILURES) for measure in ("real", "hidden")),
    ]
    rows = [
        [
            f"{own} − {other}",
            *(
                difference(*(strata(frame, measure, name, some) for name in (own, other)))
                for _, measure, some in columns
            ),
        ]
        for own, other in PAIRS
    ]
    return _lines(["difference", *(name for name, _, _ in columns)], rows)


def place_table(frame: pl.DataFrame) -> str:
    """Return what preferences change in each task and failure, without and with a GRU."""
    rows = []
    for task, failure in product(TASKS, FAILURES):
        names = ("flag", "preferences", "GRU, flag", "GRU, preferences")
        runs = [strata(frame, "last", name, (failure,), (task,)) for name in names]
        texts = [cell(runs[0]), difference(runs[1], runs[0])]
        rows.append([f"{task}, {failure}", *texts, cell(runs[2]), difference(runs[3], runs[2])])
    head = ["flag", "preferences − flag", "GRU, flag", "GRU, preferences − GRU, flag"]
    return _lines(["return", *head], rows)


def variant_table(frame: pl.DataFrame) -> str:
    """Return returns of variants, and their differences from what they are variants of."""
    rows = []
    for name, other in VARIANTS.items():
        place = (SINGLE_TASK,)
        both = {one: strata(frame, "last", name, (one,), place) for one in FAILURES}
        apart = [
            difference(runs, strata(frame, "last", other, (one,), place))
            for one, runs in both.items()
        ]
        rows.append([name, *(cell(runs) for runs in both.values())])
        rows.append([f"… − {other}", *apart])
    return _lines([f"{SINGLE_TASK}: return", *FAILURES], rows)


def single_table(frame: pl.DataFrame, measure: str) -> str:
    """Return interquartile means for other rates and lengths."""
    names = frame.filter(failure=SINGLE[0])["method"].unique(maintain_order=True)
    rows = [
        [name, *(cell(strata(frame, measure, name, (one,), (SINGLE_TASK,))) for one in SINGLE)]
        for name in names
    ]
    return _lines([f"{SINGLE_TASK}: {TITLES[measure]}", *SINGLE], rows)


def cost_table(frame: pl.DataFrame) -> str:
    """Return seconds of a run, and the step sizes that were chosen for each task."""
    rows = []
    for name in LOOKED:
        own = frame.filter(method=name, seeds="reported").filter(pl.col("failure").is_in(FAILURES))
        texts = [name]
        for question in ("control", "values"):
            some = own.filter(question=question)
            rates = [some.filter(task=task)["rate"].unique().to_list() for task in TASKS]
            texts.append(number_text(some["seconds"].mean() / 12, ".2f"))
            texts.append(", ".join(f"{rate:g}" for one in rates for rate in one))
        rows.append(texts)
    tasks = ", ".join(TASKS)
    head = ["method", "PPO: s a run", f"step size: {tasks}", "critic: s a run", "step size"]
    return _lines(head, rows)


def scale_table(frame: pl.DataFrame) -> str:
    """Return the returns that score 0 and 1, and what networks do undisturbed."""
    rows = []
    for task in TASKS:
        means = [of_runs(frame, "last", task, "none", name).mean() for name in ("PPO", "GRU")]
        texts = [number_text(x, ".4g") for x in (ends_of_scale(frame, task)[0], *means)]
        error = of_runs(frame, "real", task, "none", "PPO").mean()
        rows.append([task, *texts, number_text(error, ".2f")])
    return _lines(["task", "untrained", "PPO", "GRU", "error of PPO's critic"], rows)


def tables() -> list[str]:
    """Return all tables."""
    frame, runs = read_rows(), read_sb3()
    return [
        main_table(frame, "last"),
        main_table(frame, "real"),
        main_table(frame, "hidden"),
        pair_table(frame),
        variant_table(frame),
        task_table(frame, "last"),
        place_table(frame),
        task_table(frame, "real"),
        single_table(frame, "last"),
        single_table(frame, "real"),
        scale_table(frame),
        cost_table(frame),
        other_table(frame),
        sb3_table(runs),
        agents_table(runs, frame),
        rival_table(read_errors()),
    ]


def other_table(frame: pl.DataFrame) -> str:
    """Return means of returns and errors for tasks that are compared with noise only."""
    names = frame.filter(task=OTHER_TASKS[0], failure="noise")["method"].unique(maintain_order=True)
    head = [f"{task}: {TITLES[measure]}" for task in OTHER_TASKS for measure in ("last", "real")]

    def row(name: str, failure: str) -> list[str]:
        both = ((task, measure) for task in OTHER_TASKS for measure in ("last", "real"))
        return [mean_text(of_runs(frame, m, task, failure, name), FORMATS[m]) for task, m in both]

    rows = [[name, *row(name, "noise")] for name in names]
    return _lines(["noise", *head], [*rows, ["PPO, nothing fails", *row("PPO", "none")]])


FORMATS = {"last": ".4g", "real": ".2f"}


def mean_text(runs: Floats, spec: str) -> str:
    """Return the mean of a few runs with its 95 % interval, by Student's distribution."""
    half = student.ppf(0.975, len(runs) - 1) * sem(runs)
    centre, low, high = (number_text(runs.mean() + x, spec) for x in (0, -half, half))
    return f"{centre} [{low}, {high}]"


def of_sb3(runs: pl.DataFrame, task: str, failure: str, method: str) -> Floats:
    """Return the reported returns of a method, by seed."""
    found = runs.filter(pl.col("seed") < TUNED, task=task, failure=failure, method=method)
    return found.sort("seed")["last"].to_numpy()


def sb3_table(runs: pl.DataFrame) -> str:
    """Return what preferences change where the flag is known, by Stable-Baselines3."""
    rows = []
    places = runs.filter(pl.col("seed") < TUNED, method="preferences").select("task", "failure")
    for task, failure in places.unique(maintain_order=True).rows():
        flag, own = (of_sb3(runs, task, failure, name) for name in ("flag", "preferences"))
        texts = [mean_text(flag, ".4g"), mean_text(own, ".4g"), mean_text(own - flag, "+.3g")]
        rows.append([f"{task}, {failure}", *texts, str(len(own))])
    return _lines(["few seeds: return", "flag", "preferences", "preferences − flag", "seeds"], rows)


def agents_table(runs: pl.DataFrame, frame: pl.DataFrame) -> str:
    """Return returns of other agents and preferences on CartPole with noise, next to those here."""
    ours = {"LSTM, flag": "GRU, flag", "LSTM, preferences": "GRU, preferences"}
    rows = []
    names = runs.filter(pl.col("seed") < TUNED, task=SINGLE_TASK, failure="noise")["method"]
    for name in names.unique(maintain_order=True):
        own, other = of_sb3(runs, SINGLE_TASK, "noise", name), ours.get(name, name)
        here = [""]
        if other in LOOKED:
            here = [mean_text(of_runs(frame, "last", SINGLE_TASK, "noise", other), ".4g")]
        rows.append([name, mean_text(own, ".4g"), str(len(own)), *here])
    return _lines([f"{SINGLE_TASK}, noise: return", "other agents", "seeds", "this study"], rows)


def of_rival(errors: pl.DataFrame, tasks: tuple[str, ...], method: str) -> Floats:
    """Return root mean squared errors by the spread of values, shape (tasks, seeds)."""
    found = [errors.filter(task=task, method=method) for task in tasks]
    return np.array([np.sqrt(one["errors"].item()) / one["spread"].item() for one in found])


def rival_table(errors: pl.DataFrame) -> str:
    """Return errors of methods that adapt λ, traces or interest, by task and over all."""
    tasks = tuple(errors["task"].unique(maintain_order=True))
    places = [*((task,) for task in tasks), tasks]
    rows = [[name, *(cell(of_rival(errors, some, name)) for some in places)] for name in RIVALS]
    return _lines(["error at observable states", *tasks, "all five"], rows)


def draw(frame: pl.DataFrame, errors: pl.DataFrame) -> None:
    """Draw interquartile means and performance profiles: a figure for each question."""
    tasks = tuple(errors["task"].unique(maintain_order=True))
    returns, few, many = (np.linspace(*ends, 131) for ends in ((-0.1, 1.1), (0, 1.2), (0, 3.3)))
    with plt.rc_context(RC):
        figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.7), layout="constrained")
        _draw_means(
            axes[0], LOOKED, FAILURES, lambda name, one: strata(frame, "last", name, (one,))
        )
        _draw_profile(axes[1], LOOKED, partial(strata, frame, "last"), returns, above=True)
        axes[0].set_title("control")
        axes[0].set_ylabel("score (interquartile mean)")
        axes[1].set_title("control: profiles")
        axes[1].set_xlabel("score τ")
        axes[1].set_ylabel("share of runs above τ")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        save_figure(axes[0], HERE / "memory.png")

        figure, axes = plt.subplots(2, 2, figsize=(7.2, 7.2), layout="constrained")
        _draw_means(
            axes[0, 0], LOOKED, FAILURES, lambda name, one: strata(frame, "real", name, (one,))
        )
        _draw_profile(axes[0, 1], LOOKED, partial(strata, frame, "real"), few, above=False)
        _draw_means(axes[1, 0], RIVALS, tasks, lambda name, one: of_rival(errors, (one,), name))
        _draw_profile(axes[1, 1], RIVALS, partial(of_rival, errors, tasks), many, above=False)
        axes[0, 0].set_title("critics at real observations")
        axes[0, 1].set_title("critics: profiles")
        axes[1, 0].set_title("linear and cells: methods that adapt")
        axes[1, 1].set_title("linear and cells: profiles")
        axes[1, 0].set_xticks(range(len(tasks)), [name.replace(" ", "\n") for name in tasks])
        for row in axes:
            row[0].set_ylabel("error / spread of values")
            row[1].set_xlabel("error τ")
            row[1].set_ylabel("share of runs below τ")
        places = ("outside upper center", 3), ("outside lower center", 4)
        for row, (place, columns) in zip(axes, places, strict=True):
            figure.legend(*row[0].get_legend_handles_labels(), loc=place, ncols=columns)
        save_figure(axes[0, 0], HERE / "memory_values.png")


def _draw_means(
    axes: Axes, looks: dict[str, Look], places: tuple[str, ...], of: Callable[[str, str], Floats]
) -> None:
    """Draw the interquartile mean of each method in each place, side by side."""
    for m, (name, look) in enumerate(looks.items()):
        found = [of(name, place) for place in places]
        centres = np.array([middle(runs) for runs in found])
        ends = np.array([interval(middle(resampled(runs))) for runs in found]).T
        axes.errorbar(
            np.arange(len(places)) + 0.095 * (m - (len(looks) - 1) / 2),
            centres,
            np.abs(ends - centres),
            color=look.colour,
            marker=look.marker,
            markersize=MARK + 1,
            linestyle="none",
            linewidth=WIDTH,
            label=name,
        )
    axes.set_xticks(range(len(places)), list(places))
    axes.set_xlim(-0.5, len(places) - 0.5)


def _draw_profile(
    axes: Axes, looks: dict[str, Look], of: Callable[[str], Floats], at: Floats, *, above: bool
) -> None:
    """Draw the share of runs, over all places, that are above or below each number."""
    for name, look in looks.items():
        runs = of(name).ravel()[:, None]
        better = runs > at if above else runs < at
        axes.plot(at, better.mean(0), linewidth=WIDTH, **look.line_style())
    axes.set_ylim(0, 1.02)


if __name__ in ("__main__", "<run_path>"):
    draw(read_rows(), read_errors())
    print("\n\n".join(tables()))
