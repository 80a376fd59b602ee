"""Trace optimisers and plain SGD of torch: a step of semi-gradient TD on the same network.

A step computes v(x), v(x') and a gradient, and moves the weights, on one thread in float32. Plain
SGD takes the gradient of the squared TD error, with v(x') held fixed; it has no trace.
"""

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.timing import Contender, MissingError, Times, compete, head, row

SECONDS = 6.0
"""How long all contenders of a row run together."""
NETWORKS = {
    "16 units, 256 inputs": (256, (16,)),
    "2 × 256 units, 64 inputs": (64, (256, 256)),
}
STEPS = 5
"""The number of steps that are timed together: few, so that some run without interruption."""
LR, DISCOUNT, BETA = 1e-5, 0.9, 0.5
PLAIN = "SGD"
OURS = ("TraceSGD", "TraceSGD, bounded", "TraceSGD, kappa", "HeldSGD", "HeldSGD, bounded")
GOAL = 1.5


def table(seconds: float = SECONDS) -> Iterator[str]:
    """Yield the lines of two Markdown tables: µs per step, and ratios."""
    found = {name: compete(contenders(*sides), seconds) for name, sides in NETWORKS.items()}
    yield from head(["µs per step", PLAIN, *OURS])
    for name, times in found.items():
        yield row([name, *(_microseconds(times, one) for one in (PLAIN, *OURS))])
    yield ""
    yield from head(["times the step of SGD", *OURS, "at most"])
    for name, times in found.items():
        yield row([name, *(times.ratio(one, PLAIN) for one in OURS), f"{GOAL}"])


def _microseconds(times: Times, name: str) -> str:
    return f"{times.ns[name] / 1e3:.0f}" if name in times.ns else times.missing[name]


def contenders(inputs: int, units: tuple[int, ...]) -> dict[str, Contender]:
    """Return the contenders on one network by name; all start with the same weights."""
    return {name: _contender(name, inputs, units) for name in (PLAIN, *OURS)}


def _contender(name: str, inputs: int, units: tuple[int, ...]) -> Contender:
    made: list[Callable[[], None]] = []

    def run(_: Any) -> None:
        if not made:
            made.append(network_and_step(name, inputs, units)[1])
        for _ in range(STEPS):
            made[0]()

    return Contender(run, STEPS)


def network_and_step(
    name: str, inputs: int, units: tuple[int, ...]
) -> tuple[Any, Callable[[], None]]:
    """Return the network of a contender, and a function that takes a step."""
    try:
        import torch  # noqa: PLC0415  (optional)

        from preftd.torch import HeldSGD, TraceSGD  # noqa: PLC0415  (needs torch)
    except ImportError:
        raise MissingError("no torch") from None
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layers: list[Any] = []
    for before, after in zip((inputs, *units), units, strict=False):
        layers += [torch.nn.Linear(before, after), torch.nn.ReLU()]
    network = torch.nn.Sequential(*layers, torch.nn.Linear(units[-1], 1))
    x, x_next = torch.randn(2, inputs)

    def slope_and_error(optimiser: Any) -> float:
        v = network(x)
        optimiser.zero_grad()
        v.backward()
        with torch.no_grad():
            ahead = network(x_next).item()
        return float(1.0 + DISCOUNT * ahead - v.item())

    bounded = "bounded" in name
    decay = DISCOUNT * (1 - BETA)
    if name == PLAIN:
        plain = torch.optim.SGD(network.parameters(), LR, foreach=True)

        def step_plain() -> None:
            with torch.no_grad():
                target = 1.0 + DISCOUNT * network(x_next)
            loss = 0.5 * (target - network(x)).square().sum()
            plain.zero_grad()
            loss.backward()
            plain.step()

        return network, step_plain
    if name.startswith("HeldSGD"):
        held = HeldSGD(network.parameters(), LR, bounded=bounded)

        def step_held() -> None:
            held.release(BETA)
            held.step(slope_and_error(held), decay, BETA)

        return network, step_held
    kappa = 2.0 if "kappa" in name else None
    trace = TraceSGD(network.parameters(), LR, bounded=bounded, kappa=kappa)
    return network, lambda: trace.step(slope_and_error(trace), decay, BETA)
