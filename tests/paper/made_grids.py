"""Made-up results of the grids: a world in which claims about them are true, and one of the false.

Levels are parts of the error of predicting 0. In the true world everything is as claimed; in the
false one whatever is claimed to be larger is smaller, and what to be alike differs.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from made_runs import frame, run
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results
from preftd._src.paper.corridors.studies import AT_TRUTH, METHODS
from preftd._src.paper.grids.claims import zeros
from preftd._src.paper.grids.studies import (
    FEATURE_NET,
    FEATURE_STEP_SIZES,
    INTERESTS,
    NETWORK_STEP_SIZES,
    NETWORKS,
    SEMI_LINEAR,
    SEMI_LINEAR_VIEWS,
    SIZES,
    STEP_SIZES,
    VIEW_STEP_SIZES,
    WIDTHS,
    with_units,
)
from preftd._src.paper.study import PaperStudy

Curve = Callable[[float, float], float]
"""From a step size and the error of 0 to an error."""
AT = 1e-3
"""The best step size."""
WILD = 0.05
"""From this step size on, networks do worse than they begin, or in a false world not."""
FIRST = 1_000_000
"""Of the search seeds."""


def u_curve(level: float, width: float) -> Curve:
    """The level at the bottom, the error of 0 from `width` decades on, and more on the right."""

    def score(size: float, zero: float) -> float:
        x = np.log10(size / AT) / width
        return float(zero * (min(1.0, level + (1 - level) * x**2) + (x > 1)))

    return score


def grid_results(true: bool, seeds: int, noise: float) -> dict[PaperStudy, Results]:
    """Of all studies of the grids."""
    world = _World(true, seeds, noise)
    found = {FEATURE_NET: world.features()}
    found |= {study: world.semi_linear(*of) for of, study in SEMI_LINEAR.items()}
    found |= {study: world.views(*of) for of, study in SEMI_LINEAR_VIEWS.items()}
    return found | {study: world.networks(*of) for of, study in NETWORKS.items()}


class _World:
    def __init__(self, true: bool, seeds: int, noise: float) -> None:
        self.true, self.seeds, self.noise = true, seeds, noise

    def features(self) -> Results:
        """Nets that learn, or not."""
        level = u_curve(0.1 if self.true else 0.8, 0.9)
        rows = [
            row
            for size in SIZES
            for row in self._runs("open_grid", size, level, FEATURE_STEP_SIZES, rule="Monte Carlo")
        ]
        return Results(frame(rows), Score())

    def semi_linear(self, task: str, size: int) -> Results:
        """PTD just below ETD-variable, ETD-fixed falling behind on task 1; or the other way."""
        grown = size == 16 and (task == "cross_grid") == self.true
        fixed = (0.5 if grown else 0.4) if self.true else (0.35 if grown else 0.3)
        levels = {"TD(λ)": 0.9 if self.true else 0.1}
        levels |= {rule: fixed * (1 + i / 100) for i, rule in enumerate(INTERESTS)}
        levels |= {"ETD-variable": 0.206 if self.true else 0.5, "PTD": 0.2 if self.true else 0.6}
        rows: list[dict[str, Any]] = []
        for rule, level in levels.items():
            for form in ("", "true online"):
                change = (0.9 if self.true else 1.2) if form else 1.0
                curve = u_curve(level * change, self._tolerance(rule))
                rows += self._runs(task, size, curve, STEP_SIZES, rule=rule, learner=form)
        return Results(frame(rows), Score())

    def views(self, task: str, size: int) -> Results:
        """Held learners below the others, and with larger step sizes; or the other way."""
        held = u_curve(0.1, 1.5) if self.true else u_curve(0.3, 0.5)
        others = u_curve(0.2, 0.8)
        rows: list[dict[str, Any]] = []
        for rule in AT_TRUTH:
            for view, curve in (("online", others), ("true online", others), ("held", held)):
                rows += self._runs(task, size, curve, VIEW_STEP_SIZES, rule=rule, learner=view)
        return Results(frame(rows), Score())

    def networks(self, task: str, view: str) -> Results:
        """All methods and widths."""
        rows: list[dict[str, Any]] = []
        sizes = NETWORK_STEP_SIZES[view][task]
        for size in SIZES:
            for rule in METHODS:
                for units in WIDTHS:
                    curve = self._net(rule, view, units, size)
                    known = {"rule": rule, "learner": with_units(units), "units": units}
                    uneven = self._uneven(rule, view)
                    rows += self._runs(task, size, curve, sizes, uneven, view, **known)
        return Results(frame(rows), Score())

    def _net(self, rule: str, view: str, units: int, size: int) -> Curve:
        if self.true:
            level = {"TD(λ)": 0.6, "ETD-fixed": 0.5, "ETD-variable": 0.104, "PTD": 0.1}[rule]
            view_factor = {"forward": 1.0, "backward": 1.2 if units <= 8 else 1.05, "held": 0.9}
        else:
            level = {"TD(λ)": 0.05, "ETD-fixed": 0.06, "ETD-variable": 0.2, "PTD": 0.25}[rule]
            view_factor = {"forward": 1.0, "backward": 0.8, "held": 1.3}
        wasted = units <= 4 and (size == 16) == self.true
        inside = u_curve(level * view_factor[view] * (1.5 if wasted else 1), self._tolerance(rule))
        wild = {"forward": 1.5, "backward": 3.0 if self.true else 0.75, "held": 1.5}[view]

        def score(step_size: float, zero: float) -> float:
            return wild * zero if step_size >= WILD else inside(step_size, zero)

        return score

    def _tolerance(self, rule: str) -> float:
        return 0.5 if (rule == "ETD-variable") == self.true else 0.9

    def _uneven(self, rule: str, view: str) -> float:
        """How far seeds lie apart."""
        more = 0.002 if (rule == "ETD-variable") == self.true else 0.0006
        return more * (3 if (view == "backward") == self.true else 1)

    def _runs(
        self,
        task: str,
        size: int,
        curve: Curve,
        step_sizes: Sequence[float],
        uneven: float = 0.0,
        view: str = "",
        **known: Any,
    ) -> Iterator[dict[str, Any]]:
        rng = np.random.default_rng(list(f"{task}{size}{view}{known}".encode()))
        zero = float(zeros(task, size, tuple(range(FIRST, FIRST + self.seeds))).mean())
        place = {"task": f"size {size}", **known}
        for stage, first in (("search", FIRST), ("report", 0)):
            for step_size in step_sizes:
                for i in range(self.seeds):
                    factor = np.exp(rng.normal(0, self.noise)) * (1 + uneven * (-1) ** i)
                    error = curve(step_size, zero) * factor
                    here = {"stage": stage, "step_size": step_size, "diverged": error > 1.9 * zero}
                    yield run(first + i, [error] * 10, **here, **place)
