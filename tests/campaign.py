"""A little of everything that runs kernels: all learners, views, tasks, samplers and encoders."""

import warnings
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from benchmarks.published import RIVALS
from learners.all_learners import LEARNERS, ONLINE, SIZE, STREAMS, update
from logs.made_logs import COLUMNS, gappy
from preferences.made_streams import continuous_walk, geometric, of_task
from preftd import ETD, PTD, ActorCritic, Critic, Experience, LinearLearner, StepSizePair, tasks
from preftd._src.paper.learned.kinds import NOTHING_WRONG
from preftd._src.paper.learned.streams import NUMBERS, rides
from preftd.experience import Fourier, Indices, TileCoding
from preftd.learners import (
    Actor,
    LeastSquares,
    Linear,
    Network,
    NetworkLearner,
    Steps,
    beta_returns,
)
from preftd.logs import LogColumns, fit
from preftd.preferences import Constant, Displacement, Learned, Observability, PerState
from preftd.rules import stream_coefficients
from preftd.torch import beta_returns as returns_of_tensors
from preftd.torch import token_advantages

VIEWS = ("backward", "true_online", "held", "forward")


def run_all_kernels() -> None:
    """Run every kernel at least once, with arrays of all kinds of shapes."""
    warnings.simplefilter("ignore")
    _samplers()
    _online()
    _streams()
    _eras()
    _batches()
    _rivals()
    _learned()
    for kind in NUMBERS:
        rides(kind, 1, np.random.default_rng(0))
    NOTHING_WRONG["walk"].episodes(0, 1)
    _long_segments()
    _control()
    _returns()
    _logs()


def _logs() -> None:
    for gaps, preference in ((0.2, "quality"), (0.2, "missing"), (0.0, "missing")):
        log = gappy(gaps=gaps)
        whole = log.with_columns(c=log["s"], d=log["r"])
        named: dict[str, Any] = COLUMNS | {"features": ["a", "b", "c", "d"]}
        for more in ({}, {"episode": None, "terminated": None}):
            with TemporaryDirectory() as out:
                columns = LogColumns(**named | {"preference": preference} | more)
                fit(whole, columns, out, folds=3)


def _returns() -> None:
    for streams in ((), (5,), (2, 3)):
        for axis in range(len(streams) + 1):
            reward = np.ones((*streams[:axis], 4, *streams[axis:]))
            beta_returns(reward, 1.0, 0.5 * reward, discount=0.9, terminated=reward > 1, axis=axis)
            beta, discount = (torch.tensor(k * reward, requires_grad=True) for k in (0.5, 0.9))
            found = returns_of_tensors(
                torch.tensor(reward), 1.0, beta, discount=discount, axis=axis
            )
            torch.autograd.grad(found.sum(), [beta, discount])
    for rows, tokens in ((1, 1), (5, 4), (2, 9)):
        paid, mask = torch.ones(rows, tokens), torch.arange(tokens).expand(rows, -1) % 3 != 1
        token_advantages(paid, paid, mask, gamma=0.9, lam=0.5, truncated=True)


def _samplers() -> None:
    for name in sorted(tasks.TASKS):
        sampler = tasks.make(name).sampler(0)
        for count in (1, 3, 40):
            sampler.steps(count)


def _online() -> None:
    rng = np.random.default_rng(0)
    for name in ONLINE:
        learner = LEARNERS[name]()
        for t in range(12):
            numbers = {"beta": float(t % 3) / 2, "discount": float(t % 5 > 0) * 0.9}
            pair: Any = rng.random((2, SIZE))
            if t % 2 and "actor" not in name:
                pair = [Indices(rng.integers(0, SIZE, 2)) for _ in range(2)]
            update(learner, pair[0], 1.0, pair[1], truncated=t % 7 == 6, **numbers)
        learner.predict(np.eye(SIZE))
        if "actor" not in name:
            learner.update(Indices([0]), 1.0, Indices([1]), discount=0.9, beta=0.5)
            learner.predict(Indices([0, 2]))
        if name == "held":
            learner.discount_t = 0.0  # the episode is left
        learner.load_state_dict(learner.state_dict())


def _log(ones: int, mixed: bool) -> Experience:
    """Steps with indices, vectors or both; the last episode is not over."""
    rng, steps = np.random.default_rng(ones), 24
    codes = rng.integers(-4 if mixed else 0, 5 if ones else 0, (2, steps))
    is_last = np.arange(steps) % 7 == 6
    discount = np.where(np.arange(steps) % 14 == 6, 0.0, 0.9)
    is_first = np.append(True, is_last[:-1])
    return Experience(
        SIZE, codes[0], codes[1], rng.random((4, SIZE)), rng.normal(size=steps), discount,
        np.where(is_first, 0.0, np.append(0.0, discount[:-1])), is_first, is_last,
        active=rng.integers(0, SIZE, (5, ones), dtype=np.int32) if ones else None,
    )  # fmt: skip


def _streams() -> None:
    beta = np.arange(24) % 3 / 2
    for name in STREAMS:
        for ones, mixed in ((0, True), (2, True), (2, False)):
            if name == "pretrained" and ones:
                continue
            e = _log(ones, mixed)
            whole = e[:21] if name not in ONLINE else e
            for preference in (beta, np.round(beta), 0.0 * beta):
                LEARNERS[name]().learn(whole, beta=preference[: len(whole)])


def _eras() -> None:
    """So many that all pages are filled, and every index is brought up to date."""
    for view in ("backward", "true_online", "held"):
        learner = LinearLearner(70, PTD(), 0.01, view=view)
        for t in range(150):
            pair = Indices([t % 70]), Indices([(t * 7) % 70])
            learner.update(*pair[:1], 1.0, pair[1], discount=0.9, beta=1.0 if t % 2 else 0.5)
        learner.predict(np.eye(70))


def _batches() -> None:
    for name, kwargs in (("corridor", {"length": 3}), ("cross_grid", {"size": 2})):
        task = tasks.make(name, **kwargs)
        e = task.sampler(0).episodes(2)
        for preference in (Constant(1.0), Constant(0.5), Observability()):
            for rule in (PTD(), ETD()):
                steps = Steps.of(e, stream_coefficients(rule, preference, e))
                specs: list[Any] = [Linear(view) for view in VIEWS]
                specs += [Network(3, view) for view in ("backward", "forward", "held")]
                specs += [Network(2, "forward", "adam"), Linear("backward", bounded=True)]
                specs += [Network(3, view, bounded=True) for view in ("backward", "held")]
                for spec in specs:
                    for sizes in ([0.01], [0.01] * 9):
                        spec.start(e.size, sizes, 0).learn(steps, task.scored)
                for recursive in (False, True):
                    LeastSquares(1.0, recursive).start(e.size, [None], 0).learn(steps, task.scored)


def _learned() -> None:
    """Cells that repeat, that jitter, that are tiles; and more clusters than there is room for."""
    task = tasks.make("corridor", length=5)
    noise = np.random.default_rng(0).standard_normal((600, 2))
    made = [of_task(task, 30, aliased=aliased, jitter=0.05)(0) for aliased in (False, True)]
    streams = [
        case.experience[:400]
        for case in (*made, continuous_walk(3)(0), geometric(60, aliased=True)(0))
    ]
    ends = np.arange(600) % 6 == 5
    log = np.where((np.arange(600) % 3 == 0)[:, None], 0.01 * noise, noise)
    streams.append(Experience.from_log(log, 0.0 * ends, discount=1.0, terminated=ends))
    for stream in streams:
        for linear in (False, True):
            Learned(linear=linear).stream(stream)


def _rivals() -> None:
    task = tasks.make("corridor", length=2)
    e = task.sampler(0).episodes(4)
    steps = Steps.of(e, stream_coefficients(PTD(), Constant(1.0), e))
    for rival in RIVALS.values():
        rival.start(e.size, [0.01, 0.1], 0).learn(steps, task.scored)


def _long_segments() -> None:
    """Traces of a network over more steps than are followed at once."""
    steps, rng = 20, np.random.default_rng(0)
    for inputs in (rng.random((steps, SIZE)), Indices(np.arange(steps) % SIZE)):
        log = Experience.from_log(
            inputs, np.ones(steps), discount=0.9, terminated=np.arange(steps) == 19, size=SIZE
        )
        NetworkLearner(SIZE, PTD(), 0.01, units=1, view="backward").learn(log, beta=0.5)


def _control() -> None:
    pair = StepSizePair(actor=0.01, critic=0.01)
    low, high = [-3.0] * 4, [3.0] * 4
    encoders = (None, TileCoding(low, high, [3] * 4, 2), Fourier(low, high, order=1))
    for view in ("backward", "true_online", "held"):
        for encoder in encoders:
            for bias in (False, True):
                critic = Critic(view=view, features=encoder, bias=bias, bounded=bias)
                spec = ActorCritic(Actor(units=2, bias=bias, activation="relu"), critic)
                moved = Displacement({0: 0.1})
                spec.run(tasks.CartPole(limit=9), ETD(), moved, [pair], 2, 0)
    for noise in (0.0, 1.0):
        dropped = tasks.CartPoleDropOuts(dropped=0.5, noise=noise, limit=9)
        ActorCritic().run(dropped, PTD(), Observability(), [pair], 2, 0)
    corridor = tasks.ControlTask(tasks.make("corridor", length=2))
    states = PerState(np.linspace(0, 1, tasks.make("corridor", length=2).process.states))
    for preference in (Constant(0.5), Observability(), states):
        ActorCritic().run(corridor, PTD(), preference, [pair], 2, 0)
