"""Studies of both corridor tasks (figures 3, A.2 to A.5, and two figures beyond the paper)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

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


def _four_methods(task: str, name: str) -> Study:
    """Figures 3, A.2 and A.3: learning curves, and the search behind them."""
    return _study(name, task, METHODS, step_sizes=_larger_for(task, "ETD-fixed"))


def _interests(task: str, name: str) -> Study:
    """ETD-fixed with the three interests that the paper chose from."""
    rules = {label: ETD(interest=interest) for interest, label in ETD_LABELS.items()}
    return _study(name, task, rules, step_sizes=_larger_for(task, *rules))


def _constant_lambda(task: str, name: str) -> Study:
    """Figure A.4: ETD with interest 1 and one λ for all states."""
    return _study(
        name,
        task,
        {"ETD, interest 1": ETD(interest=1.0)},
        {f"λ = {value:g}": Constant(1 - value) for value in (0.1, 0.5, 0.9)},
    )


def _between(task: str, name: str) -> Study:
    """Figure A.5: PTD and ETD-variable with values that are neither 0 nor 1."""
    return _study(
        name,
        task,
        {
            "PTD": PTD(),
            "ETD-variable": ETD_VARIABLE,
            "ETD, interest 0.25, 0": ETD(interest=Observability(0.25, 0.0)),
            "ETD, interest 0.5, 0.05": ETD(interest=Observability(0.5, 0.05)),
        },
        {
            "β = 1, 0": Observability(1.0, 0.0),
            "β = 0.75, 0": Observability(0.75, 0.0),
            "β = 0.5, 0": Observability(0.5, 0.0),
            "β = 1, 0.05": Observability(1.0, 0.05),
            "β = 1, 0.2": Observability(1.0, 0.2),
        },
        lengths=(5, 15, 25),
    )


def _true_online(task: str, name: str) -> Study:
    """Beyond the paper: three methods in both forms, on more seeds, as some differ little."""
    rules = {name: METHODS[name] for name in ("TD(λ)", "ETD-variable", "PTD")}
    study = _study(name, task, rules, learners=FORMS)
    return replace(study, seeds=MORE_SEEDS)


def _views(task: str, name: str) -> Study:
    """Beyond the paper: both methods whose limit has no error, in three views."""
    sizes = dict.fromkeys(AT_TRUTH, (*MORE_STEP_SIZES[task], *STEP_SIZES[task]))
    study = _study(name, task, AT_TRUTH, learners=VIEWS, step_sizes=sizes)
    return replace(study, seeds=MORE_SEEDS)


def _by_length(task: str, name: str) -> Study:
    """Both forms of PTD at one step size for all lengths, so that nothing else differs."""
    return Study(
        name=name,
        tasks={at_length(length): _made(task, length) for length in LENGTHS},
        rules=PTD(),
        preferences=Observability(),
        learners=FORMS,
        step_sizes=[ROUND["PTD"]],
        episodes=100,
        seeds=MORE_SEEDS,
    )


def _to_the_limit(task: str, name: str) -> Study:
    """The four methods for many episodes, with decreasing step sizes: they reach their limits."""
    sizes = {name: [Decreasing(size, delay=2000)] for name, size in ROUND.items()}
    return _at_length_5(name, task, sizes, episodes=20_000)


def _constant_steps(task: str, name: str) -> Study:
    """The same with constant step sizes, until errors no longer change."""
    sizes = {name: [size / part for part in PARTS] for name, size in ROUND.items()}
    return _at_length_5(name, task, sizes, episodes=2000)


def _at_length_5(
    name: str, task: str, step_sizes: Mapping[str, Sequence[StepSize]], episodes: int
) -> Study:
    return Study(
        name=name,
        tasks={at_length(5): _made(task, 5)},
        rules=METHODS,
        preferences=Observability(),
        step_sizes=step_sizes,
        episodes=episodes,
        seeds=SEEDS,
    )


def _study(
    name: str,
    task: str,
    rules: Mapping[str, Rule],
    preferences: Signal | Mapping[str, Signal] = Observability(),  # noqa: B008  (it cannot be changed)
    *,
    learners: Method | Mapping[str, Method] = Linear("backward"),  # noqa: B008  (nor can this)
    step_sizes: Mapping[str, Sequence[StepSize]] | None = None,
    lengths: Sequence[int] = LENGTHS,
) -> Study:
    """Rules on a task, with step sizes searched over the first 100 episodes."""
    sizes = dict.fromkeys(rules, STEP_SIZES[task]) | dict(step_sizes or {})
    return Study(
        name=name,
        tasks={at_length(length): _made(task, length) for length in lengths},
        rules=rules,
        preferences=preferences,
        learners=learners,
        step_sizes=sizes,
        episodes=TASKS[task],
        seeds=SEEDS,
        search=SEARCHED,
    )


@cache
def _made(task: str, length: int) -> Task:
    """The same for all studies: what follows from a task is worked out once."""
    return make(task, length=length)


def _larger_for(task: str, *rules: str) -> dict[str, Sequence[StepSize]]:
    return dict.fromkeys(rules, (*MORE_FOR_SMALL_INTEREST[task], *STEP_SIZES[task]))


def _on_both(name: str, build: Callable[[str, str], Study]) -> dict[str, PaperStudy]:
    """A study of each task, by task."""
    return {task: PaperStudy(f"{task} {name}", partial(build, task)) for task in TASKS}


FOUR_METHODS = _on_both("four methods", _four_methods)
WITH_INTERESTS = _on_both("interests", _interests)
CONSTANT_LAMBDA = _on_both("constant lambda", _constant_lambda)
BETWEEN = _on_both("between", _between)
TRUE_ONLINE = _on_both("true online", _true_online)
IN_VIEWS = _on_both("views", _views)
BY_LENGTH = _on_both("by length", _by_length)
TO_THE_LIMIT = _on_both("to the limit", _to_the_limit)
CONSTANT_STEPS = _on_both("constant steps", _constant_steps)
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
