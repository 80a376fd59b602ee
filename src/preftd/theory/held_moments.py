"""The moments of weights in the held view, which is TD(0) on the chain of preferred states.

    ŵ ← U ŵ,   U = I + α g φ̂_s ζᵀ,   ŵ = (1, w),  φ̂_s = (0, φ_s),  ζ = (R, Γ φ_j − φ_s)

from s to j, or to the end (Γ = 0). E[U M Uᵀ] needs R and Γ up to their second moments only.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from preftd.arrays import Dense, Vector
from preftd.theory.moments import MomentMaps
from preftd.theory.preferred_chain import PreferredChain


def held_maps(chain: PreferredChain, phi: Dense, alpha: float, centre: Vector) -> MomentMaps:
    """Return the maps of the moments of (1, w − centre).

    Parameters
    ----------
    chain : PreferredChain
        Of n states.
    phi : array of shape (n, features)
    alpha : float
        The step size times the gain of preferred states.
    centre : array of shape (features,)
        Near the weights, so that differences lose no digits.

    """
    count, width = len(phi), phi.shape[1] + 1
    nothing = sparse.csr_array((width**2, width**2))
    blocks: NDArray[Any] = np.empty((count, count), dtype=object)
    ends = []
    for s in range(count):
        maps = {
            j: _map(chain, phi, s, j, alpha, centre)
            for j in np.flatnonzero(chain.one[s] > 0).tolist()
        }
        ends.append(maps.get(count, nothing))
        for j in range(count):
            blocks[j, s] = maps.get(j, nothing) + chain.entry[j] * ends[s]
    steps = sparse.block_array(blocks, format="csr")
    return MomentMaps(chain.visits, steps, sparse.hstack(ends, format="csr"))


def _map(chain: PreferredChain, phi: Dense, s: int, j: int, alpha: float, centre: Vector) -> Any:
    """E[U ⊗ U; s → j], in which j may be the end, for the weights less the centre."""
    following = phi[j] if j < len(phi) else np.zeros(phi.shape[1])
    before, after = (np.append(x @ centre, x) for x in (phi[s], following))
    paid = np.append(1.0, np.zeros(phi.shape[1]))
    one, gamma, gamma_2, r, r_gamma, r_2 = (moment[s, j] for moment in chain[3:])
    # ζ = R paid + Γ after − before
    first = r * paid + gamma * after - one * before
    cross = np.outer(paid, r_gamma * after - r * before) - gamma * np.outer(after, before)
    second = r_2 * np.outer(paid, paid) + gamma_2 * np.outer(after, after)
    second += one * np.outer(before, before) + cross + cross.T
    along = np.append(0.0, phi[s])
    moved = sparse.csr_array(alpha * np.outer(along, first))
    square = sparse.csr_array(alpha**2 * np.outer(along, along).reshape(-1, 1))
    twice = sparse.kron(square, sparse.csr_array(second.reshape(1, -1)))
    unit = sparse.eye_array(along.size)
    kept = one * sparse.eye_array(along.size**2)
    return kept + sparse.kron(moved, unit) + sparse.kron(unit, moved) + twice
