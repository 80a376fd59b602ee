"""Names that users type."""

import difflib
from collections.abc import Collection

from preftd.arrays import InputError


def nearest(kind: str, name: str, known: Collection[str]) -> None:
    """Refuse a name that is not known, and suggest the nearest one.

    Parameters
    ----------
    kind : str
        What the name stands for, such as "task".
    name : str
    known : collection of str

    """
    if name in known:
        return
    near = difflib.get_close_matches(str(name), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}."
    raise InputError(f"there is no {kind} {name!r}: {hint}")
