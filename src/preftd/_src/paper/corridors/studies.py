"""Studies of both corridor tasks (figures 3, A.2 to A.5, and two figures beyond the paper)."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from preftd._src.experiments.learning import Method
from preftd._src.experiments.study import Search, Study
from preftd._src.learners.step_size import StepSize
from preftd._src.paper.study import PaperStudy
from preftd.learners import Decreasing, Linear
from preftd.preferences import Constant, Observability, Signal
from preftd.rules import ETD, PTD, TD, Rule
from preftd.tasks import Task, make

TASKS = {"corridor": 100, "double_corridor": 200}
"""Both tasks, and how many episodes their learning curves have."""
LENGTHS = (5, 10, 15, 20, 25)
SEEDS, MORE_SEEDS = 25, 100
"""As many as the paper has; and more where differences are small, beyond the paper."""
SEARCHED = Search(seeds=25, episodes=100)
ETD_VARIABLE = ETD(interest=Observability(observable=0.5, hidden=0.0))
METHODS = {
    "TD(λ)": TD(),
    "ETD-fixed": ETD(interest=0.01),
    "ETD-variable": ETD_VARIABLE,
    "PTD": PTD(),
}
"""The paper's four methods; λ = 1 − β throughout."""
STEP_SIZES = {
    "corridor": (
        1.2, 1, 0.8, 0.5, 0.3, 0.1, 8e-2, 5e-2, 3e-2, 1e-2, 7e-3, 4e-3, 1e-3, 7e-4, 4e-4, 1e-4,
        7e-5, 4e-5,
    ),
    "double_corridor": (
        0.8, 0.5, 0.3, 0.1, 8e-2, 5e-2, 3e-2, 1e-2, 7e-3, 4e-3, 1e-3, 7e-4, 4e-4, 1e-4,
    ),
}  # fmt: skip
ETD_LABELS = {interest: f"ETD, interest {interest:g}" for interest in (0.01, 0.05, 0.1)}
"""Labels of ETD by the interests that the paper chose ETD-fixed from."""
FORMS = {"online": Linear("backward"), "true online": Linear("true_online")}
VIEWS = {**FORMS, "held": Linear("held")}
"""The paper's algorithm, and two that are not in the paper."""
AT_TRUTH = {rule: METHODS[rule] for rule in ("ETD-variable", "PTD")}
"""Methods whose limit has no error."""
MORE_STEP_SIZES = {
    "corridor": (2.5, 2, 1.8, 1.5, 0.6, 0.4, 0.2, 0.15),
    "double_corridor": (2.5, 2, 1.8, 1.5, 1.2, 1, 0.6, 0.4, 0.2, 0.15),
}
"""Where views are compared: larger ones than the paper's, and some between them."""
ROUND = {"TD(λ)": 0.03, "ETD-fixed": 1.0, "ETD-variable": 0.1, "PTD": 0.1}
"""Step sizes near those that searches find, for studies with the same one at all lengths."""
PARTS = (1, 2, 4)
"""Divisors of these step sizes, to see what depends on them."""
MORE_FOR_SMALL_INTEREST = {
    "corridor": (10, 5, 4, 3.5, 3, 2.5, 2, 1.8, 1.5),
    "double_corridor": (2.5, 1.8, 1.2),
}
"""ETD with constant interest depends on the product of step size and interest only, so a small
interest asks for large step sizes."""


def at_length(length: int) -> str:
    """The label of a task at this length."""
    return f"length {length}"


def title_of(task: str) -> str:
    """The name of a task in texts."""
    return task.replace("_", " ")


@cache
def made(task: str, length: int) -> Task:
    """A task, the same for all studies: what follows from it is worked out once."""
    return make(task, length=length)


class CorridorSetting(NamedTuple):
    """A study of either task, as data.

    Step sizes are searched over the first 100 episodes, if they are not given.

    rules, preferences, learners  what is compared
    more                          step sizes besides the paper's, by rule and task
    step_sizes                    those that are given, by rule
    lengths, episodes, seeds      how much of it
    """

    rules: Mapping[str, Rule]
    preferences: Signal | Mapping[str, Signal] = Observability()
    learners: Method | Mapping[str, Method] = Linear("backward")
    more: Mapping[str, Mapping[str, tuple[float, ...]]] = {}
    step_sizes: Mapping[str, Sequence[StepSize]] | None = None
    lengths: Sequence[int] = LENGTHS
    episodes: int | None = None
    seeds: int = SEEDS

    def study(self, task: str, name: str) -> Study:
        """The study of a task."""
        sizes: Mapping[str, Sequence[StepSize]] = self.step_sizes or {
            rule: (*self.more.get(rule, {}).get(task, ()), *STEP_SIZES[task]) for rule in self.rules
        }
        return Study(
            name=name,
            tasks={at_length(length): made(task, length) for length in self.lengths},
            rules=self.rules,
            preferences=self.preferences,
            learners=self.learners,
            step_sizes=sizes,
            episodes=self.episodes or TASKS[task],
            seeds=self.seeds,
            search=None if self.step_sizes else SEARCHED,
        )


def on_both(name: str, setting: CorridorSetting) -> dict[str, PaperStudy]:
    """A study of each task, by task."""
    return {task: PaperStudy(f"{task} {name}", partial(setting.study, task)) for task in TASKS}


FOUR_METHODS = on_both(
    "four methods", CorridorSetting(METHODS, more={"ETD-fixed": MORE_FOR_SMALL_INTEREST})
)
"""Figures 3, A.2 and A.3: learning curves, and the search behind them."""
_INTERESTS = {label: ETD(interest=interest) for interest, label in ETD_LABELS.items()}
WITH_INTERESTS = on_both(
    "interests",
    CorridorSetting(_INTERESTS, more=dict.fromkeys(_INTERESTS, MORE_FOR_SMALL_INTEREST)),
)
"""ETD-fixed with the three interests that the paper chose from."""
CONSTANT_LAMBDA = on_both(
    "constant lambda",
    CorridorSetting(
        {"ETD, interest 1": ETD(interest=1.0)},
        {f"λ = {value:g}": Constant(1 - value) for value in (0.1, 0.5, 0.9)},
    ),
)
"""Figure A.4: ETD with interest 1 and one λ for all states."""
BETWEEN = on_both(
    "between",
    CorridorSetting(
        {
            "PTD": PTD(),
            "ETD-variable": ETD_VARIABLE,
            "ETD, interest 0.25, 0": ETD(interest=Observability(0.25, 0.0)),
            "ETD, interest 0.5, 0.05": ETD(interest=Observability(0.5, 0.05)),
        },
        {
            f"β = {seen:g}, {hidden:g}": Observability(seen, hidden)
            for seen, hidden in ((1.0, 0.0), (0.75, 0.0), (0.5, 0.0), (1.0, 0.05), (1.0, 0.2))
        },
        lengths=(5, 15, 25),
    ),
)
"""Figure A.5: PTD and ETD-variable with values that are neither 0 nor 1."""
TRUE_ONLINE = on_both(
    "true online",
    CorridorSetting(
        {rule: METHODS[rule] for rule in ("TD(λ)", "ETD-variable", "PTD")},
        learners=FORMS,
        seeds=MORE_SEEDS,
    ),
)
"""Beyond the paper: three methods in both forms, on more seeds, as some differ little."""
IN_VIEWS = on_both(
    "views",
    CorridorSetting(
        AT_TRUTH,
        learners=VIEWS,
        more=dict.fromkeys(AT_TRUTH, MORE_STEP_SIZES),
        seeds=MORE_SEEDS,
    ),
)
"""Beyond the paper: both methods whose limit has no error, in three views."""
BY_LENGTH = on_both(
    "by length",
    CorridorSetting(
        {"PTD": PTD()},
        learners=FORMS,
        step_sizes={"PTD": [ROUND["PTD"]]},
        episodes=100,
        seeds=MORE_SEEDS,
    ),
)
"""Both forms of PTD at one step size for all lengths, so that nothing else differs."""
TO_THE_LIMIT = on_both(
    "to the limit",
    CorridorSetting(
        METHODS,
        step_sizes={rule: [Decreasing(size, delay=2000)] for rule, size in ROUND.items()},
        lengths=(5,),
        episodes=20_000,
    ),
)
"""The four methods for many episodes, with decreasing step sizes: they reach their limits."""
CONSTANT_STEPS = on_both(
    "constant steps",
    CorridorSetting(
        METHODS,
        step_sizes={rule: [size / part for part in PARTS] for rule, size in ROUND.items()},
        lengths=(5,),
        episodes=2000,
    ),
)
"""The same with constant step sizes, until errors no longer change."""
STUDIES = tuple(
    studies[task]
    for task in TASKS
    for studies in (
        FOUR_METHODS,
        WITH_INTERESTS,
        CONSTANT_LAMBDA,
        BETWEEN,
        TRUE_ONLINE,
        IN_VIEWS,
        BY_LENGTH,
        TO_THE_LIMIT,
        CONSTANT_STEPS,
    )
)
