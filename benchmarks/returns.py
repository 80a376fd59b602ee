"""β-returns of streams side by side, compared with the λ-returns of other libraries.

All contenders compute the same numbers from the same streams, each in the layout and with the
arrays that it asks for, made beforehand. Ours, TorchRL's serial one and rlax take a β or λ for each
step, the others one for all. Gradients are those for rewards and next values.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.returns_peers import PEERS
from benchmarks.timing import Contender, MissingError, Times, compete, digits, head, row
from preftd.learners import beta_returns

SECONDS = 10.0
"""How long all contenders of a row run together."""
SIZES = ((32, 512), (64, 2048), (1024, 128))
COLUMNS = ("ours, NumPy", "ours, torch", *PEERS)


class Workload(NamedTuple):
    """Streams of episodes that terminate; arrays of shape (steps, streams)."""

    reward: NDArray[Any]
    value_t: NDArray[Any]
    value_tp1: NDArray[Any]
    terminated: NDArray[np.bool_]
    discount: float = 0.99
    beta: float = 0.05

    @classmethod
    def drawn(cls, streams: int, steps: int, kind: str) -> "Workload":
        """Draw streams; each episode terminates after 100 steps on average."""
        draw = np.random.default_rng(0)
        values = draw.standard_normal((steps + 1, streams)).astype(kind)
        reward = draw.standard_normal((steps, streams)).astype(kind)
        return cls(reward, values[:-1], values[1:], draw.random((steps, streams)) < 0.01)


def table(
    seconds: float = SECONDS,
    sizes: Sequence[tuple[int, int]] = SIZES,
    kinds: Sequence[str] = ("float32", "float64"),
) -> Iterator[str]:
    """Yield the lines of a Markdown table: µs per call, and ratios."""
    ratios = ("best other / best of ours", "TorchRL serial / ours, torch")
    yield from head(["µs per call, streams × steps", *COLUMNS, *ratios])
    for gradients in (False, True):
        for kind in kinds:
            for streams, steps in sizes:
                work = Workload.drawn(streams, steps, kind)
                times = compete(contenders(work, gradients=gradients), seconds)
                what = "with gradients" if gradients else "forward"
                yield _row(f"{streams} × {steps}, {kind}, {what}", times)


def _row(name: str, times: Times) -> str:
    shown = [digits(times.ns[c] / 1e3) if c in times.ns else times.cell(c) for c in COLUMNS]
    ours = min(ns for c, ns in times.ns.items() if c in COLUMNS[:2])
    others = [ns for c, ns in times.ns.items() if c in PEERS]
    ratio = digits(min(others) / ours) if others else ""
    return row([name, *shown, ratio, times.ratio("TorchRL serial", "ours, torch")])


def contenders(work: Workload, *, gradients: bool) -> dict[str, Contender]:
    """Return all contenders by name; `once` of each returns arrays of shape (steps, streams)."""
    makers: dict[str, Callable[..., Any]] = {
        "ours, NumPy": _in_numpy,
        "ours, torch": _in_torch,
        **PEERS,
    }
    return {name: _contender(make, work, gradients) for name, make in makers.items()}


def _contender(make: Callable[..., Any], work: Workload, gradients: bool) -> Contender:
    """A contender whose arrays are made when it first runs: its library may be missing."""
    made: list[Any] = []

    def run(_: Any) -> Any:
        if not made:
            made.append(make(work, gradients))
        return made[0]()

    return Contender(run, 1)


def _in_numpy(work: Workload, gradients: bool) -> Callable[[], Any]:
    if gradients:
        raise MissingError("–")
    beta = np.full_like(work.reward, work.beta)
    given: dict[str, Any] = {"discount": work.discount, "terminated": work.terminated}
    return lambda: beta_returns(work.reward, work.value_tp1, beta, **given)


def _in_torch(work: Workload, gradients: bool) -> Callable[[], Any]:
    try:
        import torch  # noqa: PLC0415  (it is an extra)
    except ModuleNotFoundError:
        raise MissingError("no torch") from None
    from preftd.torch import beta_returns as of_tensors  # noqa: PLC0415  (an extra)

    reward, value = (
        torch.tensor(a, requires_grad=gradients) for a in (work.reward, work.value_tp1)
    )
    beta = torch.full_like(reward, work.beta, requires_grad=False)
    given: dict[str, Any] = {
        "discount": work.discount,
        "terminated": torch.from_numpy(work.terminated),
    }
    if not gradients:
        return lambda: of_tensors(reward, value, beta, **given)
    above = torch.ones_like(beta)
    return lambda: torch.autograd.grad(
        of_tensors(reward, value, beta, **given), [reward, value], above
    )
