"""A cell that is several states is not distrusted for what the past tells."""

import numpy as np

from preferences.made_streams import two_in_one
from preftd._src.preferences.learned.layout import EVIDENCE, EXPERTS, VISITS, readable_parts
from preftd._src.preferences.learned.past import memory_of
from preftd._src.preferences.learned.width import ODDS
from preftd.preferences import Learned


def test_a_cell_of_several_states_is_not_distrusted() -> None:
    stream = two_in_one(2000)(0).experience
    beta, memory = Learned().stream(stream)
    numbers = readable_parts(memory_of(memory)).cells
    largest = numbers[np.argmax(numbers[:, VISITS])]
    assert largest[EVIDENCE : EVIDENCE + EXPERTS].max() > 2 * ODDS  # the past tells what follows
    assert beta[1000:].all()
