"""Advantages of trained tokens, compiled: one pass over each row of a batch.

Each loop reads few arrays; otherwise, the compiler would not vectorise it.
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
        *(floats, floats, flags, floats, floats, floats, flags, floats),
        *(written, written, types.Array(int64, 1, "C")),
    )


@kernel(fastmath={"contract"})
def look_ahead(
    trained: Flags, gamma: Floats, lam: Floats, value: Floats, kept: Floats, G: Floats
) -> None:
    """Write the weights of the next token: γλ for its return, γ (1 − λ) for its value.

    If it is masked, they are 1 and 0.
    """
    zero, one = G.dtype.type(0), G.dtype.type(1)
    for t in range(G.size - 1):
        kept[t] = gamma[t + 1] * lam[t + 1] if trained[t + 1] else one
        G[t] = gamma[t + 1] * (one - lam[t + 1]) * value[t + 1] if trained[t + 1] else zero


@kernel(fastmath={"contract"})
def add_rewards(trained: Flags, share: Floats, reward: Floats, G: Floats) -> None:
    """Add rewards, and a share of those of masked tokens."""
    for t in range(G.size):
        G[t] += reward[t] if trained[t] else share[t] * reward[t]


@kernel
def write_advantages(trained: Flags, value: Floats, G: Floats, A: Floats) -> None:
    """Write G − v at trained tokens, and 0 elsewhere, also into G."""
    zero = A.dtype.type(0)
    for t in range(A.size):
        A[t] = G[t] - value[t] if trained[t] else zero
        G[t] = G[t] if trained[t] else zero


@kernel
def all_finite(A: Floats) -> bool:
    """Whether all numbers are finite."""
    zero, wrong = A.dtype.type(0), False
    for t in range(A.size):
        wrong |= A[t] - A[t] != zero
    return not wrong


@kernel
def drop_before_trained(reward: Floats, trained: Flags, G: Floats) -> int:
    """Write 0 before a response's first trained token; count rewards other than 0 there."""
    found = 0
    for t in range(reward.size):
        if trained[t]:
            break
        found += reward[t] != 0
        G[t] = 0
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
    final: Floats,
    advantages: Floats,
    returns: Floats,
    dropped: Any,
) -> bool:
    """Write advantages and returns of trained tokens, 0 elsewhere; returns whether all are finite.

    Arrays are (rows, tokens) or, for arrays that are the same in all rows, (1, tokens): the share
    of a masked token's reward that counts, the last token of each response, and the value that
    follows it, discounted. `dropped` counts rewards of each row.
    """
    rows, steps = returns.shape
    zero = returns.dtype.type(0)
    kept = np.empty((TOGETHER, steps), returns.dtype)
    ends, fine = np.flatnonzero(last[0]), True
    for first in range(0, rows, TOGETHER):
        some = min(TOGETHER, rows - first)
        for i in range(first, first + some):
            r, m, G, k = reward[i], trained[i], returns[i], kept[i - first]
            after = stream_of(final, i)
            look_ahead(m, stream_of(gamma, i), stream_of(lam, i), value[i], k, G)
            if last.shape[0] > 1:
                ends = np.flatnonzero(last[i])
            for t in ends:
                G[t], k[t] = after[t], zero
            add_rewards(m, stream_of(share, i), r, G)
            begin = 0
            for t in ends:
                dropped[i] += drop_before_trained(r[begin : t + 1], m[begin : t + 1], G[begin:])
                begin = int(t + 1)
        add_later(kept[:some], returns[first : first + some])
        for i in range(first, first + some):
            write_advantages(trained[i], value[i], returns[i], advantages[i])
            fine &= all_finite(advantages[i])
    return fine
