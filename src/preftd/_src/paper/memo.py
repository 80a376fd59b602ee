"""Values that follow from results, such as findings and drawings, in files next to the results.

A value is recalled while everything that it follows from is the same: the code of this library and
of the packages that it computes with, and the content of results. A file's name holds a hash of
all of that and one of its bytes, as in the store, so that an old or damaged file is never read.
"""

import json
import platform
import re
from collections.abc import Callable
from functools import cache, cached_property
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

import polars as pl

from preftd._src.experiments.content import Plain, digest
from preftd._src.experiments.manifest import PACKAGES
from preftd._src.experiments.store import hash_of
from preftd._src.files import check_folder, write_whole

PACKAGE = Path(__file__).parents[2]
FOLDER = "derived"
FILE = re.compile(r"(\w+)-[0-9a-f]{32}-[0-9a-f]{16}\.json")
"""Names of its files."""


@cache
def code() -> list[str]:
    """Versions, and hashes of all files of this package but for stored results."""
    files = (path for path in sorted(PACKAGE.rglob("*")) if path.suffix != ".parquet")
    ours = (path for path in files if "__pycache__" not in path.parts and path.is_file())
    versions = [f"{name} {version(name)}" for name in (*PACKAGES, "matplotlib", "jinja2")]
    hashes = [f"{path.relative_to(PACKAGE)} {_hash_of_file(path)}" for path in ours]
    return [platform.python_version(), *versions, *hashes]


def _hash_of_file(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def content_of(path: Path) -> str:
    """A hash of a file, which need not exist."""
    return _hash_of_file(path) if path.exists() else ""


def content_of_runs(runs: pl.DataFrame) -> str:
    """A hash of runs: their columns, labels and numbers."""
    found = sha256()
    for column in runs:
        found.update(f"{column.name} {column.dtype}".encode())
        flat = column
        if column.dtype == pl.List:
            found.update(column.list.len().to_numpy().tobytes())
            flat = column.explode(empty_as_null=False)
        if flat.dtype.is_numeric() and not flat.null_count():
            found.update(flat.to_numpy().tobytes())
        else:
            found.update(repr(flat.to_list()).encode())
    return found.hexdigest()


@final
class Memo:
    """Values that were computed from results, by name.

    Parameters
    ----------
    out
        The results folder. Nothing is written before it exists.
    warn
        Called with a message if values cannot be stored.
    """

    def __init__(self, out: Path, warn: Callable[[str], object]) -> None:
        self._out, self._warn = out, warn
        self._folder = out / FOLDER
        check_folder(self._folder)
        self._begun = digest(code())
        self._is_writable = True

    def recall(self, name: str, content: Plain, make: Callable[[], Any]) -> Any:
        """A value of plain data, made if it is not stored, or follows from other content."""
        known = self._read(name, content)
        return self.keep(name, content, make()) if known is None else known

    def keep(self, name: str, content: Plain, value: Any) -> Any:
        """Store a value in place of earlier ones of this name, and return it; None is not kept."""
        if value is None or not (self._is_writable and self._out.is_dir()):
            return value
        written = json.dumps(value).encode()
        path = self._path(name, content, hash_of(written))
        try:
            self._folder.mkdir(exist_ok=True)
            write_whole(path, lambda file: file.write(written))
            for earlier in self._files.get(_plain(name), []):
                if earlier != path:
                    earlier.unlink(missing_ok=True)
            self._files[_plain(name)] = [path]
        except OSError as error:
            self._is_writable = False
            self._warn(
                f"{self._folder} cannot be written ({error.strerror}): figures and findings are "
                "not stored there, and the next command computes them again."
            )
        return value

    def _read(self, name: str, content: Plain) -> Any:
        """The stored value; None if there is none."""
        for path in self._files.get(_plain(name), []):
            whole = path.read_bytes() if path.exists() else b""
            if path == self._path(name, content, hash_of(whole)):
                return json.loads(whole)
        return None

    def _path(self, name: str, content: Plain, of_bytes: str) -> Path:
        key = digest([self._begun, name, content])
        return self._folder / f"{_plain(name)}-{key}-{of_bytes}.json"

    @cached_property
    def _files(self) -> dict[str, list[Path]]:
        """The files in the folder, by the name of their value."""
        found: dict[str, list[Path]] = {}
        for path in self._folder.glob("*.json"):
            if name := FILE.fullmatch(path.name):
                found.setdefault(name[1], []).append(path)
        return found


def _plain(name: str) -> str:
    """A name with letters and digits alone, for a file."""
    return re.sub(r"\W+", "_", name)
