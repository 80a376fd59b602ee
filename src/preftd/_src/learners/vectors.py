"""Explicit vectors of eight numbers for kernels.

Compilers do not keep the sums of a layer in registers over all rows, which is worth a factor of
five. So kernels load eight numbers, compute with them as one value, and store them. In plain Python
the same functions work on short arrays, so a kernel's `.py_func` is its reference.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic, models, overload, register_model

from preftd._src.arrays import Vector

WIDTH = 8
Eight: TypeAlias = Any
"""Eight numbers: a short array in Python, a register when compiled."""


def aligned(numbers: Vector) -> Vector:
    """A copy aligned to cache lines; without alignment, kernels take up to a third longer."""
    larger = np.empty(numbers.size + WIDTH)
    first = -larger.ctypes.data % (WIDTH * larger.itemsize) // larger.itemsize
    copy = larger[first : first + numbers.size]
    copy[:] = numbers
    return copy


def load(array: Vector, first: int) -> Eight:
    """The eight numbers from `first` on."""
    return array[first : first + WIDTH].copy()


def store(array: Vector, first: int, numbers: Eight) -> None:
    """Write eight numbers from `first` on."""
    array[first : first + WIDTH] = numbers


def eight(number: float) -> Eight:
    """The same number eight times."""
    return np.full(WIDTH, number)


def multiply_add(a: Eight, b: Eight, c: Eight) -> Eight:
    """Multiply and add: a b + c."""
    return a * b + c


def times(a: Eight, b: Eight) -> Eight:
    """The product a b."""
    return a * b


def where_active(activation: Eight, numbers: Eight) -> Eight:
    """The numbers, or 0 where the activation is 0 or less; NaN stays visible."""
    return np.where(activation <= 0, 0.0, numbers)


class _EightType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Eight")


_EIGHT = _EightType()
_IR = ir.VectorType(ir.DoubleType(), WIDTH)


@register_model(_EightType)
class _EightModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _IR)  # type: ignore[no-untyped-call]


@intrinsic
def _load(_: Any, array: Any, first: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], given)
        return builder.load(pointer, align=8)

    return _EIGHT(array, first), code


@intrinsic
def _store(_: Any, array: Any, first: Any, numbers: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], given)
        builder.store(given[2], pointer, align=8)
        return context.get_dummy_value()

    return types.none(array, first, numbers), code


@intrinsic
def _eight(_: Any, number: Any) -> Any:
    def code(context: Any, builder: Any, _: Any, given: Any) -> Any:
        del context
        nothing = ir.Constant(_IR, ir.Undefined)
        one = builder.insert_element(nothing, given[0], ir.Constant(ir.IntType(32), 0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        return builder.shuffle_vector(one, nothing, everywhere)

    return _EIGHT(number), code


@intrinsic
def _multiply_add(_: Any, a: Any, b: Any, c: Any) -> Any:
    def code(context: Any, builder: Any, _: Any, given: Any) -> Any:
        del context
        kind = ir.FunctionType(_IR, [_IR] * 3)
        name = f"llvm.fmuladd.v{WIDTH}f64"
        fused = get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]
        return builder.call(fused, given)

    return _EIGHT(a, b, c), code


@intrinsic
def _times(_: Any, a: Any, b: Any) -> Any:
    def code(context: Any, builder: Any, _: Any, given: Any) -> Any:
        del context
        return builder.fmul(*given)

    return _EIGHT(a, b), code


@intrinsic
def _where_active(_: Any, activation: Any, numbers: Any) -> Any:
    def code(context: Any, builder: Any, _: Any, given: Any) -> Any:
        del context
        zero = ir.Constant(_IR, [0.0] * WIDTH)
        return builder.select(builder.fcmp_ordered("<=", given[0], zero), zero, given[1])

    return _EIGHT(activation, numbers), code


def _pointer(context: Any, builder: Any, kind: Any, given: Any) -> Any:
    """The address of eight numbers of an array."""
    data = context.make_array(kind)(context, builder, given[0]).data
    return builder.bitcast(builder.gep(data, [given[1]]), _IR.as_pointer())


def _always(instructions: Any) -> Callable[..., Any]:
    """The same instructions for all types."""

    def choose(*_: Any) -> Callable[..., Any]:
        def use(*given: Any) -> Any:
            return instructions(*given)

        return use

    return choose


# A kernel that calls a function above is given its instructions instead.
overload(load, strict=False)(_always(_load))
overload(store, strict=False)(_always(_store))
overload(eight, strict=False)(_always(_eight))
overload(multiply_add, strict=False)(_always(_multiply_add))
overload(times, strict=False)(_always(_times))
overload(where_active, strict=False)(_always(_where_active))
