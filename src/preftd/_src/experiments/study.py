"""A study: a comparison as data, built in Python or loaded from a file.

tasks × rules × preferences × learners × step sizes × seeds: every combination is a cell. A study is
checked when it is built; errors name the field. Labels are for people; results are found by
content.
"""

from __future__ import annotations

import itertools
import re
import sys
import traceback
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import module_from_spec, spec_from_file_location
from itertools import combinations
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Self, final

import numpy as np

from preftd._src import command
from preftd._src.arrays import Dense, InputError, as_count, instance, short
from preftd._src.experiments.axes import Axes, Labels, OneOrMore, StepSizes, made_task
from preftd._src.experiments.content import content, digest
from preftd._src.experiments.inputs import are_several, as_seed_count, as_seeds, listed
from preftd._src.experiments.learning import FAILURES, TaskSource, acts
from preftd._src.experiments.measures import OF_PREDICTION, UPDATED, Measure, Score, as_measure
from preftd._src.learners.linear.batch import Linear
from preftd._src.learners.step_size import StudyStepSize, as_study_step_size
from preftd._src.learners.views import for_rule
from preftd._src.registration import register_environments
from preftd._src.rules.rule import bootstrapped
from preftd.preferences import Signal
from preftd.rules import Rule

FIRST_SEARCH_SEED = 1_000_000
"""The first search seed if only their number is given: far from reported seeds."""


@final
@dataclass(frozen=True, kw_only=True)
class Search:
    """How step sizes are chosen: by the study's score, on seeds that are not reported.

    Parameters
    ----------
    seeds : int or sequence of int
        Which seeds, or how many (1000000, 1000001, …).
    episodes : int
        Number of episodes of each search run (default: as in the study).

    """

    seeds: int | Iterable[int]
    episodes: int | None = None

    def __post_init__(self) -> None:
        if are_several(self.seeds):
            chosen = as_seeds("search.seeds", self.seeds)
        else:
            count = as_seed_count("search.seeds", self.seeds)
            chosen = tuple(range(FIRST_SEARCH_SEED, FIRST_SEARCH_SEED + count))
        object.__setattr__(self, "seeds", chosen)
        if self.episodes is not None:
            object.__setattr__(self, "episodes", as_count("search.episodes", self.episodes))


@final
@dataclass(frozen=True)
class Chosen:
    """Known step sizes: nothing is searched, and these alone are reported.

    Parameters
    ----------
    step_sizes : mapping
        Step sizes by the labels of a task, a rule, a preference and a learner (None for a learner
        that takes none). Combinations that are not named are not run.

    Examples
    --------
    >>> chosen = Chosen({("length 5", "TD(λ)", "", ""): 0.03, ("length 5", "PTD", "", ""): 0.3})
    >>> chosen.step_sizes["length 5", "PTD", "", ""]
    0.3

    """

    step_sizes: Mapping[tuple[str, str, str, str], StudyStepSize | None]

    def __post_init__(self) -> None:
        given: object = self.step_sizes
        if not isinstance(given, Mapping) or not given:
            raise InputError(
                f"search.step_sizes is {short(given)}: give step sizes by labels, as in "
                '{("length 5", "PTD", "", ""): 0.1}.'
            )
        sizes = {
            _labels(labels): size
            if size is None
            else as_study_step_size(f"search.step_sizes[{short(labels)}]", size)
            for labels, size in given.items()
        }
        object.__setattr__(self, "step_sizes", MappingProxyType(sizes))


def _labels(given: object) -> Labels:
    if not isinstance(given, tuple) or len(given) != len(Labels._fields):
        raise InputError(
            f"search.step_sizes has the labels {short(given)}: give those of a task, a rule, a "
            "preference and a learner."
        )
    return Labels(*given)


__all__ = ["Chosen", "Search", "Study"]

MOST_SEED = 2**63
MOST_NAME = 100
"""The most bytes of a study's name: names of files, which may have 255, are longer."""
_NAME = r"\w[\w ,.+()=-]*"


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """Everything that is run, and its score.

    Parameters
    ----------
    name : str
        Name of the study and its files.
    tasks : one or more tasks
        With labels as {"grid": task}. For a different task for each seed give a function:
        {"grid": lambda seed: tasks.make("random_grid", seed=seed)}. Learners that act take anything
        with a name.
    rules : one or more rules
        Two of the same kind need labels.
    preferences : one or more preferences
        Each a `Signal`, a number, an array of shape (states,) or a function of the observation.
    step_sizes : sequence, or mapping from the label of a rule to a sequence
        None if no learner takes a step size.
    episodes : int
        Number of episodes of each run.
    seeds : int or sequence of int
        Which seeds, or how many (0, 1, …).
    learners : one or more learners
        `Linear(...)`, `Network(...)`, `LeastSquares(...)`, a function of size, step size and seed
        that makes a learner of yours, or an algorithm that acts (default: `Linear()`). A learner
        without a view uses that of each rule.
    search : Search or Chosen
        `Search(...)`: step sizes are chosen on its seeds, and only those are run on the seeds of
        the study. `Chosen(...)`: step sizes are given. None: all are run on all seeds.
    score : Score
        The score that compares runs and chooses step sizes.
    measures : sequence of str or Measure
        What is recorded after each episode: "error", "return", "updated", or what an algorithm that
        acts yields (default: what the score needs).

    Examples
    --------
    >>> from preftd import PTD, TD, tasks
    >>> from preftd.preferences import Observability
    >>> study = Study(
    ...     name="corridors",
    ...     tasks=[tasks.make("corridor", length=n) for n in (5, 10)],
    ...     rules=[TD(), PTD()],
    ...     preferences=Observability(),
    ...     step_sizes=[0.01, 0.1],
    ...     episodes=50,
    ...     seeds=10,
    ...     search=Search(seeds=5),
    ... )
    >>> study
    <Study corridors: 2 tasks × 2 rules × 1 preference × 1 learner, 10 seeds, 50 episodes>

    """

    name: str
    tasks: OneOrMore[TaskSource]
    rules: OneOrMore[Rule]
    preferences: OneOrMore[Any]
    step_sizes: StepSizes | Mapping[str, StepSizes] | None = None
    episodes: int
    seeds: int | Iterable[int]
    learners: OneOrMore[Any] = Linear()  # noqa: RUF009  (it cannot be changed)
    search: Search | Chosen | None = None
    score: Score = Score()  # noqa: RUF009  (nor can this)
    measures: Sequence[str | Measure] | None = None
    axes: Axes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check_name(self.name)
        object.__setattr__(self, "episodes", as_count("episodes", self.episodes))
        seeds = as_seeds("seeds", self.seeds)
        object.__setattr__(self, "seeds", seeds)
        if self.measures is not None:  # it may be possible to walk through them only once
            object.__setattr__(
                self, "measures", tuple(listed("measures", self.measures, '["error"]'))
            )
        _check_score(self)
        _check_seeds(seeds, self.search)
        axes, known = Axes.of(self), isinstance(self.rules, MappingProxyType)  # of another study
        object.__setattr__(self, "axes", axes)
        if isinstance(self.search, Chosen):
            _check_chosen(self.search, axes)
        for name in ("tasks", "rules", "preferences", "learners", "step_sizes"):
            # A copy, which nobody else can change, and of what could be walked through only once.
            object.__setattr__(self, name, MappingProxyType(dict(getattr(axes, name))))
        _check_measures(self)
        for label, source in axes.tasks:
            made_task(label, source, seeds[0], self.acting)
        if not known:
            _warn_of_twins(axes)

    @property
    def measured(self) -> tuple[Measure, ...]:
        """What is recorded after each episode."""
        if self.measures is None:
            return (self.score.measure,)
        return tuple(as_measure(f"measures[{i}]", one) for i, one in enumerate(self.measures))

    @property
    def acting(self) -> bool:
        """Whether all learners draw their own experience."""
        return all(acts(learner) for _, learner in self.axes.learners)

    @property
    def stem(self) -> str:
        """The prefix of the names of its figures."""
        return self.name.replace(" ", "_")

    def with_seeds(self, count: int) -> Self:
        """The study with n seeds: the first ones and, if needed, more after the last."""
        wanted, have = as_seed_count("seeds", count), as_seeds("seeds", self.seeds)
        searched = _searched(self.search)
        others = (seed for seed in itertools.count(max(have) + 1) if seed not in searched)
        more = itertools.islice(others, max(0, wanted - len(have)))
        search = self.search
        if isinstance(search, Search):
            search = replace(search, seeds=searched[:wanted])
        return replace(self, seeds=(*have[:wanted], *more), search=search)

    def __repr__(self) -> str:
        seeds = as_seeds("seeds", self.seeds)
        parts = (_counted(len(getattr(self.axes, f"{name}s")), name) for name in Labels._fields)
        return (
            f"<Study {self.name}: {' × '.join(parts)}, {_counted(len(seeds), 'seed')}, "
            f"{_counted(self.episodes, 'episode')}>"
        )


def check_study(given: Any) -> None:
    """Refuse anything but a study."""
    instance("study", given, Study, "one, as in study = Study(...)")


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not re.fullmatch(_NAME, name):
        raise InputError(f"name is {short(name)}: give a few words, as for a file.")
    size = len(name.encode())
    if size > MOST_NAME:
        raise InputError(
            f"name is {name[:20] + '…'!r}, {size} bytes long: give at most {MOST_NAME}, as for a "
            "file."
        )


def _check_score(study: Study) -> None:
    search = study.search
    if search is not None and not isinstance(search, Search | Chosen):
        raise InputError(f"search is {short(search)}: give Search(seeds=25), Chosen(...) or None.")
    instance("score", study.score, Score, 'one, such as Score("rmse")')
    searched = search.episodes if isinstance(search, Search) else None
    least = min(study.episodes, searched or study.episodes)
    if (study.score.last or 1) > least:
        raise InputError(
            f"score.last is {study.score.last} but runs have {least} episodes: give more episodes, "
            "or a score of fewer."
        )


def _check_seeds(seeds: tuple[int, ...], search: Search | Chosen | None) -> None:
    searched = _searched(search)
    for name, chosen in (("seeds", seeds), ("search.seeds", searched)):
        wrong = next((seed for seed in chosen if not 0 <= seed < MOST_SEED), None)
        if wrong is not None:
            raise InputError(f"{name} has {wrong}: give whole numbers from 0 to 2⁶³ − 1.")
    both = sorted(set(seeds) & set(searched))
    if both:
        raise InputError(
            f"seed {both[0]} is in both seeds and search.seeds: report a step size on other seeds "
            "than it was chosen on, or leave search out."
        )


def _searched(search: Search | Chosen | None) -> tuple[int, ...]:
    """The seeds of a search."""
    return as_seeds("search.seeds", search.seeds) if isinstance(search, Search) else ()


def _check_chosen(chosen: Chosen, axes: Axes) -> None:
    """Refuse labels that are not in the study."""
    for given, size in chosen.step_sizes.items():
        labels = Labels(*given)
        for kind, label in labels._asdict().items():
            known = [name for name, _ in getattr(axes, f"{kind}s")]
            if label not in known:
                raise InputError(
                    f"search.step_sizes has the labels {tuple(given)}, but there is no {kind} "
                    f"{short(label)}: known are {', '.join(map(repr, known))}."
                )
        sizes = axes.sizes_of(labels.rule, labels.learner)
        if size not in sizes:
            raise InputError(
                f"search.step_sizes has {size} for {tuple(given)}: give one of those of its rule, "
                f"{', '.join(map(str, sizes))}."
            )


def _check_measures(study: Study) -> None:
    """Refuse measures that are named twice, not yielded, or lack the one that is scored."""
    names = [measure.name for measure in study.measured]
    if len(set(names)) < len(names):
        raise InputError(f"measures are {', '.join(names)}: give each once.")
    if study.score.measure.name not in names:
        raise InputError(
            f"measures are {', '.join(names)}, but the score needs {study.score.measure.name!r}: "
            "add it."
        )
    watched = any(signal.watches_learner for _, signal in study.axes.preferences)
    if UPDATED.name in names and watched and not study.acting:
        raise InputError(
            "measures has 'updated', which is not known for a preference that watches the learner: "
            "leave it out."
        )
    if not study.acting and (other := [name for name in names if name not in OF_PREDICTION]):
        raise InputError(
            f"measures has {other[0]!r}, which only an algorithm that acts can yield: give some of "
            f"{', '.join(OF_PREDICTION)}."
        )


def _warn_of_twins(axes: Axes) -> None:
    """Warn of rules with equal coefficients: one of them may be a mistake."""
    found = [(label, rule, _coefficients(rule)) for label, rule in axes.rules]
    for (first, one, of_one), (second, other, of_other) in combinations(found, 2):
        alike = of_one is not None and of_other is not None and np.allclose(of_one, of_other)
        if alike and any(
            content(for_rule(learner, one)) == content(for_rule(learner, other))
            for _, learner in axes.learners
        ):
            warnings.warn(
                f"the rules {first!r} and {second!r} have equal coefficients and learn the same: "
                "leave one out, or give it another gain or bootstrap.",
                stacklevel=5,
            )


def _coefficients(rule: Rule) -> Dense | None:
    """The bootstrap, decay and gain of a rule at some β; None if they cannot be computed.

    Interests that depend on states are equal if their contents are.
    """
    rng = np.random.default_rng(0)
    beta, discount_t, rho = np.concatenate([[0.0, 1.0], rng.random(14)]), rng.random(16), 0.5
    try:
        source, interest = rule.interest, None
        if isinstance(source, Signal | np.ndarray):
            interest = np.random.default_rng(int(digest(content(source)), 16)).random(16)
        (decay, gain), _ = rule.stream(
            0.0, discount_t=discount_t, beta=beta, interest=interest, rho=rho
        )
        return np.array([bootstrapped(rule, beta), decay, gain])
    except FAILURES:  # the run says what is wrong with the user's code
        return None


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'s' * (count != 1)}"


def load_studies(path: Path, seeds: int | None = None) -> list[Study]:
    """The studies that a file defines, in the order of its lines; with `seeds` seeds, if given."""
    studies = [part for part in vars(_module(path)).values() if isinstance(part, Study)]
    once = list({id(study): study for study in studies}.values())
    if not once:
        raise InputError(f"{path} defines no study: write study = Study(...) in it.")
    _check_names(path, once)
    return once if seeds is None else [study.with_seeds(seeds) for study in once]


def _check_names(path: Path, studies: Sequence[Study]) -> None:
    """Refuse studies that share a name, or file names of figures."""
    for first, second in combinations(studies, 2):
        if first.name == second.name:
            raise InputError(
                f"{path} has two studies called {first.name!r}: give each its own name."
            )
        if first.stem.casefold() == second.stem.casefold():  # the same file on some systems
            raise InputError(
                f"{path} has two studies, {first.name!r} and {second.name!r}, whose figures would "
                "overwrite each other: give one of them another name."
            )


def _module(path: Path) -> ModuleType:
    """The file, run as a module; it may import modules from its folder."""
    import cloudpickle  # noqa: PLC0415  (only studies need it)

    if not path.is_file():
        raise InputError(f"there is no file {path}: give the path of a study, a Python file.")
    name = f"study_{path.stem}"
    spec = spec_from_file_location(name, path)
    if path.suffix != ".py" or spec is None or spec.loader is None:
        raise InputError(f"{path} is not a Python file: write the study into one that ends in .py.")
    module = module_from_spec(spec)
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    register_environments()  # the command has not done so yet, and the file may use their names
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt) and (
            command.was_interrupted() or not command.is_running()
        ):
            raise  # it may be the user's, not the file's
        where = f"{path}{_line(error, path)}"
        if isinstance(error, InputError):
            raise InputError(f"{where}: {error}") from error
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        line = (said.splitlines() or ["no message"])[0].rstrip(".")
        raise InputError(f"{where} raises {type(error).__name__}: {line}.") from error
    # Workers cannot import the file by its name; they are sent what it defines.
    cloudpickle.register_pickle_by_value(module)
    return module


def _line(error: BaseException, path: Path) -> str:
    """The line of the file that raised an error, if it was there."""
    if isinstance(error, SyntaxError) and _same(error.filename, path):
        return f" in line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    here = [frame.lineno for frame in frames if _same(frame.filename, path)]
    return f" in line {here[-1]}" if here else ""


def _same(file: str | None, path: Path) -> bool:
    return file is not None and Path(file).resolve() == path.resolve()
