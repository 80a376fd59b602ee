"""Sources of logs: Parquet files are read directly, everything else is converted first."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
import polars as pl

from preftd._src.arrays import InputError, short
from preftd._src.files import as_path, check_utf8, system_error, write_whole
from preftd._src.logs.columns import is_number
from preftd._src.logs.part_files import without_results
from preftd._src.logs.table import (
    CHUNK,
    LogFile,
    LogTable,
    Partition,
    cause_of,
    check_partition,
    common_type,
    converted,
    has_values,
    open_parquet,
)

SPOOL = "preftd-source.parquet"
"""The converted log in the folder of parts."""
FILE = "preftd-file"
"""The column with the file of each CSV row, until the log is written."""
LABEL = "the log"
"""The name in messages of a log that is not a file."""
MINARI = "metadata.json"
"""The file that marks the folder of a Minari data set."""
_EXAMPLE = (
    "a Parquet or CSV file, a folder of them, a frame, an Arrow table, a DuckDB relation, or an "
    "iterator of frames"
)


class LogSource(NamedTuple):
    """A kind of source."""

    fits: Callable[[Any], bool]
    open: Callable[[Any, Path], LogTable]
    """Opens a source, given the folder for conversions to Parquet."""


def open_source(source: Any, folder: Path, nulls: Sequence[str] = ()) -> LogTable:
    """Return a log as a table.

    Parameters
    ----------
    source : str, path, frame, Arrow table, DuckDB relation, iterable of frames, or Minari data set
        A Parquet or CSV file; a folder of them, also in folders such as site=north; or the folder
        of a Minari data set. Frames are those of polars or pandas.
    folder : Path
        The folder for conversions to Parquet.
    nulls : sequence of str
        Texts of missing values in CSV files, in addition to empty fields.

    """
    given = as_path("source", source, _EXAMPLE) if isinstance(source, str | Path) else source
    for kind in SOURCES.values():
        if kind.fits(given):
            if nulls and not isinstance(given, Path):
                _refuse_nulls(nulls, LABEL)
            table = _open_path(given, folder, nulls) if nulls else kind.open(given, folder)
            if not table.rows:
                raise InputError(
                    f"{table.label} has no rows: give a log with at least one episode."
                )
            return table
    raise InputError(f"source is {short(source)}: give {_EXAMPLE}.")


def _refuse_nulls(nulls: Sequence[str], label: str) -> None:
    raise InputError(
        f"nulls are {short(list(nulls))}, but {label} is not CSV: make them null before, and leave "
        "nulls out."
    )


def _open_path(path: Path, folder: Path, nulls: Sequence[str] = ()) -> LogTable:
    if not path.exists():
        raise InputError(f"there is no file or folder {short(str(path))}: give {_EXAMPLE}.")
    path = path.absolute()  # processes may work in other folders
    found = [path]
    if path.is_dir():
        inside = (one for one in path.rglob("*") if one.suffix in _SUFFIXES and one.is_file())
        found = without_results(sorted(inside, key=_natural), folder.parent)
        if not found:
            raise InputError(f"{path} has no Parquet or CSV files: give another folder.")
    elif not path.is_file():
        raise InputError(f"{short(str(path))} is a pipe or a device: give {_EXAMPLE}.")
    for one in found:
        check_utf8(one)
    kinds = {_SUFFIXES.get(one.suffix) for one in found}
    keys = _partitions(path, found)
    if kinds == {"csv"}:
        csv = _Csv(found, nulls)
        return _spooled(folder, path.name, lambda into: csv.sink(keys, into), found)
    if nulls:
        _refuse_nulls(nulls, path.name)
    if kinds != {"parquet"} and path.is_dir():
        raise InputError(f"{path} has both Parquet and CSV files: give a folder with one kind.")
    files = [open_parquet(one, own) for one, own in zip(found, keys, strict=True)]
    return LogTable(files, path.name)


_SUFFIXES = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv"}


def _natural(path: Path) -> list[tuple[list[str | int], list[str]]]:
    """A key that sorts part_2 before part_10, and names that differ in leading zeros as text."""
    parts = [re.split(r"(\d+)", part) for part in path.parts]
    return [([int(one) if i % 2 else one for i, one in enumerate(p)], p) for p in parts]


def _partitions(folder: Path, found: list[Path]) -> list[Partition]:
    """The columns of each file from the names of subfolders."""
    inside = [path.relative_to(folder).parts[:-1] for path in found]
    named = [[part.split("=", 1) for part in parts if "=" in part] for parts in inside]
    texts: dict[str, set[str]] = {}
    for pairs in named:
        for name, text in pairs:
            texts.setdefault(name, set()).add(unquote(text))
    values = {name: _values(several) for name, several in texts.items()}
    return [tuple((name, values[name][unquote(text)]) for name, text in pairs) for pairs in named]


def _values(texts: set[str]) -> dict[str, Any]:
    """Texts as whole numbers if each is another one; 7 and 007 are, as texts, two."""
    if all(re.fullmatch(r"-?[0-9]{1,18}", text) for text in texts):
        numbers = {text: int(text) for text in texts}
        if len(set(numbers.values())) == len(texts):
            return numbers
    return {text: text for text in texts}


@contextmanager
def _refused(what: str, remedy: str) -> Iterator[None]:
    """Turn an error of polars into one sentence; a full disk is not an error of the log."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        if system_error(error) is not None:
            raise
        raise InputError(f"{what} ({cause_of(error)}): {remedy}.") from None


def _sink(frame: pl.LazyFrame, path: Path) -> None:
    with _refused("the lazy frame cannot be computed", "give one that collects"):
        frame.sink_parquet(path)


class _Csv(NamedTuple):
    """Some files, read one after the other."""

    files: list[Path]
    nulls: Sequence[str]
    """Fields that are missing, besides empty ones."""

    def sink(self, keys: list[Partition], into: Path) -> None:
        """Write all rows to a Parquet file, with the columns that are in names of folders."""
        found = self.files
        remedy = "give a header and as many fields in each row"
        with _refused(f"{found[0]} cannot be read as CSV", remedy):
            filled = self._filled_types()
            frame = self._scan(filled)
            types = dict(frame.collect_schema())
            self._check_texts(types)
            for path, own in zip(found, keys, strict=True):
                check_partition(path, own, types)
            names = dict.fromkeys(name for own in keys for name, _ in own)
            if names:
                paths = [str(path) for path in found]
                values = {name: [dict(own).get(name) for own in keys] for name in names}
                frame = self._scan(filled, FILE).select(
                    *types, **{n: pl.col(FILE).replace_strict(paths, values[n]) for n in names}
                )
            frame.sink_parquet(into)

    def _scan(
        self, types: dict[str, pl.DataType] | None = None, file: str | None = None
    ) -> pl.LazyFrame:
        return pl.scan_csv(
            self.files,
            infer_schema_length=None,
            try_parse_dates=True,
            schema_overrides=types,
            glob=False,
            include_file_paths=file,
            null_values=list(self.nulls) or None,
        )

    def _texts(self) -> pl.LazyFrame:
        nulls = list(self.nulls) or None
        return pl.scan_csv(self.files, infer_schema=False, glob=False, null_values=nulls)

    def _filled_types(self) -> dict[str, pl.DataType]:
        """The types of columns of numbers that are empty in a file, where they look like text."""
        types = self._scan().collect_schema()
        several = len(self.files) > 1
        unclear = [name for name, dtype in types.items() if dtype == pl.String and several]
        alone = [self._replace(files=[path]) for path in self.files] if unclear else []
        own = [one._scan().collect_schema() for one in alone]
        numbers: dict[str, pl.DataType] = {}
        for name in unclear:
            filled = [
                schema[name]
                for schema, one in zip(own, alone, strict=True)
                if has_values(one._texts(), name)
            ]
            common = common_type(*filled)
            if common is not None and all(dtype.is_numeric() for dtype in filled) and filled:
                numbers[name] = common
        return numbers

    def _check_texts(self, types: dict[str, pl.DataType]) -> None:
        """Refuse texts that are another number, or the number of another text, once read.

        So is a number that is written in another way than among `nulls`.
        """
        lost, why = list[pl.Expr](), list[tuple[str, str]]()
        for name, dtype in types.items():
            text = pl.col(name)
            if dtype.is_integer():  # 7 next to 007
                digits = text.str.strip_chars_start("-").str.len_bytes()
                padded = digits.filter(text.str.contains(r"^-?0\d")).max()
                lost.append(text.filter(digits < padded).first())
                why.append((name, f"{_ALIKE.format('have leading zeros')}"))
            elif dtype.is_float():  # 9007199254740993 next to 0.5
                whole = text.filter(text.str.contains(r"^[+-]?\d{16,38}$"))
                number = whole.cast(pl.Float64).cast(pl.Int128, strict=False)
                lost.append(whole.filter(whole.cast(pl.Int128, strict=False) != number).first())
                why.append((name, f"{_ALIKE.format('are fractions')}"))
            numbers = [float(one) for one in self.nulls if is_number(one)]
            if numbers and dtype.is_numeric():  # -999.0 next to -999
                lost.append(text.filter(text.cast(pl.Float64, strict=False).is_in(numbers)).first())
                why.append((name, "nulls name the same number: name this text, too"))
        texts = self._texts().select(one.alias(str(i)) for i, one in enumerate(lost))
        for (name, reason), text in zip(why, texts.collect().row(0) if lost else (), strict=True):
            if text is not None:
                raise InputError(f"column {name!r} has {short(text)}, and {reason}.")


_ALIKE = "others {}, so that two texts may become the same number: write them alike"


def _spooled(folder: Path, label: str, write: Any, files: Iterable[Path] = ()) -> LogTable:
    """A table that is written to a file; an existing one of the same files is reused."""
    stamps = [(str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in files]
    stamp = hashlib.sha256(repr(stamps).encode()).hexdigest()[:16] if stamps else ""
    path = folder / (f"{stamp}-{SPOOL}" if stamp else SPOOL)
    file = open_parquet(path) if stamp and path.exists() else _written(path, write)
    return LogTable([file._replace(modified=0) if stamp else file], label)


def _written(path: Path, write: Any) -> LogFile:
    """A file that is written; rewritten it has another date, so it is identified by its content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda file: write(Path(file.name)))
    return open_parquet(path)._replace(modified=_digest(path))


def _digest(path: Path) -> int:
    with path.open("rb") as file:
        return int(hashlib.file_digest(file, "sha256").hexdigest()[:15], 16)


def _spooled_frames(folder: Path, label: str, frames: Iterable[Any]) -> LogTable:
    """A table of frames, which are written once there are enough rows, and held no longer.

    A file holds frames of the same types, widened by those before: reading finds one for all.
    """
    files, held = list[LogFile](), list[pl.DataFrame]()
    schema: pl.Schema | None = None

    def write() -> None:
        path = folder / (f"{len(files)}-{SPOOL}" if files else SPOOL)
        files.append(_written(path, pl.concat(held).write_parquet))
        held.clear()

    for number, given in enumerate(frames):
        frame = as_frame(given)
        if schema is not None:
            if frame.columns != list(schema):
                raise InputError(
                    f"frame {number} has columns {short(frame.columns)}, not those of the first: "
                    "give the same columns in each."
                )
            frame = _widened(frame, schema)
            if held and frame.schema != schema:
                write()
        schema = frame.schema
        held.append(frame)
        if sum(one.height for one in held) >= CHUNK:
            write()
    if schema is None:
        raise InputError("the iterator has no frames: give at least one.")
    if held:
        write()
    return LogTable(files, label, one_source=True)


def _widened(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """A frame in types that also hold those of a schema, where there are such."""
    changed = []
    for column in frame.iter_columns():
        dtype = common_type(schema[column.name], column.dtype) or column.dtype
        if column.null_count() == len(column):
            dtype = schema[column.name]
        found, lost = converted(column, dtype)
        changed.append(found if lost is None else column)
    return frame.with_columns(changed)


def _is_pandas(given: Any) -> bool:
    return type(given).__module__.split(".")[0] == "pandas" and hasattr(given, "columns")


def as_frame(given: Any) -> pl.DataFrame:
    """Return a polars frame, from itself, pandas, Arrow or a relation of DuckDB.

    Levels of pandas' index that have a name are columns.
    """
    if isinstance(given, pl.DataFrame):
        frame = given
    elif _is_pandas(given):
        frame = _frame_of_pandas(given)
    elif _is_arrow(given):
        with _refused("the table of Arrow cannot be read", "give columns of numbers or text"):
            frame = pl.DataFrame(given)
    else:
        raise InputError(f"the log has {short(given)}: give {_EXAMPLE}.")
    for name, dtype in frame.schema.items():
        if dtype == pl.Object:
            _refuse_objects(name)
    return frame


def _is_arrow(given: Any) -> bool:
    """Whether this gives its rows by Arrow's interface, as tables of pyarrow and relations do."""
    return hasattr(given, "__arrow_c_stream__") and not isinstance(given, type | pl.LazyFrame)


def _frame_of_pandas(given: Any) -> pl.DataFrame:
    index, names = given.index, given.index.names
    named = [(i, str(name)) for i, name in enumerate(names) if name is not None]
    parts = [(name, index.get_level_values(i)) for i, name in named]
    in_index = {name for name, _ in parts}
    parts += [(str(name), given.iloc[:, i]) for i, name in enumerate(given.columns)]
    found: dict[str, pl.Series] = {}
    for name, column in parts:
        series = _from_pandas(name, column)
        if name in found and not (name in in_index and series.equals(found[name])):
            raise InputError(
                f"the frame has two columns {short(name)}, as text: rename one of them, or a level "
                "of the index."
            )
        found[name] = series
    return pl.DataFrame(list(found.values()))


def _refuse_objects(name: str) -> None:
    raise InputError(
        f"column {name!r} holds values of several types, or of none that Parquet has: convert it "
        "to numbers or text, or leave it out."
    )


def _from_pandas(name: str, column: Any) -> pl.Series:
    """The values of a column, including pandas types, without pyarrow."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biufM":
        return pl.Series(name, column.to_numpy())
    values = [None if missing else one for one, missing in zip(column, column.isna(), strict=True)]
    try:
        found = pl.Series(name, values)
        same = not (found.dtype.is_numeric() or found.dtype.is_temporal()) or (
            found.to_list() == values
        )
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        same = False
    if not same:
        _refuse_objects(name)
    return found


def _write_relation(given: Any, path: Path) -> None:
    """Let DuckDB write its rows, which need not fit into memory."""
    try:
        given.write_parquet(str(path))
    except Exception as error:
        if type(error).__module__.split(".")[0] not in ("duckdb", "_duckdb"):
            raise
        raise InputError(
            f"the relation cannot be computed ({cause_of(error)}): correct its query."
        ) from None


def is_minari(path: Path) -> bool:
    """Return whether a path is the folder of a data set, or the folder `data` in it."""
    return any((folder / MINARI).is_file() for folder in (path, path / "data"))


def minari_columns(path: Path) -> dict[str, Any]:
    """Return the roles of a data set's columns, for `LogColumns`: observations are features."""
    names = next(minari_episodes(path)).columns
    seen = [name for name in names if name.split("_")[0] == "observation"]
    fixed = {name: name for name in ("episode", "reward", "terminated", "truncated")}
    return {"features": seen, "order": "step", **fixed}


def minari_episodes(source: Any) -> Iterator[pl.DataFrame]:
    """Yield the episodes of a data set, given itself or its folder, a frame each.

    Columns are `episode`, `step`, the entries of observations and actions, `reward`, `terminated`
    and `truncated`. An episode that is not terminated has one more row, with its final observation
    and no reward.
    """
    try:
        from minari import MinariDataset  # noqa: PLC0415  (an extra)
    except ModuleNotFoundError:
        raise InputError(
            "Minari is not installed: install the extra, as in pip install preftd[minari]."
        ) from None
    data = source
    if isinstance(source, str | Path):
        path = Path(source)
        data = MinariDataset(path if (path / MINARI).is_file() else path / "data")
    for number, episode in enumerate(data.iterate_episodes()):
        yield _minari_frame(number, episode)


def _minari_frame(number: int, episode: Any) -> pl.DataFrame:
    """The rows of an episode."""
    steps = len(episode.rewards)
    over = bool(steps and episode.terminations[-1])
    rows = steps if over else steps + 1
    found: dict[str, Any] = {"episode": np.full(rows, number), "step": np.arange(rows)}
    found |= _minari_entries("observation", episode.observations, rows)
    found |= _minari_entries("action", episode.actions, rows)
    found["reward"] = _padded(np.asarray(episode.rewards, dtype=np.float64), rows)
    found["terminated"] = np.append(np.zeros(rows - 1, np.bool_), over)
    found["truncated"] = np.append(np.zeros(rows - 1, np.bool_), not over)
    return pl.DataFrame(found)


def _minari_entries(name: str, given: Any, rows: int) -> dict[str, Any]:
    """Numbers of any space as columns: name, name_0, or name_key_0."""
    if isinstance(given, Mapping):
        found: dict[str, Any] = {}
        for key, inner in given.items():
            more = _minari_entries(f"{name}_{key}", inner, rows)
            twice = next((one for one in more if one in found), None)
            if twice is not None:
                raise InputError(
                    f"two entries of the data set would be column {twice!r}: rename one of them."
                )
            found |= more
        return found
    if isinstance(given, tuple):
        return _minari_entries(name, dict(enumerate(given)), rows)
    array = np.asarray(given)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} of the data set holds {array.dtype}: give one of numbers.")
    flat = array.reshape(len(array), -1).astype(np.float64)
    names = [name] if array.ndim == 1 else [f"{name}_{i}" for i in range(flat.shape[1])]
    return {one: _padded(flat[:, i], rows) for i, one in enumerate(names)}


def _padded(numbers: Any, rows: int) -> Any:
    """A fixed number of values, with missing ones at the end."""
    return np.append(numbers, np.full(max(0, rows - len(numbers)), np.nan))[:rows]


SOURCES = {
    "folder of a Minari data set": LogSource(
        lambda given: isinstance(given, Path) and is_minari(given),
        lambda given, folder: _spooled_frames(folder, given.name, minari_episodes(given)),
    ),
    "file or folder": LogSource(lambda given: isinstance(given, Path), _open_path),
    "Minari data set": LogSource(
        lambda given: type(given).__module__.startswith("minari."),
        lambda given, folder: _spooled_frames(folder, LABEL, minari_episodes(given)),
    ),
    "lazy frame": LogSource(
        lambda given: isinstance(given, pl.LazyFrame),
        lambda given, folder: _spooled(folder, LABEL, lambda path: _sink(given, path)),
    ),
    "DuckDB relation": LogSource(
        lambda given: _is_arrow(given) and hasattr(given, "write_parquet"),
        lambda given, folder: _spooled(folder, LABEL, lambda path: _write_relation(given, path)),
    ),
    "frame": LogSource(
        lambda given: isinstance(given, pl.DataFrame) or _is_pandas(given) or _is_arrow(given),
        lambda given, folder: _spooled(folder, LABEL, as_frame(given).write_parquet),
    ),
    "iterable of frames": LogSource(
        lambda given: isinstance(given, Iterable) and not isinstance(given, bytes | np.ndarray),
        lambda given, folder: _spooled_frames(folder, LABEL, given),
    ),
}
"""Kinds of sources; the first that fits opens one."""
