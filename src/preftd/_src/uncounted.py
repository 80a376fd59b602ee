"""Arrays without reference counts.

Numba counts references to arrays, with an atomic operation each time that one is taken out of a
tuple or passed on: in a loop with forty of these, half of the time. A kernel whose caller keeps its
arrays alive need not count. So kernels that allocate call another one that does the work, which
starts with `uncounted(...)` arguments.
"""

from typing import Any, TypeVar

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, overload

Arrays = TypeVar("Arrays")


def uncounted(arrays: Arrays) -> Arrays:
    """The same array or tuple of arrays, not counted; only for arguments of a kernel."""
    return arrays


@intrinsic
def _uncounted(_: Any, arrays: Any) -> Any:
    def code(context: Any, builder: Any, _: Any, given: Any) -> Any:
        return _without_owner(context, builder, arrays, given[0])

    return arrays(arrays), code


def _without_owner(context: Any, builder: Any, kind: Any, given: Any) -> Any:
    if isinstance(kind, types.Array):
        array: Any = context.make_array(kind)(context, builder, given)
        array.meminfo = ir.Constant(array.meminfo.type, None)
        return array._getvalue()
    if not isinstance(kind, types.BaseTuple):
        return given  # a number
    parts: Any = kind
    pieces = [
        _without_owner(context, builder, part, builder.extract_value(given, i))
        for i, part in enumerate(parts)
    ]
    return context.make_tuple(builder, kind, pieces)


_instructions: Any = _uncounted


@overload(uncounted, strict=False)
def _compiled(arrays: Any) -> Any:  # noqa: ARG001  (numba chooses by it)
    def use(arrays: Any) -> Any:
        return _instructions(arrays)

    return use
