"""Problems in files: TOML for small chains, NPZ for large ones; never pickle.

Both contain the tables in `NAMES`. In NPZ, a sparse table is four arrays (CSR): NAME_data,
NAME_indices, NAME_indptr and NAME_shape, as `save_problem` writes them.
"""

from __future__ import annotations

import os
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from scipy import sparse

from preftd._src.arrays import (
    InputError,
    Matrix,
    MatrixLike,
    Vector,
    as_array,
    as_table,
    check_not_negative,
    check_scale,
    is_sparse,
    per_state,
)
from preftd._src.files import as_path, read_npz, regular, write_output
from preftd._src.names import nearest
from preftd._src.terminal import printable
from preftd.rules import as_beta
from preftd.tasks import Features, MarkovRewardProcess

NAMES = {
    "transition": "n × n probabilities",
    "discount": "a number, one per state entered, or n × n",
    "features": "n × k",
    "beta": "a number or one per state; or lambda",
    "lambda": "1 − beta",
    "reward": "a number, one per state, or n × n (default: 0)",
    "interest": "for ETD: a number or one per state (default: 1)",
    "covariance": "of random features: n, n × k or n × k × k (default: not random)",
    "start": "probabilities of the first state (default: the stationary distribution)",
}
"""The tables of a file, and their shapes."""

_SPARSE_PARTS = ("data", "indices", "indptr", "shape")


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """A chain, its features, a preference, and an interest for the rules that use one."""

    process: MarkovRewardProcess
    features: Features
    beta: Vector
    """Shape (states,)."""
    interest: Vector
    """Shape (states,)."""


def load_problem(path: str | os.PathLike[str]) -> Problem:
    """Read a problem from a TOML or NPZ file.

    Parameters
    ----------
    path : path
        A file ending in .toml or .npz, with the tables in `NAMES`.

    """
    return _problem(_read(as_path("path", path, "the path of a .toml or .npz file")))


def _problem(tables: Mapping[str, Any]) -> Problem:
    """The problem that tables describe."""
    for name in tables:
        nearest("table", name, NAMES)
    for name in ("transition", "discount", "features"):
        if name not in tables:
            raise InputError(f"{name} is missing: add it ({NAMES[name]}).")
    for name in ("reward", "interest", "covariance"):
        check_scale(name, as_table(name, tables.get(name, 0.0)))  # as of features
    process = MarkovRewardProcess(
        tables["transition"], tables.get("reward", 0.0), tables["discount"], tables.get("start")
    )
    features = Features.of(Features(tables["features"], tables.get("covariance")), process.states)
    if ("beta" in tables) == ("lambda" in tables):
        raise InputError(
            "beta and lambda (which is 1 − beta) are both given or both missing: give one of them."
        )
    beta = as_beta(tables.get("beta"), tables.get("lambda"), (process.states,))
    interest = as_array("interest", tables.get("interest", 1.0))
    check_not_negative("interest", interest)
    return Problem(process, features, beta, per_state("interest", interest, process.states))


def save_problem(path: str | os.PathLike[str], **tables: MatrixLike) -> None:
    """Write the tables of a problem to an NPZ file, from which `load_problem` reads it.

    Parameters
    ----------
    path : path
        A file ending in .npz; one that `save_problem` wrote is replaced.
    **tables : array or scipy.sparse matrix
        Named as in `NAMES`; `lambda_` is written as lambda.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = f"{folder}/chain.npz"
    ...     save_problem(file, transition=sparse.eye_array(1), discount=0.9, features=[[1]], beta=1)
    ...     load_problem(file).process
    MarkovRewardProcess(1 states, sparse)

    """
    file = as_path("path", path, "the path of an .npz file")
    if file.suffix != ".npz":
        raise InputError(f"{_shown(file)} does not end in .npz: change the ending.")
    checked: dict[str, Matrix] = {}
    for key, table in tables.items():
        name = key.rstrip("_")
        nearest("table", name, NAMES)
        checked[name] = as_table(name, table)
    _problem(checked)  # refuses what could not be read again
    arrays: dict[str, Any] = {}
    for name, one in checked.items():
        if is_sparse(one):
            parts = (one.data, one.indices, one.indptr, np.array(one.shape))
            arrays |= {f"{name}_{p}": a for p, a in zip(_SPARSE_PARTS, parts, strict=True)}
        else:
            arrays[name] = one
    write_output(file, lambda open_: np.savez_compressed(open_, allow_pickle=False, **arrays))


def _read(path: Path) -> Mapping[str, Any]:
    """The tables in a file."""
    readers = {".toml": _read_toml, ".npz": _read_npz}
    if path.suffix.lower() not in readers:
        raise InputError(
            f"{_shown(path)} is neither .toml nor .npz: give a file of one of these types."
        )
    try:
        return readers[path.suffix.lower()](regular(path))
    except FileNotFoundError:
        raise InputError(
            f"there is no file {_shown(path)}: check the name and the folder."
        ) from None
    except OSError as error:
        raise InputError(
            f"{_shown(path)} cannot be read ({error.strerror or error}): give a file that can."
        ) from None


def _read_toml(path: Path) -> Mapping[str, Any]:
    """The tables in a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(
            f"{_shown(path)} is not text in UTF-8: save it in UTF-8, or as .npz."
        ) from None
    except (ValueError, RecursionError) as error:  # ValueError also for numbers of too many digits
        raise InputError(f"{_shown(path)} is not TOML ({_sentence(error)}): correct it.") from None


def _read_npz(path: Path) -> Mapping[str, Any]:
    """The tables in an NPZ file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # files written by Python 2 are fine
            return _joined(read_npz(path, compressed=True))
    except (InputError, OSError):
        raise
    except Exception as error:  # what is no sparse table raises anything
        raise InputError(
            f"{_shown(path)} is not an NPZ file of plain arrays ({_sentence(error)}): "
            "write it with save_problem."
        ) from None


def _shown(path: Path) -> str:
    """The whole path on one line."""
    return printable(str(path)).replace("\n", "\\n")


def _sentence(error: Exception) -> str:
    """The first line of an error's message, or its type if it has none."""
    return str(error).partition("\n")[0].rstrip(".") or type(error).__name__


def _joined(arrays: dict[str, Any]) -> dict[str, Any]:
    """The tables, with sparse ones assembled from their parts."""
    for name in NAMES:
        parts = {part: f"{name}_{part}" for part in _SPARSE_PARTS}
        given = [part for part in parts.values() if part in arrays]
        if not given:
            continue
        missing = [part for part in parts.values() if part not in arrays]
        if missing:
            raise InputError(
                f"{missing[0]} is missing: a sparse table needs {', '.join(parts.values())}."
            )
        if name in arrays:
            raise InputError(f"{name} is given twice, dense and sparse: give one of the two.")
        data, indices, indptr, shape = (arrays.pop(part) for part in parts.values())
        if any(array.dtype.kind not in "iu" for array in (indices, indptr, shape)):
            raise InputError(
                f"{name}_indices, {name}_indptr and {name}_shape are not all whole numbers: "
                "write the file with save_problem."
            )
        if shape.shape != (2,):
            raise InputError(f"{name}_shape has shape {shape.shape}: give two numbers.")
        table = sparse.csr_array((data, indices, indptr), shape=(int(shape[0]), int(shape[1])))
        table.check_format(full_check=True)
        arrays[name] = table
    return arrays
