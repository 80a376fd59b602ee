"""Results in a folder: what is there, what is missing, and what of it can be trusted.

Files are written once and checked when read. As they are called by what they hold, no index has to
be kept in step.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import BinaryIO, NamedTuple, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd.arrays import InputError
from preftd.experiments.beside import Beside
from preftd.experiments.cells import Strand, Variant
from preftd.experiments.places import Places
from preftd.experiments.result_files import (
    FOUND,
    Blank,
    Read,
    Refused,
    checked,
    file_name,
    some_rows,
    write_rows,
)
from preftd.experiments.work import Done
from preftd.failures import FailedError
from preftd.files import remove_unfinished, write_whole


@final
class Store:
    """The results in a folder.

    warn  told of each file that is not trusted, in a sentence
    """

    def __init__(self, folder: Path, warn: Callable[[str], object] = lambda _: None) -> None:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is not a folder: give one for results.")
        self.folder = folder
        self.cells = folder / "cells"
        self._warn = warn
        self._places = Places()
        """Where each cell is; as files never change, one look at each is enough."""
        self._trusted: set[str] = set()
        self._refused: set[str] = set()
        self._taken: dict[str, Read] = {}
        """What was taken while it is open, by the part of the file's name that is known by then."""
        self._saved: dict[str, str] = {}
        """The name of the file, of what is in one."""
        self._at_hand: dict[str, pl.DataFrame] = {}
        self._thread: ThreadPoolExecutor | None = None
        """What saves, while it is open."""
        self._parts: list[Beside] = []

    @contextmanager
    def open(self) -> Iterator[Beside]:
        """Be written to: nothing half written or damaged stays among the results.

        What is read or written meanwhile is kept at hand, so that nothing is read twice. Several
        runs may share one opening, and the thread that saves: what one of them leaves to it is
        safe when the opening ends, or else it is told then.
        """
        if self._thread is not None:
            with self._part(self._thread) as part:
                yield part
            return
        self.cells.mkdir(parents=True, exist_ok=True)
        for folder in self.folder.iterdir():  # also manifests and figures
            remove_unfinished(folder)
        try:
            with ThreadPoolExecutor(1) as self._thread:
                with self._part(self._thread) as part:
                    yield part
                self.wait()
        except BaseException:
            for other in filter(None, (part.settle() for part in self._parts)):
                self._warn(f"{type(other).__name__}: {other}")
            raise
        finally:
            self._thread = None
            self._drop_unsaved()
            self._close()

    @contextmanager
    def _part(self, thread: ThreadPoolExecutor) -> Iterator[Beside]:
        """Of an opening; if it breaks off, what it could not save is not here."""
        part = Beside(thread)
        self._parts.append(part)
        try:
            yield part
        except BaseException:
            thread.submit(int).result()  # so that it does nothing more
            self._drop_unsaved()
            raise

    @property
    def is_open(self) -> bool:
        """Whether it can be written to."""
        return self._thread is not None

    def wait(self) -> None:
        """Wait until all that was left to the thread is safe; raise what went wrong first."""
        for part in self._parts:
            part.wait()

    def take(self, blank: Blank, done: Done) -> "Taken | None":
        """What came of cells, which is here from now on; safe it is only when it is saved.

        What is not saved when a run breaks off, or the opening ends, is here no more.
        """
        if not self.is_open:
            raise RuntimeError("the store is not open: open it to keep results.")
        if not done.rows.size:
            return None
        if done.rows.size < blank.rows.height:
            blank = blank.only(done.rows)
        errors = pl.Series("error", done.errors).cast(FOUND["error"])
        found = pl.DataFrame([pl.Series("diverged", done.diverged), errors])
        self._taken[blank.cells] = read = Read(blank.spans, found)
        self._have(blank.cells, read)
        return Taken(blank.cells, blank.rows.hstack(found))

    def save(self, taken: "Taken") -> Path:
        """Write what was taken; when this returns, it is safe. Another thread may do this."""
        # What is left for here is next to no Python, for which threads would have to take turns.

        def rename(file: BinaryIO) -> str:
            name = file_name(taken.cells, file)
            self._trusted.add(name)  # before it is there, so that nobody looks at it
            self._refused.discard(name)
            return name

        path = self.cells / f"{taken.cells}.parquet"
        saved = write_whole(path, partial(write_rows, taken.rows), rename)
        self._saved[taken.cells] = saved.name
        return saved

    def stored(self) -> set[str]:
        """The ids of all cells that are here, after a look at every byte."""
        self._forget()
        self._look(self._names(), ())
        return self._places.ids

    def there(self, wanted: Sequence[Strand]) -> NDArray[np.bool_]:
        """Which of these cells, one after the other, are here."""
        return self._find(wanted).there

    def taken_of(self, wanted: Sequence[Strand]) -> frozenset[str]:
        """What holds some of these cells and was taken in this opening, saved by now or not."""
        places = self._places.find(wanted)
        names, _ = self._places.within(places[places >= 0])
        return frozenset(names) & self._taken.keys()

    def check_saved(self, names: frozenset[str]) -> None:
        """Raise if some of what was taken could not be saved."""
        if names - self._saved.keys():
            raise FailedError(
                "results that are shared with an earlier study could not be saved: run both again."
            )

    def read(self, wanted: Sequence[Strand]) -> tuple[NDArray[np.bool_], pl.DataFrame]:
        """Which of these cells, one after the other, are here, and what came of those."""
        there, rows, frames = self._find(wanted)
        return there, some_rows(pl.concat([pl.DataFrame(schema=FOUND), *frames]), rows)

    def paths(self) -> list[Path]:
        """All files that may hold results."""
        return [self.cells / name for name in self._names()]

    def _names(self) -> list[str]:
        there = os.listdir(self.cells) if self.cells.is_dir() else []
        return sorted(name for name in there if name.endswith(".parquet"))

    def _find(self, asked: Sequence[Strand]) -> "_Found":
        """Where these cells are, and what is in all files that hold some of them.

        If some are missing, new files are looked at. If one that was trusted turns out to be
        damaged, so are all others again: they may hold its cells too.
        """
        frames = dict(self._at_hand)
        while True:
            places = self._places.find(asked)
            is_there = places >= 0
            if not is_there.all() and (new := self._new_names()):
                frames |= self._look(new, asked)
                continue
            needed, rows = self._places.within(places[is_there])
            missing = [name for name in needed if name not in frames]
            frames |= self._look(missing, asked)
            if all(name in frames for name in needed):
                return _Found(is_there, rows, [frames[name] for name in needed])
            self._forget()

    def _new_names(self) -> list[str]:
        there = self._names()  # first, as another thread trusts what it saves
        known = self._trusted | self._refused
        return [name for name in there if name not in known]

    def _look(self, names: Sequence[str], asked: Sequence[Strand]) -> dict[str, pl.DataFrame]:
        """What is in files that hold some of these; why one is not trusted is said once."""
        if not names:
            return {}
        paths, known = [self.cells / name for name in names], map(self._trusted.__contains__, names)
        by_draw: dict[str, list[tuple[Variant, ...]]] = {}
        for strand in asked:
            by_draw.setdefault(strand.draw.id, []).append(strand.variants)
        # Side by side: nearly all of it is reading, hashing and decoding, outside of Python.
        with ThreadPoolExecutor() as pool:
            looked = list(zip(paths, pool.map(checked, paths, repeat(by_draw), known), strict=True))
        read = {path.name: found for path, found in looked if isinstance(found, Read)}
        for name, found in read.items():
            self._trust(name, found)
        for path, refused in looked:
            if isinstance(refused, Refused):
                self._refuse(path, refused)
        return {name: one.found for name, one in read.items() if one.found is not None}

    def _trust(self, name: str, read: Read) -> None:
        self._trusted.add(name)
        self._refused.discard(name)
        self._have(name, read)

    def _have(self, name: str, read: Read) -> None:
        if read.spans:
            self._places.add(name, read.spans)
        if self.is_open and read.found is not None:
            self._at_hand[name] = read.found

    def _refuse(self, path: Path, refused: Refused) -> None:
        if path.name not in self._refused:
            self._warn(f"{path} {refused.why}{self._remedy(refused)}")
        self._refused.add(path.name)
        if refused.damaged is not None and self.is_open:
            # A copy: the file itself may have been mended by another run in the meantime.
            copy, whole = path.with_name(f"{path.name}.damaged"), refused.damaged
            write_whole(copy, lambda file: file.write(whole))

    def _forget(self) -> None:
        """Know nothing of what is in files, so that all is looked at again."""
        self._trusted.clear()
        self._places = Places()
        for name, read in self._taken.items():
            self._have(name, read)

    def _drop_unsaved(self) -> None:
        """What went wrong before it was saved is not here."""
        unsaved = self._taken.keys() - self._saved.keys()
        for name in unsaved:
            del self._taken[name]
            self._at_hand.pop(name, None)
        if unsaved:
            self._forget()

    def _close(self) -> None:
        """What was taken is from now on what is in files."""
        self._places.rename(self._saved)
        self._trusted.update(self._saved.values())
        self._taken.clear()
        self._saved.clear()
        self._at_hand.clear()
        self._parts.clear()

    def _remedy(self, refused: Refused) -> str:
        if not refused.lost:
            return ": it is left alone and not read."
        if not self.is_open:
            return ": run the study again to compute its cells anew."
        kept = " A copy is kept as *.damaged." if refused.damaged is not None else ""
        return f": it is not read, and computed again as far as it is asked for.{kept}"


class _Found(NamedTuple):
    """Which cells are there, and in which rows of these frames, put together."""

    there: NDArray[np.bool_]
    rows: NDArray[np.int64]
    frames: list[pl.DataFrame]


class Taken(NamedTuple):
    """What is to be written into a file."""

    cells: str
    """A name for them, with which that of the file begins."""
    rows: pl.DataFrame
