"""The chain of preferred states, if β is 0 or 1 and hidden states have no gain.

From one preferred state x_k to the next, x_m, the trace is a multiple of x_k, so that all steps
between are one step of TD(0):

    w ← w + α gain_k (R + Γ w·x_m − w·x_k) x_k
    R = r_{k+1} + d_{k+1} r_{k+2} + d_{k+1} d_{k+2} r_{k+3} + …       d the decays of hidden states
    Γ = d_{k+1} ⋯ d_{m−1} γ_m

Hidden states are not looked at. Targets are also complete where a discount is 0.
"""

import numpy as np

from preftd._src.arrays import Dense
from preftd._src.learners.linear.batch_kernel import compiled
from preftd._src.learners.steps import Steps


@compiled
def is_td_0(steps: Steps) -> bool:
    """Whether all states are preferred and have a gain, and final observations count in full."""
    beta, gain, final_beta, count = steps.beta, steps.gain, steps.final_beta, 0
    for t in range(beta.size):
        count += (beta[t] == 1.0) & (gain[t] != 0.0) & (final_beta[t] == 1.0)
    return count == beta.size


@compiled
def chain_end(steps: Steps, first: int) -> tuple[int, int]:
    """Where the episodes from `first` on that are chains end, and how many they are."""
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
    """Some episodes as steps from one preferred state with a gain to the next preferred state.

    Their step sizes are those of the steps at which updates are applied: the arrivals, and the ends
    of episodes.
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
