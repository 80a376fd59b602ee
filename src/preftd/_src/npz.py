"""Arrays in NPZ files that anyone may have written: no code is run, no more is held than is there.

`numpy.load` reserves as much memory as the header of an array asks for.
"""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_npz(path: Path, compressed: bool = False) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file; one that is damaged raises ValueError.

    Parameters
    ----------
    path : Path
    compressed : bool
        Whether arrays may be compressed; they may then be much larger than the file.

    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if not compressed and sum(one.file_size for one in members) > path.stat().st_size:
                raise ValueError("its arrays are compressed, or larger than the file")
            return {one.filename.removesuffix(".npy"): _array(archive, one) for one in members}
    except Exception as error:  # a damaged file raises anything, from zlib.error to MemoryError
        if isinstance(error, ValueError) or (isinstance(error, OSError) and error.filename):
            raise
        raise ValueError(str(error).partition("\n")[0] or type(error).__name__) from None


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:
            raise ValueError(f"{member.filename} has version {version}")
        shape, fortran, dtype = _HEADERS[version](file)
        size = math.prod(shape) * dtype.itemsize
        if dtype.hasobject:
            raise ValueError("Object arrays cannot be loaded")
        if size != member.file_size - file.tell():
            raise ValueError(f"{member.filename} is not an array of shape {shape} and type {dtype}")
        return np.ndarray(shape, dtype, bytearray(file.read()), order="F" if fortran else "C")
