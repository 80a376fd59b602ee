"""Arrays of other libraries as arrays of NumPy and scipy: nothing missing is taken for a number."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from preftd.failures import InputError


def copied(given: Any) -> NDArray[Any]:
    """Return a copy as an array; what is missing (masked, null, NA) becomes NaN.

    What cannot be copied becomes an array of objects, which nobody takes for numbers.
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
    """Whether these are numbers of pandas, some of which may be NA."""
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
