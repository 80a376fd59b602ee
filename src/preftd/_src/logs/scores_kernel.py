"""Predictions of rows, returns that followed, and sums of squared errors, compiled."""

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel

LONGEST_HOLD = 2.0
"""So many times larger may errors of held predictions become, compared with those of v."""
ROWS, RETURNS, SQUARES = range(3)
"""What is counted of rows: how many there are, Σ G and Σ G², both of G less a middle."""
H, GROWTH, UNTRUSTED = range(3)
"""What is carried to the next row: h and a of the last, and whether h rests on a row with β = 0."""


@kernel(fastmath={"contract"})
def returns(
    reward: Vector,
    discount: Vector,
    rho: Vector,
    stays: NDArray[np.bool_],
    opens: NDArray[np.bool_],
    end: float,
    out: Vector,
    unknown: Vector,
) -> None:
    """Write G_t = ρ_t (r + γ G_{t+1}), and how much of it is not known.

    reward, discount  of the step that leaves the row
    stays             whether the next row belongs to the same episode
    opens             whether a step leaves the row
    end               what stands for the return where recording stops
    unknown           the product of discounts until then; 0 if the episode terminates
    """
    for t in range(reward.size - 1, -1, -1):
        if not opens[t]:
            out[t], unknown[t] = end, 1.0
        elif discount[t] == 0.0:
            out[t], unknown[t] = rho[t] * reward[t], 0.0
        elif t + 1 < reward.size and stays[t]:
            out[t] = rho[t] * (reward[t] + discount[t] * out[t + 1])
            unknown[t] = discount[t] * unknown[t + 1]
        else:
            out[t] = rho[t] * (reward[t] + discount[t] * end)
            unknown[t] = discount[t]


@kernel(fastmath={"contract"})
def predict_rows(
    features: Dense, weights: NDArray[np.float64], fold: NDArray[np.int64], out: Dense
) -> None:
    """Write w·x with the weights of the row's fold, shape (folds, size, predictions)."""
    for t in range(len(features)):
        w = weights[fold[t]]
        for k in range(out.shape[1]):
            out[t, k] = 0.0
        for i in range(features.shape[1]):
            x = features[t, i]
            for k in range(out.shape[1]):
                out[t, k] += x * w[i, k]


@kernel
def hold(
    values: Dense,
    beta: Vector,
    first: NDArray[np.bool_],
    before: Dense,
    paid: Dense,
    held: Dense,
    out: Dense,
) -> None:
    """Write h_t = β_t v(x_t) + (1 − β_t) (h_{t−1} − r_t) / γ_t; where a unit begins, v(x_t).

    Dividing by γ makes errors larger, by a_t = β_t + (1 − β_t) a_{t−1} / γ_t. Where that is more
    than LONGEST_HOLD, v(x_t) is the better guess, and stands for h_t until β_t is larger again.
    Where β_t = 0, it is a guess for this row, and those with β = 0 that follow, only.

    values  of shape (rows, predictions); a prediction is one of an arm, and of a question
    before  the discount of the step into the row, shape (rows, predictions)
    paid    the reward of that step, shape (rows, predictions)
    held    H, GROWTH and UNTRUSTED of the last row, shape (3, predictions); updated
    """
    for t in range(len(values)):
        share = beta[t]
        for k in range(values.shape[1]):
            h, a, untrusted = values[t, k], 1.0, share == 0.0
            alone = first[t] or before[t, k] == 0.0 or share == 1.0
            if not alone and (share == 0.0 or held[UNTRUSTED, k] == 0.0):
                a = share + (1 - share) * held[GROWTH, k] / before[t, k]
                if a <= LONGEST_HOLD:
                    kept = (1 - share) * (held[H, k] - paid[t, k]) / before[t, k]
                    h = kept if share == 0.0 else share * h + kept
                    untrusted = held[UNTRUSTED, k] != 0.0
                else:
                    a = LONGEST_HOLD
            out[t, k], held[H, k], held[GROWTH, k], held[UNTRUSTED, k] = h, h, a, untrusted


@kernel
def add_errors(
    predicted: Dense,
    realised: Vector,
    known: NDArray[np.bool_],
    trusted: NDArray[np.bool_],
    group: NDArray[np.int64],
    middle: float,
    counts: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None:
    """Add squared errors of rows whose return is known, by group, and by whether β ≥ ½.

    predicted  shape (rows, predictions)
    middle     near the mean of the returns, so that what is squared is their spread
    counts     ROWS, RETURNS and SQUARES, shape (groups, 2, 3)
    squares    shape (groups, 2, predictions)
    """
    for t in range(len(predicted)):
        if known[t]:
            g, kind, G = group[t], int(trusted[t]), realised[t]
            counts[g, kind, ROWS] += 1.0
            counts[g, kind, RETURNS] += G - middle
            counts[g, kind, SQUARES] += (G - middle) ** 2
            for k in range(predicted.shape[1]):
                error = predicted[t, k] - G
                squares[g, kind, k] += error * error
