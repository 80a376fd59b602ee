"""Advantages of trained tokens, compiled: one pass over each row of a batch.

Loops read few arrays each, or the compiler would not vectorise them.
"""

from typing import Any

import numpy as np
from numba import boolean, float32, float64, int64, types

from preftd._src.kernels import kernel
from preftd._src.learners.returns import (
    TOGETHER,
    Flags,
    Floats,
    add_later,
    read,
    stream_of,
)


def _signature(kind: Any) -> Any:
    floats, flags, written = read(kind, 2), read(boolean, 2), types.Array(kind, 2, "C")
    return boolean(
        *(floats, floats, flags, floats, floats, floats, flags, flags, floats),
        *(written, written, types.Array(int64, 1, "C")),
    )


@kernel(fastmath={"contract"})
def write_kept(trained: Flags, gamma: Floats, lam: Floats, kept: Floats) -> None:
    """Write how much of the next token's return counts: γλ if that is trained, otherwise all."""
    one = kept.dtype.type(1)
    for t in range(kept.size - 1):
        kept[t] = gamma[t + 1] * lam[t + 1] if trained[t + 1] else one


@kernel(fastmath={"contract"})
def write_bootstraps(trained: Flags, gamma: Floats, lam: Floats, value: Floats, G: Floats) -> None:
    """Write γ (1 − λ) v of the next token if that is trained, otherwise 0."""
    zero, one = G.dtype.type(0), G.dtype.type(1)
    for t in range(G.size - 1):
        G[t] = gamma[t + 1] * (one - lam[t + 1]) * value[t + 1] if trained[t + 1] else zero


@kernel(fastmath={"contract"})
def add_rewards(trained: Flags, share: Floats, reward: Floats, G: Floats) -> None:
    """Add rewards, and of those of masked tokens a share."""
    for t in range(G.size):
        G[t] += reward[t] if trained[t] else share[t] * reward[t]


@kernel
def write_advantages(trained: Flags, value: Floats, G: Floats, A: Floats) -> None:
    """Write G − v at trained tokens, and 0 elsewhere."""
    zero = A.dtype.type(0)
    for t in range(A.size):
        A[t] = G[t] - value[t] if trained[t] else zero


@kernel
def clear_masked(trained: Flags, G: Floats) -> None:
    """Write 0 at masked tokens."""
    zero = G.dtype.type(0)
    for t in range(G.size):
        G[t] = G[t] if trained[t] else zero


@kernel
def all_finite(A: Floats) -> bool:
    """Whether all numbers are finite."""
    zero, wrong = A.dtype.type(0), False
    for t in range(A.size):
        wrong |= A[t] - A[t] != zero
    return not wrong


@kernel
def count_before_trained(reward: Floats, trained: Flags) -> int:
    """How many rewards other than 0 a response has before its first trained token."""
    found = 0
    for t in range(reward.size):
        if trained[t]:
            break
        found += reward[t] != 0
    return found


@kernel(signature=[_signature(float32), _signature(float64)], fastmath={"contract"})
def token_returns_by_rows(  # noqa: PLR0913, PLR0917  (arrays, not options)
    reward: Floats,
    value: Floats,
    trained: Flags,
    gamma: Floats,
    lam: Floats,
    share: Floats,
    last: Flags,
    cut: Flags,
    final: Floats,
    advantages: Floats,
    returns: Floats,
    dropped: Any,
) -> bool:
    """Write advantages and returns of trained tokens, 0 elsewhere; true if all are finite.

    Arrays are (rows, tokens) or, for what is the same in all rows, (1, tokens): the share of a
    masked token's reward that counts, the last token of each response, whether a response is cut
    short there, and the value that follows it then. `dropped` counts rewards of each row.
    """
    rows, steps = returns.shape
    zero = returns.dtype.type(0)
    kept = np.empty((TOGETHER, steps), returns.dtype)
    ends, fine = np.flatnonzero(last[0]), True
    for first in range(0, rows, TOGETHER):
        some = min(TOGETHER, rows - first)
        for i in range(first, first + some):
            r, m, G, k = reward[i], trained[i], returns[i], kept[i - first]
            g = stream_of(gamma, i)
            write_kept(m, g, stream_of(lam, i), k)
            write_bootstraps(m, g, stream_of(lam, i), value[i], G)
            if last.shape[0] > 1:
                ends = np.flatnonzero(last[i])
            begin = 0
            for t in ends:
                G[t] = g[t] * stream_of(final, i)[t] if stream_of(cut, i)[t] else zero
                dropped[i] += count_before_trained(r[begin : t + 1], m[begin : t + 1])
                k[t], begin = zero, int(t + 1)
            add_rewards(m, stream_of(share, i), r, G)
        add_later(kept[:some], returns[first : first + some])
        for i in range(first, first + some):
            write_advantages(trained[i], value[i], returns[i], advantages[i])
            clear_masked(trained[i], returns[i])
            fine &= all_finite(advantages[i])
    return fine
