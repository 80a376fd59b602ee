"""Many inputs at once: the hidden layer's two matrix products, four dense inputs at a time."""

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.learners.network.layers import Weights, activate, compiled
from preftd._src.learners.network.refcount import uncounted
from preftd._src.learners.steps import Steps
from preftd._src.learners.vectors import WIDTH, eight, load, multiply_add, store


@compiled
def activate_all(
    weights: Weights,
    steps: Steps,
    codes: NDArray[np.int32],
    into: Vector,
    four: NDArray[np.int64],
) -> None:
    """Write a of these inputs, a row each; `four` holds as many numbers."""
    weights, steps, codes, into, four = uncounted((weights, steps, codes, into, four))
    columns, held = weights.out.size, 0
    for s in range(codes.size):
        if codes[s] >= 0:
            activate(weights, codes[s], steps.dense, steps.active, into, s * columns)
            continue
        four[held], held = s, held + 1
        if held == 4:
            _activate_four(weights, steps.dense, codes, four, into)
            held = 0
    for s in four[:held]:
        activate(weights, codes[s], steps.dense, steps.active, into, s * columns)


@compiled
def _activate_four(
    weights: Weights,
    dense: Dense,
    codes: NDArray[np.int32],
    four: NDArray[np.int64],
    into: Vector,
) -> None:
    columns, hidden = weights.out.size, weights.hidden
    r0, r1, r2, r3 = four
    x0, x1, x2, x3 = (
        dense[-1 - codes[r0]],
        dense[-1 - codes[r1]],
        dense[-1 - codes[r2]],
        dense[-1 - codes[r3]],
    )
    for c in range(0, columns, WIDTH):
        s0 = s1 = s2 = s3 = load(weights.hidden_bias, c)
        for i in range(dense.shape[1]):
            w = load(hidden, i * columns + c)
            s0 = multiply_add(eight(x0[i]), w, s0)
            s1 = multiply_add(eight(x1[i]), w, s1)
            s2 = multiply_add(eight(x2[i]), w, s2)
            s3 = multiply_add(eight(x3[i]), w, s3)
        store(into, r0 * columns + c, s0)
        store(into, r1 * columns + c, s1)
        store(into, r2 * columns + c, s2)
        store(into, r3 * columns + c, s3)


@compiled
def spread_all(
    change: Vector,
    steps: Steps,
    codes: NDArray[np.int32],
    chosen: NDArray[np.int64],
    hidden: Vector,
    four: NDArray[np.int64],
) -> None:
    """Add Σ_s x_s change_s to the hidden layer, over the chosen rows s."""
    change, steps, codes = uncounted((change, steps, codes))
    chosen, hidden, four = uncounted((chosen, hidden, four))
    columns, held, one = hidden.size // steps.dense.shape[1], 0, eight(1.0)
    for s in chosen:
        if codes[s] >= 0:
            for i in steps.active[codes[s]]:
                for c in range(0, columns, WIDTH):
                    k = i * columns + c
                    store(
                        hidden, k, multiply_add(one, load(change, s * columns + c), load(hidden, k))
                    )
            continue
        four[held], held = s, held + 1
        if held == 4:
            _spread_four(change, steps.dense, codes, four, hidden, columns)
            held = 0
    for s in four[:held]:
        x = steps.dense[-1 - codes[s]]
        for c in range(0, columns, WIDTH):
            d = load(change, s * columns + c)
            for i in range(x.size):
                k = i * columns + c
                store(hidden, k, multiply_add(eight(x[i]), d, load(hidden, k)))


@compiled
def _spread_four(
    change: Vector,
    dense: Dense,
    codes: NDArray[np.int32],
    four: NDArray[np.int64],
    hidden: Vector,
    columns: int,
) -> None:
    r0, r1, r2, r3 = four
    x0, x1, x2, x3 = (
        dense[-1 - codes[r0]],
        dense[-1 - codes[r1]],
        dense[-1 - codes[r2]],
        dense[-1 - codes[r3]],
    )
    for c in range(0, columns, WIDTH):
        d0, d1 = load(change, r0 * columns + c), load(change, r1 * columns + c)
        d2, d3 = load(change, r2 * columns + c), load(change, r3 * columns + c)
        for i in range(dense.shape[1]):
            k = i * columns + c
            w = multiply_add(eight(x0[i]), d0, load(hidden, k))
            w = multiply_add(eight(x1[i]), d1, w)
            w = multiply_add(eight(x2[i]), d2, w)
            store(hidden, k, multiply_add(eight(x3[i]), d3, w))
