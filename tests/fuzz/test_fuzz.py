"""Every public callable against a matrix of bad values: refused, or the right answer."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from zlib import crc32

import pytest

from fuzz.exports import exports
from fuzz.outcomes import Caller, FailedCallError
from fuzz.row import Row
from fuzz.rows import ROWS, UNCHECKED
from fuzz.values import Kind

SAMPLE = 3
"""So many calls of each row are in the quick test."""
NOT_OURS = ("axes", "options", "progress", "repository")
"""Arguments that are handed on to matplotlib, Gymnasium and git."""
Record = Callable[[str, object], None]


def test_every_public_callable_with_an_argument_has_a_row_or_a_reason() -> None:
    takes = {name for name, export in exports().items() if _parameters(export.call, export.owner)}
    rows = {row.name for row in ROWS}
    assert takes == rows | UNCHECKED.keys() & takes
    assert not rows & UNCHECKED.keys()
    assert exports().keys() >= rows | UNCHECKED.keys()


def test_every_argument_of_a_callable_is_in_a_row() -> None:
    given = {(row.name, argument) for row in ROWS for argument in row.arguments()}
    names = {row.name for row in ROWS}
    every = {
        (name, argument)
        for name, export in exports().items()
        for argument in _parameters(export.call, export.owner)
        if name in names
    }
    assert sorted(pair for pair in every - given if pair[1] not in NOT_OURS) == []


def _parameters(call: Callable[..., object], owner: type | None) -> list[str]:
    """The arguments of a callable, without the object itself."""
    parameters = inspect.signature(call).parameters.values()
    named = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return named[1:] if owner is not None else named


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bad names of files are bad names in an empty folder."""
    monkeypatch.chdir(tmp_path)


def _id(row: Row) -> str:
    return row.name if row.on is None else f"{row.name} of {row.on.__name__}"


@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_some_bad_values_are_refused_or_give_the_right_answer(
    row: Row, record_property: Record
) -> None:
    every = sorted(
        row.replacements(), key=lambda call: crc32(f"{row.name}{call[0]}{call[1].name}".encode())
    )
    _check(row, every[:SAMPLE], record_property)


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_all_bad_values_are_refused_or_give_the_right_answer(
    row: Row, record_property: Record
) -> None:
    _check(row, row.replacements(), record_property)


def _check(row: Row, calls: Iterable[tuple[str, Kind]], record: Record) -> None:
    caller, found, failures = Caller(row), Counter[str](), []
    assert caller.plain is not None
    for argument, kind in calls:
        try:
            found[caller.check(argument, kind)] += 1
        except FailedCallError as failure:
            found["failures"] += 1
            failures.append(f"{argument} = {kind.name}: {failure}")
    record("fuzz", (row.name, dict(found)))
    assert not failures, "\n".join(failures)
