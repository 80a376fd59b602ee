"""Array types, and the checks that all input passes.

A check that fails raises `InputError`: one sentence with the cause (naming the first bad index), a
colon, and the remedy. Missing values in arrays of other libraries never become numbers.
"""

import operator
import re
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd.failures import InputError as InputError  # noqa: PLC0414  (all checks raise it)

if TYPE_CHECKING:
    from scipy import sparse
    from typing_extensions import TypeIs

    Sparse: TypeAlias = sparse.csr_array[np.float64]
    AnySparse: TypeAlias = sparse.sparray | sparse.spmatrix
else:  # loading scipy takes longer than all that a linear learner needs of it
    Sparse = AnySparse = Any

Vector: TypeAlias = NDArray[np.float64]
Dense: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = Dense | Sparse
AnyMatrix = TypeVar("AnyMatrix", bound=Matrix)
Kind = TypeVar("Kind")
MatrixLike: TypeAlias = ArrayLike | AnySparse

MOST_STATES = 10_000_000
"""Larger tasks do not fit into memory."""
MOST_STEPS = 10**9
"""More steps at once do not fit either."""


def is_sparse(matrix: Matrix) -> "TypeIs[Sparse]":
    """Return whether the matrix is sparse; False if scipy.sparse is not loaded."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(matrix))


DETACH = "give it without, as .detach() returns it"
"""The remedy for a tensor of torch that needs a gradient."""


def as_array(name: str, given: ArrayLike, *, finite: bool = True) -> NDArray[np.float64]:
    """Return a read-only float64 copy, checked to be finite.

    Parameters
    ----------
    name : str
        The name of the argument, for error messages.
    given : array of any shape
    finite : bool
        False allows entries that are not finite.

    Examples
    --------
    >>> as_array("beta", [0, 1])
    array([0., 1.])

    """
    array = copied(given)
    if array.dtype.kind not in "biuf":
        if getattr(given, "requires_grad", False):
            raise InputError(f"{name} needs a gradient, which is not tracked here: {DETACH}.")
        if given is None:
            raise InputError(f"{name} is None: give numbers.")
        raise InputError(
            f"{name} is not an array of real numbers: give numbers, in rows of equal length."
        )
    with np.errstate(over="ignore"):  # too large numbers become infinite, and are refused
        array = array.astype(np.float64, copy=False)
    if finite:
        check_finite(name, array)
    return read_only(array)


def whole(name: str, given: Any) -> int:
    """Return an integer, of any integer type; booleans and masked arrays are refused."""
    try:
        if isinstance(given, bool | np.bool_ | np.ma.MaskedArray):
            raise TypeError
        return operator.index(given)
    except TypeError:
        raise InputError(f"{name} is {short(given)}: give a whole number.") from None


def as_count(name: str, given: Any, least: int = 1, most: int | None = None) -> int:
    """Return a whole number, checked to be at least `least`, and at most `most` if that is given.

    Examples
    --------
    >>> as_count("steps", 5)
    5

    """
    number = whole(name, given)
    if most is not None and not least <= number <= most:
        raise InputError(f"{name} is {short(number)}: give a whole number from {least} to {most}.")
    if number < least:
        raise InputError(f"{name} is {short(number)}: give {least} or more.")
    return number


def as_flag(name: str, given: Any) -> bool:
    """Return true or false, from a boolean or the integers 0 and 1; words are refused.

    Examples
    --------
    >>> as_flag("truncated", np.True_)
    True

    """
    if isinstance(given, bool | np.bool_):
        return bool(given)
    if isinstance(given, int | np.integer) and given in (0, 1):
        return bool(given)
    raise InputError(f"{name} is {short(given)}: give True or False.")


def as_flags(name: str, given: ArrayLike) -> NDArray[np.bool_]:
    """Return true or false for each entry, from booleans or the numbers 0 and 1.

    Booleans of NumPy are not copied.

    Examples
    --------
    >>> as_flags("terminated", [0, 1])
    array([False,  True])

    """
    plain: object = given
    if type(plain) is bool or (type(plain) is np.ndarray and plain.dtype == np.bool_):
        return np.asarray(given, dtype=np.bool_)
    array = as_array(name, given)
    _refuse(name, array, (array != 0) & (array != 1), "give true or false")
    return array.astype(np.bool_)


def short(given: object) -> str:
    """Return an argument as a message shows it: on one line, and not too long."""
    try:
        text = repr(given)
    except Exception:  # a repr is foreign code, and a message must not fail for it
        text = f"<{type(given).__name__}>"
    text = re.sub(r" at 0x[0-9a-f]+", "", text)  # an address means nothing to the reader
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def instance(name: str, given: object, kind: type[Kind], remedy: str) -> Kind:
    """Return an argument, checked to be of a type.

    Parameters
    ----------
    name : str
        The name of the argument, for error messages.
    given : object
    kind : type
    remedy : str
        The remedy, for error messages.

    Examples
    --------
    >>> instance("which", slice(3), slice, "a slice")
    slice(None, 3, None)

    """
    if not isinstance(given, kind):
        raise InputError(f"{name} is {short(given)}: give {remedy}.")
    return given


def as_table(name: str, given: MatrixLike) -> Matrix:
    """Return a read-only float64 copy of any shape; sparse input stays sparse (CSR)."""
    anything: Any = given  # the stubs of scipy know only its concrete formats
    if not is_sparse(anything):
        return as_array(name, anything)
    if anything.dtype.kind not in "biuf":
        raise InputError(f"{name} is not an array of real numbers: give real numbers.")
    csr: Sparse = checked_csr(name, anything)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    check_finite(name, csr)
    return read_only(csr)


def as_matrix(name: str, given: MatrixLike) -> Matrix:
    """Return a read-only float64 copy with two dimensions, dense or sparse (CSR)."""
    table = as_table(name, given)
    if table.ndim != 2:
        raise InputError(f"{name} has shape {table.shape}: give a matrix, with a row per state.")
    return table


def read_only(matrix: AnyMatrix) -> AnyMatrix:
    """Make the matrix read-only and return it."""
    parts = (matrix.data, matrix.indices, matrix.indptr) if is_sparse(matrix) else (matrix,)
    for part in parts:
        part.setflags(write=False)
    return matrix


def as_dense(matrix: Matrix) -> Dense:
    """Return the matrix as a dense array."""
    return matrix.toarray() if is_sparse(matrix) else matrix


def per_state(name: str, given: ArrayLike, states: int) -> Vector:
    """Return numbers of shape (states,), from one number for all or one for each."""
    array = as_array(name, given)
    if array.ndim == 0:
        return read_only(np.full(states, float(array)))
    if array.shape != (states,):
        raise InputError(
            f"{name} has shape {array.shape} but there are {states} states: "
            f"give one number, or {states}."
        )
    return array


def one_or_each(name: str, given: ArrayLike, count: int) -> Vector:
    """Return numbers of shape (count,), from one for all or one for each; a read-only view."""
    array = as_array(name, given)
    if array.shape not in ((), (count,)):
        raise InputError(f"{name} has shape {array.shape}: give one number, or {count}.")
    return np.broadcast_to(array, (count,))


def vector_of(name: str, given: ArrayLike, count: int) -> Vector:
    """Return numbers of shape (count,)."""
    array = as_array(name, given)
    if array.shape != (count,):
        raise InputError(f"{name} has shape {array.shape}: give {count} numbers.")
    return array


def number(name: str, given: ArrayLike) -> float:
    """Return one finite number; booleans are refused."""
    array = as_array(name, given)
    if array.ndim:
        raise InputError(f"{name} has shape {array.shape}: give one number.")
    if are_flags(given):
        raise InputError(f"{name} is {given!r}: give a number.")
    return float(array)


def are_flags(given: ArrayLike) -> bool:
    """Return whether these are booleans instead of numbers, most likely by mistake."""
    return np.asarray(given).dtype.kind == "b"


def unit(name: str, given: ArrayLike) -> float:
    """Return one number, checked to lie in [0, 1]."""
    one = number(name, given)
    check_unit_interval(name, np.array(one))
    return one


def as_distribution(name: str, given: ArrayLike, states: int) -> Vector:
    """Return probabilities, shape (states,), checked to sum to 1."""
    array = as_array(name, given)
    if array.shape != (states,):
        raise InputError(f"{name} has shape {array.shape}: give {states} probabilities.")
    check_not_negative(name, array)
    with np.errstate(over="ignore"):
        total = float(array.sum())
    if abs(total - 1) > SUM_TOLERANCE:
        raise InputError(f"{name} sums to {total:.10g}, not 1: divide it by its sum.")
    return array


def time_axis(axis: int, shape: tuple[int, ...]) -> int:
    """Return the time axis, counted from 0."""
    at = whole("axis", axis)
    if not -len(shape) <= at < len(shape):
        raise InputError(
            f"axis is {at} but the arrays have {len(shape)} axes: name the axis of time."
        )
    return at % len(shape)


def common_shape(shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape that all are broadcast to."""
    different = {shape for shape in shapes.values() if shape}
    if not different:
        raise InputError(f"{next(iter(shapes))} is one number: give one for each step.")
    if len(different) == 1:
        return different.pop()
    try:
        return np.broadcast_shapes(*different)
    except ValueError:
        told = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
        raise InputError(
            f"shapes do not fit together ({told}): give one number for each step of each stream."
        ) from None


LONGEST = 100
"""The most characters of an argument that a message shows."""
LARGE = 1e100
"""Larger numbers have squares that may overflow in sums and products."""
SUM_TOLERANCE = 1e-9
"""Tolerance of a sum of probabilities: more than rounding, less than a mistake."""


def check_finite(name: str, array: Matrix) -> None:
    """Refuse NaN and infinity."""
    _refuse(name, array, ~np.isfinite(_stored(array)), "every entry must be a finite number")


def check_not_negative(name: str, array: Matrix) -> None:
    """Refuse negative entries."""
    _refuse(name, array, _stored(array) < 0, "every entry must be 0 or more")


def check_whole(name: str, array: Matrix) -> None:
    """Refuse entries that are not whole numbers."""
    _refuse(name, array, _stored(array) % 1 != 0, "every entry must be a whole number")


def check_unit_interval(name: str, array: Matrix) -> None:
    """Refuse entries outside [0, 1]."""
    stored = _stored(array)
    _refuse(name, array, (stored < 0) | (stored > 1), "every entry must lie in [0, 1]")


def check_size(name: str, array: Matrix) -> None:
    """Refuse entries whose squares could overflow."""
    _refuse(name, array, np.abs(_stored(array)) > LARGE, "rescale them all")


def check_scale(name: str, array: Matrix) -> None:
    """Refuse entries whose squares could overflow or underflow."""
    size = np.abs(_stored(array))
    _refuse(name, array, (size > LARGE) | ((size > 0) & (size < 1 / LARGE)), "rescale them all")


def _stored(array: Matrix) -> NDArray[np.float64]:
    """All entries of a dense array, the stored ones of a sparse matrix."""
    return array.data if is_sparse(array) else np.asarray(array)


def _refuse(name: str, array: Matrix, bad: NDArray[np.bool_], remedy: str) -> None:
    """Raise InputError with the index of the first bad entry, if there is one."""
    if not bad.any():
        return
    position = int(np.argmax(bad))
    value = float(_stored(array).flat[position])
    if is_sparse(array):
        row = int(np.searchsorted(array.indptr, position, side="right")) - 1
        index: tuple[int, ...] = (row, int(array.indices[position]))
    else:
        index = tuple(int(i) for i in np.unravel_index(position, bad.shape))
    where = f"[{', '.join(map(str, index))}]" if index else ""
    raise InputError(f"{name}{where} is {value:.6g}: {remedy}.")


def copied(given: Any) -> NDArray[Any]:
    """Return a copy as an array; missing values (masked, null, NA) become NaN.

    What cannot be copied becomes an array of objects, which later checks refuse.
    """
    try:
        if _holds_mask(given):
            return _filled(given)
        array = np.asarray(given)
        if not isinstance(given, list | tuple):
            array = array.copy()
        if array.dtype.kind == "O" and _is_nullable(given):
            return np.array(given.to_numpy(dtype=np.float64, na_value=np.nan))
    except Exception:  # the conversion is foreign code; the caller refuses what is no array
        return np.array(None)
    return array


def _is_nullable(given: Any) -> bool:
    """Whether this is a pandas array whose entries may be NA."""
    kinds = getattr(given, "dtypes", ())
    kinds = kinds if isinstance(kinds, Iterable) else [kinds]
    return hasattr(given, "to_numpy") and all(getattr(k, "kind", "O") in "biuf" for k in kinds)


def _filled(given: Any) -> NDArray[Any]:
    """A masked array, or a list with one in it, with NaN where it is masked."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Warning: converting a masked element to nan")
        masked = np.ma.array(given)
    if masked.dtype.kind not in "biuf":
        return np.array(None)
    numbers = np.array(masked.data, dtype=np.float64)
    numbers[np.ma.getmaskarray(masked)] = np.nan
    return numbers


def _holds_mask(given: Any) -> bool:
    """Whether this is a masked array, or a list with one in it."""
    if isinstance(given, list | tuple):
        return any(map(_holds_mask, given))
    return isinstance(given, np.ma.MaskedArray)


def checked_csr(name: str, given: Any) -> Any:
    """Return a copy in CSR, all indices checked first: conversions trust them."""
    from scipy import sparse  # noqa: PLC0415  (takes a while)

    try:
        if hasattr(given, "check_format"):  # rows or columns, compressed
            given.check_format(full_check=True)
        else:
            given = given.tocoo()
            for along, size in zip(given.coords, given.shape, strict=True):
                if along.size and not 0 <= along.min() <= along.max() < size:
                    raise ValueError(f"indices must be from 0 to {size - 1}")
        csr = sparse.csr_array(given, dtype=np.float64, copy=True)
        csr.check_format(full_check=True)
    except (ValueError, TypeError, IndexError) as error:
        raise InputError(
            f"{name} is a sparse matrix whose parts do not fit together ({error}): "
            "build it again from its rows, columns and entries."
        ) from None
    return csr
