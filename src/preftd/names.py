"""Names that users type."""

import difflib
from collections.abc import Collection
from typing import Any

from preftd.arrays import InputError, short


def nearest(kind: str, name: Any, known: Collection[str]) -> None:
    """Refuse a name that is not known, and suggest the nearest one.

    Parameters
    ----------
    kind : str
        What the name stands for, such as "task".
    name : str
        What was typed; anything else than text is refused as well.
    known : collection of str

    """
    if isinstance(name, str) and name in known:
        return
    near = difflib.get_close_matches(str(name), known, n=1) if isinstance(name, str) else None
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}."
    raise InputError(f"there is no {kind} {short(name)}: {hint}")
