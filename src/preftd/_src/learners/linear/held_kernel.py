"""The held view with several step sizes at once: an update is applied as its target completes.

    e_t = decay_t e_{t−1} + gain_t x_t              P ← P + δ_t e_t
    on arriving in x_{t+1}:                         w ← w + α β_{t+1} P,   P ← (1 − β_{t+1}) P
    at the end of an episode:                       w ← w + α P,           P ← 0

Values of weight 0 are not computed. P without the last γ v e is stored as p; arriving
in x with β, decay, gain, from a step with discount γ, and with v = w·x before and v' after:

    w ← w + α β (p + γ v e)
    p ← (1 − β) p + decay (v − v') e − gain v' x        e ← decay e + gain x        p ← p + r e

If ρ = 1 this is the definition above. If not, it leaves out γ (1 − ρ) v e, which is 0 on average.
Where β and gain are 0, only e ← decay e and p ← p + r e remain: such states are skipped
(`visited`).

If β is 0 or 1 and hidden states have no gain, an episode is a chain of preferred states, and needs
neither p nor e. From one preferred state x_k to the next, x_m, the trace is a multiple of x_k, so
all steps in between make one step of TD(0):

    w ← w + α gain_k (R + Γ w·x_m − w·x_k) x_k
    R = r_{k+1} + d_{k+1} r_{k+2} + d_{k+1} d_{k+2} r_{k+3} + …       d the decays of hidden states
    Γ = d_{k+1} ⋯ d_{m−1} γ_m

Hidden states are not read. Targets are also complete where a discount is 0.

Otherwise two states are taken at a time. Their changes are combinations of p, e and their x, so one
pass over w and p makes both changes, and computes the products with the next two.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.linear.batch_kernel import compiled, learn_lanes, score
from preftd._src.learners.steps import Steps
from preftd._src.learners.vectors import WIDTH, eight, load, multiply_add, store, times
from preftd._src.tasks.scored import Scored
from preftd._src.uncounted import uncounted


@compiled
def is_td_0(steps: Steps) -> bool:
    """Whether all states are preferred and have a gain, and final observations count in full."""
    beta, gain, final_beta, count = steps.beta, steps.gain, steps.final_beta, 0
    for t in range(beta.size):
        count += (beta[t] == 1.0) & (gain[t] != 0.0) & (final_beta[t] == 1.0)
    return count == beta.size


@compiled
def chain_end(steps: Steps, first: int) -> tuple[int, int]:
    """The ends of consecutive chain episodes from `first` on, and their number."""
    beta, gain, is_last = steps.beta, steps.gain, steps.is_last
    end, episodes, learns = first, 0, False
    for t in range(first, is_last.size):
        if beta[t] == 0.0:
            if gain[t] != 0.0:
                break
        elif beta[t] == 1.0:
            learns = learns or gain[t] != 0.0
        else:
            break
        if is_last[t]:
            if not learns:
                break  # nothing of it would be left
            end, episodes, learns = t + 1, episodes + 1, False
    return end, episodes


@compiled
def chain_of(steps: Steps, first: int, end: int, step_sizes: Dense) -> tuple[Steps, Dense]:
    """Episodes as steps from one preferred state with a gain to the next preferred state.

    Their step sizes are those at which updates are applied: at arrivals, and at the ends of
    episodes.
    """
    count, one = end - first, step_sizes.shape[0] == 1
    code, code_next = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    reward, discount, gain = np.empty(count), np.empty(count), np.empty(count)
    is_last, nothing = np.zeros(count, dtype=np.bool_), np.zeros(count)
    sizes = step_sizes if one else np.empty((count, step_sizes.shape[1]))
    n, going, fade, total = 0, False, 0.0, 0.0
    for t in range(first, end):
        preferred = steps.beta[t] == 1.0
        if preferred and going:
            code_next[n], reward[n], discount[n] = (
                steps.code_t[t],
                total,
                fade * steps.discount_t[t],
            )
            if not one:
                sizes[n] = step_sizes[t]
            n, going = n + 1, False
        if preferred and steps.gain[t] != 0.0:
            code[n], gain[n], going, fade, total = steps.code_t[t], steps.gain[t], True, 1.0, 0.0
        elif not preferred:
            fade *= steps.decay[t]
        total += fade * steps.reward[t]
        if steps.is_last[t] or steps.discount_tp1[t] == 0.0:
            if going:
                share = steps.final_beta[t]
                reward[n], gain[n] = total, gain[n] * share
                discount[n] = fade * steps.discount_tp1[t] if share != 0.0 else 0.0
                # After the end nothing is looked at.
                code_next[n] = steps.code_tp1[t] if discount[n] != 0.0 else code[n]
                if not one:
                    sizes[n] = step_sizes[t]
                n, going = n + 1, False
            if steps.is_last[t]:
                is_last[n - 1] = True  # `chain_end` left out episodes without a step
    return (
        Steps(
            code[:n],
            code_next[:n],
            steps.dense,
            steps.active,
            reward[:n],
            discount[:n],
            nothing[:n],
            is_last[:n],
            nothing[:n],
            nothing[:n],
            gain[:n],
            nothing[:n],
        ),
        sizes,
    )


PAGE = 512
"""Numbers in a page of memory."""


class Visited(NamedTuple):
    """States with a value, between passes; the last is the state after the last step."""

    step: NDArray[np.int64]
    code: NDArray[np.int32]
    beta: Vector
    discount: Vector
    """γ times the decays of the skipped states before."""
    decay: Vector
    """The decay times those."""
    gain: Vector
    paid: Vector
    """The rewards up to the next state, each times the decays before it."""


class Work(NamedTuple):
    """Arrays shared by all spans."""

    pending: Vector
    """p, feature × lane."""
    trace: Vector
    pair: Vector
    """Two states, one after the other."""
    pair_next: Vector
    x_value: Vector
    """w·x, for each lane."""
    y_value: Vector
    x_overlap: Vector
    """p·x, for each lane."""
    y_overlap: Vector


@compiled
def learn_held(
    steps: Steps, scored: Scored, step_sizes: Dense, weights: Vector, errors: Dense
) -> None:
    """Learn from whole episodes and score each; `step_sizes` has a row per step, or one for all."""
    if step_sizes.shape[0] == 1 and is_td_0(steps):
        learn_lanes(steps, scored, step_sizes, weights, errors)
        return
    columns, is_last, discounts = step_sizes.shape[1], steps.is_last, steps.discount_tp1
    size, count = weights.size // columns, steps.code_t.size + 1
    # Half a page from the weights: processors take addresses that differ by pages for the same.
    larger = np.zeros(weights.size + PAGE)
    begin = (weights.ctypes.data - larger.ctypes.data) // 8 + PAGE // 2
    begin -= begin // PAGE * PAGE
    work = Work(
        larger[begin : begin + weights.size], np.zeros(size), np.zeros(2 * size),
        np.zeros(2 * size), np.zeros(columns), np.zeros(columns), np.zeros(columns),
        np.zeros(columns),
    )  # fmt: skip
    states = Visited(
        np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int32), np.empty(count),
        np.empty(count), np.empty(count), np.empty(count), np.empty(count),
    )  # fmt: skip
    first, episode = 0, 0
    while first < steps.code_t.size:
        end, episodes = chain_end(steps, first)
        if episodes:
            chain, sizes = chain_of(steps, first, end, step_sizes)
            learn_lanes(chain, scored, sizes, weights, errors[episode : episode + episodes])
        else:
            while not is_last[end] and discounts[end] != 0.0:
                end += 1
            end += 1
            found = visit(steps, first, end, states)
            if found > 1:
                follow(states, found, steps, step_sizes, weights, work)
            if is_last[end - 1]:
                score(weights, columns, scored, errors, episode)
                episodes = 1
        first, episode = end, episode + episodes


@compiled
def visit(steps: Steps, first: int, end: int, states: Visited) -> int:
    """Write the states that are not skipped, from the first that has a gain.

    Returns their number.
    """
    beta, gain, decay, reward = steps.beta, steps.gain, steps.decay, steps.reward
    n, fade = 0, 1.0
    for t in range(first, end):
        if gain[t] == 0.0 and (beta[t] == 0.0 or n == 0):
            fade *= decay[t]
        else:
            states.step[n], states.code[n] = t, steps.code_t[t]
            states.beta[n], states.discount[n] = beta[t], steps.discount_t[t] * fade
            states.decay[n], states.gain[n], states.paid[n] = decay[t] * fade, gain[t], 0.0
            n, fade = n + 1, 1.0
        if n > 0:
            states.paid[n - 1] += fade * reward[t]
    share = steps.final_beta[end - 1]
    out = steps.discount_tp1[end - 1] if share != 0.0 else 0.0
    states.step[n] = end - 1
    # nothing is read that is ignored: any state that has a value is a placeholder
    states.code[n] = steps.code_tp1[end - 1] if out != 0.0 or n == 0 else states.code[0]
    states.beta[n], states.discount[n] = share, out * fade
    states.decay[n], states.gain[n], states.paid[n] = 0.0, 0.0, 0.0
    return n + 1


# Sums over features may be reordered, which is what lets them be vectorised.
@kernel(fastmath={"contract", "reassoc"})
def follow(  # noqa: C901, PLR0912, PLR0915  (calls take longer than the work)
    states: Visited, count: int, steps: Steps, step_sizes: Dense, weights: Vector, work: Work
) -> None:
    """Learn from states up to the end of the episode, two at a time: x and y."""
    states, steps, step_sizes, weights, work = uncounted((states, steps, step_sizes, weights, work))
    columns, last, alphas = step_sizes.shape[1], step_sizes.shape[0] - 1, step_sizes.reshape(-1)
    pending, trace, pair, pair_next, x_value, y_value, x_overlap, y_overlap = work
    at, codes, betas, discounts, decays, gains, rewards = states
    dense, active, features, minus = steps.dense, steps.active, trace.size, eight(-1.0)
    for i in range(features):
        trace[i] = pair[i] = pair[i + features] = 0.0
    for k in range(weights.size):
        pending[k] = 0.0
    for n in range(-2, count, 2):
        for j in range(2):
            if n + 2 + j < count:
                code, first = codes[n + 2 + j], j * features
                if code < 0:
                    for i in range(features):
                        pair_next[first + i] = dense[-1 - code, i]
                else:
                    for i in range(features):
                        pair_next[first + i] = 0.0
                    for k in range(active.shape[1]):
                        pair_next[first + active[code, k]] += 1.0
        # states at which nothing happens, where there are none
        row, beta, discount, decay, gain, paid = 0, 0.0, 0.0, 1.0, 0.0, 0.0
        row_y, beta_y, discount_y, decay_y, gain_y, paid_y = 0, 0.0, 0.0, 1.0, 0.0, 0.0
        if n >= 0:
            row, beta, discount = min(at[n], last) * columns, betas[n], discounts[n]
            decay, gain, paid = decays[n], gains[n], rewards[n]
        if 0 <= n < count - 1:
            row_y, beta_y, discount_y = (
                min(at[n + 1], last) * columns,
                betas[n + 1],
                discounts[n + 1],
            )
            decay_y, gain_y, paid_y = decays[n + 1], gains[n + 1], rewards[n + 1]
        trace_x, trace_y, x_y = 0.0, 0.0, 0.0
        for i in range(features):
            trace_x += trace[i] * pair[i]
            trace_y += trace[i] * pair[i + features]
            x_y += pair[i] * pair[i + features]
        trace_y_then, keep, keep_y = decay * trace_y + gain * x_y, 1.0 - beta, 1.0 - beta_y
        for c in range(0, columns, WIDTH):
            # to w: from_p p + from_e e + from_x x; to p: kept p + e_kept e + x_kept x + y_kept y
            value, overlap_y = load(x_value, c), load(y_overlap, c)
            from_p = times(eight(beta), load(alphas, row + c))
            from_e = times(from_p, times(eight(discount), value))
            moved = multiply_add(from_p, load(x_overlap, c), times(from_e, eight(trace_x)))
            left = multiply_add(minus, moved, eight(paid))
            e_kept = times(eight(decay), left)
            x_kept = times(eight(gain), multiply_add(minus, value, left))
            value = multiply_add(from_e, eight(trace_y), load(y_value, c))
            value = multiply_add(from_p, overlap_y, value)
            overlap = multiply_add(x_kept, eight(x_y), times(e_kept, eight(trace_y)))
            overlap = multiply_add(eight(keep), overlap_y, overlap)
            step = times(eight(beta_y), load(alphas, row_y + c))
            ahead = times(eight(discount_y), value)
            from_p = multiply_add(eight(keep), step, from_p)
            from_e = multiply_add(step, multiply_add(eight(decay), ahead, e_kept), from_e)
            from_x = times(step, multiply_add(eight(gain), ahead, x_kept))
            moved = times(step, multiply_add(ahead, eight(trace_y_then), overlap))
            left = multiply_add(minus, moved, eight(paid_y))
            e_kept = multiply_add(eight(decay_y * decay), left, times(eight(keep_y), e_kept))
            x_kept = multiply_add(eight(decay_y * gain), left, times(eight(keep_y), x_kept))
            y_kept, kept = (
                times(eight(gain_y), multiply_add(minus, value, left)),
                eight(keep * keep_y),
            )
            v0, q0, v1, q1 = eight(0.0), eight(0.0), eight(0.0), eight(0.0)
            for i in range(features):
                k, e, x = i * columns + c, eight(trace[i]), eight(pair[i])
                p = load(pending, k)
                w = multiply_add(from_p, p, load(weights, k))
                w = multiply_add(from_x, x, multiply_add(from_e, e, w))
                store(weights, k, w)
                p = multiply_add(x_kept, x, multiply_add(e_kept, e, times(kept, p)))
                p = multiply_add(y_kept, eight(pair[i + features]), p)
                store(pending, k, p)
                x, y = eight(pair_next[i]), eight(pair_next[i + features])
                v0, q0 = multiply_add(x, w, v0), multiply_add(x, p, q0)
                v1, q1 = multiply_add(y, w, v1), multiply_add(y, p, q1)
            store(x_value, c, v0)
            store(y_value, c, v1)
            store(x_overlap, c, q0)
            store(y_overlap, c, q1)
        for i in range(features):
            e = decay * trace[i] + gain * pair[i]
            trace[i] = decay_y * e + gain_y * pair[i + features]
            pair[i], pair[i + features] = pair_next[i], pair_next[i + features]
