"""The optimiser of a learner: as it was given, or made from a step size."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from preftd._src.arrays import InputError, number, short
from preftd._src.names import nearest
from preftd._src.torch.held_sgd import HeldSGD
from preftd._src.torch.trace_sgd import TraceSGD

VIEWS: dict[str, Any] = {"backward": TraceSGD, "held": HeldSGD}
"""Every view, and its optimiser."""


def optimiser_for(
    module: nn.Module, given: Any, view: Any, bounded: Any, streams: int | None = None
) -> TraceSGD | HeldSGD:
    """The optimiser of so many streams that was given, or one with the step size given."""
    if isinstance(given, TraceSGD | HeldSGD):
        if view is not None or bounded is not False:
            raise InputError("view and bounded are the optimiser's: leave them out.")
        if given.streams != streams:
            raise InputError(f"the optimiser has streams={given.streams}: make it with {streams}.")
        return given
    if isinstance(given, torch.optim.Optimizer):
        raise InputError(
            f"optimiser is {type(given).__name__}: give a step size, TraceSGD or HeldSGD, whose "
            "steps follow traces."
        )
    view = "backward" if view is None else view
    nearest("view", view, VIEWS)
    try:
        lr = number("optimiser", given)
    except InputError:
        raise InputError(
            f"optimiser is {short(given)}: give a step size, TraceSGD(...) or HeldSGD(...)."
        ) from None
    made: TraceSGD | HeldSGD = VIEWS[view](
        module.parameters(), lr, bounded=bounded, streams=streams
    )
    return made
