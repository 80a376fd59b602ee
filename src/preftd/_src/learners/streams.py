"""What `learn` of every learner takes: a stream, a preference or β, interest and ratios.

A stream may come in pieces. What its signals remember from one to the next is the learner's
`Memory`, and a part of its state.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import InputError, as_array, check_not_negative, number, short
from preftd._src.learners.saving import as_state
from preftd._src.learners.transition import check_follow_on
from preftd._src.rules.interest import interest_along
from preftd._src.rules.rule import broadcast
from preftd._src.rules.stream import ratios
from preftd.experience import Experience
from preftd.preferences import Signal, as_preference
from preftd.rules import Carried, Rule, StreamCoefficients

_SIGNALS = ("preference_memory", "interest_memory")


class Memory(NamedTuple):
    """What signals remember: None, a number or an array each."""

    preference: Any = None
    interest: Any = None
    td_error: float = 0.0
    """The last δ that a signal has seen which watches the learner."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As a part of a learner's state; what is None is left out."""
        kept = {"td_error": np.array(self.td_error)}
        for name, memory in zip(_SIGNALS, self[:2], strict=True):
            if memory is not None:
                kept[name] = np.array(as_array(name, memory))
        return kept


def split_state(
    state: Mapping[str, ArrayLike],
) -> tuple[dict[str, ArrayLike], Memory]:
    """A state without what `Memory.arrays` added to it, and that."""
    rest = as_state(state)
    if "td_error" not in rest:
        raise InputError("the state has no 'td_error': give what state_dict gave.")
    td_error = number("td_error", rest.pop("td_error"))
    found = [as_array(n, rest.pop(n)) if n in rest else None for n in _SIGNALS]
    preference, interest = (m if m is None or m.ndim else float(m) for m in found)
    return rest, Memory(preference, interest, td_error)


def one_of(preference: Any, beta: ArrayLike | None) -> Signal | None:
    """The preference as a signal, or None if β is given in its stead."""
    if (preference is None) == (beta is None):
        given = "neither preference nor beta is" if beta is None else "both preference and beta are"
        raise InputError(f"{given} given: give one of the two.")
    return None if preference is None else as_preference(preference)


def check_size(experience: Experience, size: int) -> None:
    """Refuse what is no experience, or has another number of features."""
    given: object = experience
    if not isinstance(given, Experience):
        raise InputError(f"experience is {short(given)}: give an Experience.")
    if experience.size != size:
        raise InputError(
            f"the experience has {experience.size} features, the learner {size}: "
            "make the learner with as many."
        )


def coefficients_of(
    rule: Rule,
    experience: Experience,
    carried: Carried,
    signal: Signal | None,
    beta: ArrayLike | None,
    interest: ArrayLike | None,
    rho: ArrayLike | None,
) -> StreamCoefficients:
    """β, decay and gain at each step of a stream, and what to carry to its next piece."""
    steps, memory = experience.discount_t.shape, carried.interest
    if signal is not None:
        share, remembered = signal.stream(experience, carried.preference)
    else:
        assert beta is not None
        share, remembered = broadcast("beta", as_array("beta", beta), steps), carried.preference
    own: ArrayLike | None
    if interest is None:
        own, memory = interest_along(rule.interest, experience, memory)
    else:  # checked here, because a rule may have no use for it
        own = broadcast("interest", as_array("interest", interest), steps)
        check_not_negative("interest", own)
    coefficients, follow_on = rule.stream(
        carried.follow_on,
        discount_t=experience.discount_t,
        beta=share,
        interest=own,
        rho=ratios(experience, rho),
    )
    check_follow_on(follow_on)
    return StreamCoefficients(share, coefficients, Carried(float(follow_on), remembered, memory))
