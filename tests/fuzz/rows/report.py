"""Valid calls of the report."""

from __future__ import annotations

from functools import cache
from tempfile import mkdtemp

from fuzz.row import Row
from fuzz.rows.logs import columns, log
from preftd.logs import fit


@cache
def folder() -> str:
    """An evaluation without predictions, whose page is drawn quickly."""
    return str(fit(log(), columns(), mkdtemp(), rules=["ptd"], predictions=False).folder)


ROWS: list[Row] = [Row("report.write_log_page", lambda: {"found": folder()})]
UNCHECKED: dict[str, str] = {}
