"""The random walk: states in a row, +1 for leaving at the right end, −1 at the left."""

import numpy as np
from scipy import sparse

from preftd._src.arrays import as_count
from preftd._src.tasks.layout import Layout
from preftd._src.tasks.outcomes import Outcomes
from preftd._src.tasks.parameters import MOST_STATES
from preftd._src.tasks.task import Task


def random_walk(states: int = 19) -> Task:
    """A walk to the left or right until it leaves at either end; all states are observable.

    Parameters
    ----------
    states : int
        The number of states.

    """
    states = as_count("states", states, 1, MOST_STATES)
    here = np.arange(states)
    right = np.where(here == states - 1, -1, here + 1)
    going = np.stack([here - 1, right], axis=1)
    reward = np.stack([-1.0 * (here == 0), 1.0 * (here == states - 1)], axis=1)
    return Task(
        f"random_walk(states={states})",
        Outcomes.deterministic(going, reward),
        sparse.eye_array(states),
        discount=1.0,
        start=np.arange(states) == (states - 1) // 2,
        layout=Layout.row(states),
    )
