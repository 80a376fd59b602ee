"""JAX: β-returns compared with rlax, and linear learning with scans written by hand.

All contenders compute the same numbers. rlax has λ-returns of one stream, so it runs under
`jax.vmap`; what is written by hand is the shortest scan over all streams that knows neither NaN nor
truncation. Gradients are those for rewards and next values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.returns import SIZES, Workload
from benchmarks.returns import contenders as of_returns
from benchmarks.timing import Contender, MissingError, compete, digits, head, row
from preftd import PTD, tasks
from preftd.learners import Linear, Steps
from preftd.preferences import Observability
from preftd.rules import stream_coefficients

SECONDS = 10.0
RETURNS = ("ours, JAX", "rlax, jit", "by hand", "ours, NumPy", "ours, torch")
LEARNING = ("ours, JAX", "by hand", "decay given", "ours, NumPy")
STEP_SIZES = 24


def table(
    seconds: float = SECONDS, sizes: Sequence[tuple[int, int]] = SIZES, episodes: int = 2000
) -> Iterator[str]:
    """Yield the lines of two Markdown tables: µs per call, and ns per update."""
    ratios = ("ours / rlax", "ours / by hand")
    yield from head(["µs per call, streams × steps", *RETURNS, *ratios])
    for gradients in (False, True):
        for kind in ("float32", "float64"):
            for streams, steps in sizes:
                work = Workload.drawn(streams, steps, kind)
                times = compete(contenders(work, gradients=gradients), seconds)
                cells = [
                    digits(times.ns[c] / 1e3) if c in times.ns else times.cell(c) for c in RETURNS
                ]
                pairs = [times.ratio("ours, JAX", other) for other in RETURNS[1:3]]
                what = "with gradients" if gradients else "forward"
                yield row([f"{streams} × {steps}, {kind}, {what}", *cells, *pairs])
    yield ""
    yield from head([f"ns per update, {STEP_SIZES} step sizes", *LEARNING, "ours / by hand"])
    for name in ("corridor", "random_walk"):
        for view in ("backward", "held"):
            times = compete(linear(name, view, episodes), seconds)
            cells = [times.cell(c) for c in LEARNING]
            yield row([f"{name}, {view}", *cells, times.ratio("ours, JAX", "by hand")])


def _jax() -> Any:
    try:
        jax: Any = import_module("jax")
        import_module("optax")
    except ModuleNotFoundError as error:
        raise MissingError(f"no {error.name}") from None
    jax.config.update("jax_enable_x64", True)  # or it would compute float64 in float32
    return jax


def contenders(work: Workload, *, gradients: bool) -> dict[str, Contender]:
    """Return all contenders by name; `once` of each returns arrays of shape (steps, streams)."""
    others = of_returns(work, gradients=gradients)
    ours: dict[str, Callable[..., Any]] = {"ours, JAX": _ours, "by hand": _by_hand}
    made = {name: _compiled(make, work, gradients) for name, make in ours.items()}
    return {name: made[name] if name in made else others[name] for name in RETURNS}


def _compiled(make: Callable[..., Any], work: Workload, gradients: bool) -> Contender:
    found: list[Any] = []

    def run(_: Any) -> Any:
        if not found:
            found.append(_in_jit(make, work, gradients))
        return found[0]()

    return Contender(run, 1)


def _in_jit(make: Callable[..., Any], work: Workload, gradients: bool) -> Callable[[], Any]:
    jax = _jax()
    returns, *others = make(jax, work)
    given = [jax.numpy.asarray(one) for one in (work.reward, work.value_tp1, *others)]

    def gradient(r: Any, v: Any, *others: Any) -> Any:
        found, back = jax.vjp(lambda r, v: returns(r, v, *others), r, v)
        return found, back(jax.numpy.ones_like(r))

    run = jax.jit(gradient if gradients else returns)
    return lambda: jax.block_until_ready(run(*given))


def _ours(_: Any, work: Workload) -> tuple[Any, ...]:
    from preftd.jax import beta_returns  # noqa: PLC0415  (an extra)

    def returns(r: Any, v: Any, beta: Any, ends: Any) -> Any:
        return beta_returns(r, v, beta, discount=work.discount, terminated=ends)

    return returns, np.full_like(work.reward, work.beta), work.terminated


def _by_hand(jax: Any, work: Workload) -> tuple[Any, ...]:
    def step(G: Any, now: Any) -> Any:
        r, v, beta, discount = now
        G = r + discount * (beta * v + (1 - beta) * G)
        return G, G

    def returns(r: Any, v: Any, beta: Any, discount: Any) -> Any:
        return jax.lax.scan(step, v[-1], (r, v, beta, discount), reverse=True)[1]

    discount = (work.discount * ~work.terminated).astype(work.reward.dtype)
    return returns, np.full_like(work.reward, work.beta), discount


def linear(name: str, view: str, episodes: int) -> dict[str, Contender]:
    """Learning from whole episodes of a task with all step sizes; `once` returns weights."""
    task = tasks.make(name)
    stream = task.sampler(0).episodes(episodes)
    made = stream_coefficients(PTD(), Observability() if view == "held" else 0.5, stream)
    steps, alphas = Steps.of(stream, made), np.geomspace(0.001, 0.1, STEP_SIZES)
    updates = len(stream) * STEP_SIZES

    def numpy() -> Any:
        batch = Linear(view).start(task.features.size, list(alphas), 0)
        batch.learn(steps, task.scored)
        return batch

    def in_jax(make: Callable[..., Any]) -> Callable[[Any], Any]:
        found: list[Any] = []

        def run(_: Any) -> Any:
            if not found:
                found.append(make(_jax(), steps, view, alphas))
            return found[0]()

        return run

    return {
        "ours, JAX": Contender(in_jax(_linear_ours), updates),
        "by hand": Contender(in_jax(_linear_by_hand), updates),
        "decay given": Contender(in_jax(_linear_with_decay), updates),
        "ours, NumPy": Contender(lambda _: numpy(), updates),
    }


def _linear_ours(jax: Any, steps: Steps, view: str, alphas: Any) -> Callable[[], Any]:
    from preftd.jax import Transition, linear  # noqa: PLC0415  (an extra)

    every = slice(None)
    cut = steps.is_last & (steps.discount_tp1 != 0)
    features = steps.features(every), steps.reward, steps.next_features(every)
    stream = Transition(*features, steps.discount_tp1, steps.beta, truncated=cut)

    def run(alpha: Any, stream: Any) -> Any:
        learner = linear(steps.dense.shape[1], PTD(), alpha, view=view)
        return jax.lax.scan(learner.step, learner.init(), stream)[0].params

    return _scan(jax, run, alphas, stream)


def _linear_by_hand(jax: Any, steps: Steps, view: str, alphas: Any) -> Callable[[], Any]:
    """From what the learner gets: γ_t is carried along."""
    if view != "backward":
        raise MissingError("–")
    every = slice(None)
    features = steps.features(every), steps.reward, steps.next_features(every)
    given = (*features, steps.discount_tp1, steps.beta, steps.is_last)

    def step(alpha: Any, carry: Any, now: Any) -> Any:
        (w, e, discount_t), (x, r, x_next, discount, beta, last) = carry, now
        e = discount_t * (1 - beta) * e + beta * x
        w = w + alpha * (r + discount * (w @ x_next) - w @ x) * e
        return (w, e, jax.numpy.where(last, 0, discount)), None

    def run(alpha: Any, stream: Any) -> Any:
        nothing = jax.numpy.zeros(steps.dense.shape[1])
        return jax.lax.scan(partial(step, alpha), (nothing, nothing, 0.0), stream)[0][0]

    return _scan(jax, run, alphas, given)


def _linear_with_decay(jax: Any, steps: Steps, view: str, alphas: Any) -> Callable[[], Any]:
    if view != "backward":
        raise MissingError("–")
    every = slice(None)
    features = steps.features(every), steps.reward, steps.next_features(every)
    given = (*features, steps.discount_tp1, steps.decay, steps.gain)

    def step(alpha: Any, carry: Any, now: Any) -> Any:
        (w, e), (x, r, x_next, discount, decay, gain) = carry, now
        e = decay * e + gain * x
        return (w + alpha * (r + discount * (w @ x_next) - w @ x) * e, e), None

    def run(alpha: Any, stream: Any) -> Any:
        nothing = jax.numpy.zeros(steps.dense.shape[1])
        return jax.lax.scan(partial(step, alpha), (nothing, nothing), stream)[0][0]

    return _scan(jax, run, alphas, given)


def _scan(jax: Any, run: Any, alphas: Any, stream: Any) -> Callable[[], Any]:
    given = jax.tree.map(jax.numpy.asarray, stream)
    compiled = jax.jit(jax.vmap(run, (0, None)))
    return lambda: jax.block_until_ready(compiled(alphas, given))
