"""Advantages of trained tokens, compared with a loop over time and with plain advantages."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from benchmarks.timing import Contender, compete, digits, head, row
from preftd.torch import beta_advantages, token_advantages

SECONDS = 20.0
"""How long all contenders of a row run together."""
SIZES = ((8, 512), (64, 8192))
COLUMNS = ("token_advantages", "beta_advantages", "a loop over time")
GAMMA, LAMBDA = 0.99, 0.95


def table(
    seconds: float = SECONDS, sizes: Sequence[tuple[int, int]] = SIZES, kind: str = "float32"
) -> Iterator[str]:
    """Yield the lines of a Markdown table: µs per call on one core, and ratios."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    ratios = ("ours / beta_advantages", "loop / ours")
    yield from head([f"µs per call, responses × tokens, {kind}", *COLUMNS, *ratios])
    for responses, tokens in sizes:
        times = compete(contenders(responses, tokens, getattr(torch, kind)), seconds)
        shown = (digits(times.ns[name] / 1e3) for name in COLUMNS)
        ours, plain, loop = COLUMNS
        yield row(
            [f"{responses} × {tokens}", *shown, times.ratio(ours, plain), times.ratio(loop, ours)]
        )
    torch.set_num_threads(threads)


def contenders(responses: int, tokens: int, kind: torch.dtype) -> dict[str, Contender]:
    """Return all contenders by name; 40 % of the tokens are masked, and pay nothing."""
    random = torch.Generator().manual_seed(0)
    mask = torch.rand(responses, tokens, generator=random) < 0.6
    reward, value = torch.randn(2, responses, tokens, generator=random).to(kind)
    reward = reward * mask
    next_value, last = value.roll(-1, 1).contiguous(), torch.arange(tokens) == tokens - 1
    beta, discount = (torch.full_like(reward, one) for one in (1 - LAMBDA, GAMMA))
    terminated = last.expand(responses, tokens).contiguous()
    runs = (
        lambda _: token_advantages(reward, value, mask, gamma=GAMMA, lam=LAMBDA).advantages,
        lambda _: beta_advantages(
            *(reward, value, next_value, beta), discount=discount, terminated=terminated, axis=1
        ),
        lambda _: by_loop(reward, value, mask.to(kind)),
    )
    return {name: Contender(run, 1) for name, run in zip(COLUMNS, runs, strict=True)}


def by_loop(reward: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """The same advantages as trainers compute them, one token after the other."""
    later = later_value = torch.zeros_like(reward[:, 0])
    found = []
    for t in range(reward.shape[1] - 1, -1, -1):
        step = reward[:, t] + GAMMA * later_value - value[:, t] + GAMMA * LAMBDA * later
        later_value = torch.where(mask[:, t] > 0, value[:, t], later_value)
        later = torch.where(mask[:, t] > 0, step, later)
        found.append(later)
    return torch.stack(found[::-1], 1) * mask
