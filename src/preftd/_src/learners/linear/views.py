"""The views of linear learning: when and how weights move.

backward     the paper's algorithm: an update at every step, along an accumulating trace
forward      weights rest during an episode, then all its updates are made at once
true_online  an update at every step that equals a forward view over all steps so far
held         an update is applied as its target completes; what is shown where β and gain are 0 has
             no part in it
"""

from typing import Any, NamedTuple

from preftd._src.learners.linear.batch_kernel import learn_lanes, learn_lanes_forward
from preftd._src.learners.linear.held_kernel import learn_held
from preftd._src.learners.linear.true_online_kernel import learn_true_online


class View(NamedTuple):
    """What studies and learners need to know of a view."""

    label: str
    """Its name in figures; empty for the paper's algorithm."""
    batch_kernel: Any
    """Learns with several step sizes at once, and scores each episode."""
    online: bool
    """Whether it learns one transition at a time."""


VIEWS = {
    "backward": View("", learn_lanes, online=True),
    "forward": View("forward view", learn_lanes_forward, online=False),
    "true_online": View("true online", learn_true_online, online=True),
    "held": View("held", learn_held, online=True),
}
