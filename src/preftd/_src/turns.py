"""Turns: calls to one object from several threads run one after the other.

Kernels release the interpreter's lock, so two of them could otherwise write to the same arrays at
the same time.
"""

from __future__ import annotations

from _thread import RLock


class Turn(RLock):  # type: ignore[misc]  # only typeshed calls it final
    """The lock of one object, held by its methods; a copy of the object gets its own lock.

    Examples
    --------
    >>> import copy
    >>> turn = Turn()
    >>> with turn:
    ...     copy.deepcopy(turn) is turn
    False

    """

    def __reduce__(self) -> tuple[type[Turn], tuple[()]]:
        return Turn, ()
