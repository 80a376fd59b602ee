"""Made-up results of all studies that claims ask about: worlds in which claims are true, or false.

A world says, for each method, where its U-curve over step sizes has its bottom, how deep that is
and how wide. In the true world everything is as claimed. In the false one whatever is claimed to be
larger is smaller, whatever to be wider is narrower, and what to be alike differs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import log10
from typing import Any, NamedTuple

import numpy as np

from made_runs import frame, run
from paper.made_cartpole import cartpole_results
from paper.made_control import control_results
from paper.made_drop_outs import drop_out_results
from paper.made_grids import grid_results
from paper.made_learned import learned_results
from preftd._src.arrays import Vector
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results
from preftd._src.paper.corridors import steady
from preftd._src.paper.corridors.claims import error_of_zero_in, exact_limit
from preftd._src.paper.corridors.studies import (
    AT_TRUTH,
    BETWEEN,
    BY_LENGTH,
    CONSTANT_LAMBDA,
    CONSTANT_STEPS,
    FOUR_METHODS,
    IN_VIEWS,
    LENGTHS,
    PARTS,
    ROUND,
    TASKS,
    TO_THE_LIMIT,
    TRUE_ONLINE,
    WITH_INTERESTS,
)
from preftd._src.paper.study import PaperStudy
from preftd._src.paper.walk.claims import rmse_of_zero
from preftd._src.paper.walk.studies import BY_BETA, BY_LAMBDA, INTERESTS, SCORE, STEP_SIZES, VALUES

EPISODES = 32
SIZES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


class Curve(NamedTuple):
    """A U-curve: depth, where its bottom is, and how many decades it is wide on either side."""

    level: float
    at: float
    width: float

    def score(self, size: float, zero: float) -> float:
        """Beyond the right rim it is worse than predicting 0, which it is at the rims."""
        if self.level >= zero:
            return self.level * (1 + 0.01 * abs(log10(size / self.at)))
        x = log10(size / self.at) / self.width
        rim = 2 * zero if x > 1 else zero
        return rim if abs(x) > 1 else self.level + (zero - self.level) * x**2


Settings = dict[tuple[str, str, str, int], Curve]
"""By rule, preference, learner and length."""


@dataclass(frozen=True)
class World:
    """Whether claims are true, how many seeds there are, and how much they differ (in logs)."""

    true: bool = True
    seeds: int = 6
    noise: float = 1e-4

    def results(self) -> dict[PaperStudy, Results]:
        """Of all studies."""
        found = {BY_LAMBDA: self._walk(self._by_lambda()), BY_BETA: self._walk(self._by_beta())}
        for task in TASKS:
            for studies, settings in self._corridors():
                study = studies[task]
                found[study] = self._study(study.name, task, settings)
            found[TO_THE_LIMIT[task]] = self._long(task)
            found[CONSTANT_STEPS[task]] = self._constant(task)
            found[steady.STEADY[task]] = self._steady(task)
        found |= grid_results(self.true, self.seeds, self.noise)
        found |= control_results(self.true, self.seeds, self.noise)
        found |= cartpole_results(self.true, self.seeds, self.noise)
        found |= learned_results(self.true, self.seeds, self.noise)
        return found | drop_out_results(self.true, self.seeds, self.noise)

    # -- the random walk

    def _by_lambda(self) -> Iterator[tuple[str, str, Curve]]:
        for value in VALUES:
            middle = (0.1 < value < 0.9) == self.true
            near_1 = value >= 0.9
            # Sharp on both axes, or wide on both: around a small step size, or a large one.
            width = 0.3 if near_1 == self.true else 1.2
            at = 0.05 if near_1 == self.true else 0.5
            yield "TD(λ)", f"λ = {value:g}", Curve(0.25 if middle else 0.4, at, width)
            for place, interest in enumerate(INTERESTS):
                level = 0.3 + 0.03 * (place if self.true else -place)
                level -= 0 if self.true else 0.1
                at = 1.0 / 5**place if self.true else 0.1
                curve = Curve(level, at, 0.5 if self.true else 1.5)
                yield f"ETD, interest {interest:g}", f"λ = {value:g}", curve

    def _by_beta(self) -> Iterator[tuple[str, str, Curve]]:
        for value in VALUES:
            middle = (0.1 < value < 0.9) == self.true
            curve = Curve(0.2 if middle else 0.45, 1.3 if self.true else 0.03, 2.0)
            if not self.true:
                curve = Curve(0.3 if middle else 0.45, 0.03, 0.25)
            if self.true and value == 1:
                curve = next(c for r, p, c in self._by_lambda() if (r, p) == ("TD(λ)", "λ = 0"))
            if self.true and value == 0:
                curve = Curve(rmse_of_zero(), 1.0, 1.0)
            yield "PTD", f"β = {value:g}", curve

    def _walk(self, settings: Iterator[tuple[str, str, Curve]]) -> Results:
        zero, noise = rmse_of_zero(), self._noise("walk")
        rows = [
            run(
                seed,
                (score[:2] ** 2).tolist(),
                task="random walk",
                rule=rule,
                preference=p,
                step_size=size,
            )
            for rule, p, curve in settings
            for size in STEP_SIZES
            for seed in range(self.seeds)
            for flat in [p == "β = 0" and self.true]
            for score in [(zero if flat else curve.score(size, zero)) * next(noise)]
        ]
        return Results(frame(rows), SCORE)

    # -- corridors

    def _corridors(self) -> list[tuple[dict[str, PaperStudy], Settings]]:
        """Studies by task, and the curves of their settings."""
        four, interests, constant, between, forms, views = (Settings() for _ in range(6))
        for n in LENGTHS:
            four |= {(rule, "", "", n): curve for rule, curve in self._four(n).items()}
            for place, interest in enumerate((0.01, 0.05, 0.1)):
                level = 0.5 * 1.1 ** (place if self.true else -place)
                # At the step size best for 0.01, more interest is worse, or better.
                curve = Curve(level, 1.0 if place or not self.true else 3.0, 0.8)
                interests[f"ETD, interest {interest:g}", "", "", n] = curve
            for value in (0.1, 0.5, 0.9):
                level = 1.0 if self.true else 0.001
                constant["ETD, interest 1", f"λ = {value:g}", "", n] = Curve(level, 0.1, 0.5)
            for rule in ("PTD", "ETD-variable", "ETD, interest 0.25, 0", "ETD, interest 0.5, 0.05"):
                for beta in ("1, 0", "0.75, 0", "0.5, 0", "1, 0.05", "1, 0.2"):
                    curve = Curve(self._between(rule, beta), 0.1, 0.5)
                    between[rule, f"β = {beta}", "", n] = curve
            forms |= {(rule, "", form, n): c for (rule, form), c in self._forms(n).items()}
            views |= {(rule, "", view, n): c for (rule, view), c in self._views(n).items()}
        of_ptd = {key: curve for key, curve in forms.items() if key[0] == "PTD"}
        return [
            (FOUR_METHODS, four),
            (WITH_INTERESTS, interests),
            (CONSTANT_LAMBDA, constant),
            (BETWEEN, between),
            (TRUE_ONLINE, forms),
            (IN_VIEWS, views),
            (BY_LENGTH, of_ptd),
        ]

    def _forms(self, n: int) -> dict[tuple[str, str], Curve]:
        """By rule and form."""
        found = {}
        for rule in ("TD(λ)", "ETD-variable", "PTD"):
            online = self._four(n)[rule]
            level = online.level * (0.4 if self.true else 2.0)
            if rule == "PTD":
                level = 0.005 if self.true else 0.2 * 1.05**n
            found[rule, "online"] = online
            found[rule, "true online"] = Curve(level, 0.1, 0.8)
        return found

    def _views(self, n: int) -> dict[tuple[str, str], Curve]:
        """By rule and view: held ones are as true online ones, or worse than all others."""
        found = {}
        for rule in AT_TRUTH:
            online = found[rule, "online"] = self._four(n)[rule]
            found[rule, "true online"] = Curve(online.level / 2, 0.1, 0.8)
            worse = Curve(online.level * 2, 0.03, 0.3)
            found[rule, "held"] = Curve(online.level / 2, 0.3, 1.2) if self.true else worse
        return found

    def _four(self, n: int) -> dict[str, Curve]:
        if self.true:
            return {
                "TD(λ)": Curve(5 + n / 100, 0.1, 0.5),
                "ETD-fixed": Curve(4.0, 0.1, 0.4),
                "ETD-variable": Curve(0.01, 0.1, 0.8),
                "PTD": Curve(0.02 + n / 1000, 0.1, 0.8),
            }
        return {
            "TD(λ)": Curve(0.02 - n / 10000, 0.1, 0.5),
            "ETD-fixed": Curve(0.03, 0.1, 1.2),
            "ETD-variable": Curve(0.5, 0.1, 0.4),
            "PTD": Curve(0.4 - n / 200, 0.1, 0.4),
        }

    def _between(self, rule: str, beta: str) -> float:
        hidden = beta.endswith(("0.05", "0.2")) or rule.endswith("0.05")
        changed = (rule, beta) not in (("PTD", "1, 0"), ("ETD-variable", "1, 0"))
        if hidden:
            return 0.2 if self.true else 0.01
        return 0.1 if self.true or not changed else 0.2

    def _study(self, name: str, task: str, settings: Settings) -> Results:
        rows, noise = [], self._noise(name)
        zero = error_of_zero_in(task, 5)  # the same for all lengths
        for (rule, preference, learner, n), curve in settings.items():
            for size in SIZES:
                score = curve.score(size, zero)
                known: dict[str, Any] = {
                    "task": f"length {n}",
                    "rule": rule,
                    "preference": preference,
                    "learner": learner,
                    "step_size": size,
                    "diverged": rule in AT_TRUTH and score > zero,
                }
                for stage, first in (("search", 1_000_000), ("report", 0)):
                    for i in range(self.seeds):
                        course = self._course(rule, learner or preference, score, zero)
                        rows.append(
                            run(first + i, (course * next(noise)).tolist(), stage=stage, **known)
                        )
        return Results(frame(rows), Score())

    def _course(self, rule: str, variant: str, score: float, zero: float) -> Vector:
        """A learning curve: of the paper's methods, ETD-variable falls early, PTD late; or not."""
        course = np.full(EPISODES, score)
        if rule in ("ETD-variable", "PTD") and not variant and score < zero / 4:
            early = (rule == "ETD-variable") == self.true
            course[: 1 if early else 2] = zero
        if rule == "TD(λ)" and not self.true:
            course *= np.linspace(2, 0.1, EPISODES)
        return course

    def _long(self, task: str) -> Results:
        rows, noise = [], self._noise(task)
        for rule in ("TD(λ)", "ETD-fixed", "ETD-variable", "PTD"):
            limit = exact_limit(task, 5, rule)
            course = np.full(EPISODES, limit * (1.0 if self.true else 1.5))
            if rule in ("ETD-variable", "PTD"):
                course = 0.1 / np.arange(1.0, EPISODES + 1) if self.true else np.ones(EPISODES)
            rows += [
                run(seed, list(course * next(noise)), task="length 5", rule=rule)
                for seed in range(self.seeds)
            ]
        return Results(frame(rows), Score())

    def _constant(self, task: str) -> Results:
        """What remains is in proportion to the step size, or the same for all."""
        rows, noise, zero = [], self._noise(f"{task} constant"), error_of_zero_in(task, 5)
        for rule, usual in ROUND.items():
            for part in PARTS:
                left = 0.01 / part if self.true else 0.5
                course = np.full(EPISODES, exact_limit(task, 5, rule) + left * zero)
                rows += [
                    run(
                        seed,
                        list(course * next(noise)),
                        task="length 5",
                        rule=rule,
                        step_size=usual / part,
                    )
                    for seed in range(self.seeds)
                ]
        return Results(frame(rows), Score())

    def _steady(self, task: str) -> Results:
        """Errors are those of theory, or held ones are larger and online ones smaller."""
        rows, noise = [], self._noise(f"{task} steady")
        wrong = {"held": 2.0, "online": 0.5, "true online": 1.0}
        for label, length, size in product(steady.VIEWS, steady.LENGTHS, steady.STEP_SIZES):
            error = steady.steady_error(task, length, label, size)
            course = np.full(EPISODES, error * (1.0 if self.true else wrong[label]))
            known = {"task": f"length {length}", "rule": "PTD", "learner": label}
            rows += [
                run(seed, list(course * next(noise)), step_size=size, **known)
                for seed in range(self.seeds)
            ]
        return Results(frame(rows), Score())

    def _noise(self, study: str) -> Iterator[Vector]:
        """Factors for each episode, and one for all of them."""
        rng = np.random.default_rng(list(study.encode()))
        while True:
            yield np.exp(rng.normal(0, self.noise, EPISODES) + rng.normal(0, self.noise))


@lru_cache(maxsize=1)  # a world takes 70 MB
def made(world: World) -> dict[PaperStudy, Results]:
    """The results of a world, made once."""
    return world.results()
