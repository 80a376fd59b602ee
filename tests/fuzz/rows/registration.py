"""Valid calls that give names to tasks and rules; the names are forgotten afterwards."""

from __future__ import annotations

from typing import Any

from fuzz.row import Row
from fuzz.things import coin
from preftd._src.registration import ENVIRONMENTS
from preftd.rules import PTD, RULES
from preftd.tasks import TASKS

TABLES: tuple[dict[str, Any], ...] = (RULES, TASKS, ENVIRONMENTS)
BEFORE: list[dict[str, Any]] = []


def named(make: Any) -> dict[str, Any]:
    BEFORE[:] = map(dict, TABLES)
    return {"name": "fuzzed", "make": make}


def forget(_subject: Any, _answer: Any) -> list[set[str]]:
    """What was added, which is taken away."""
    added = [table.keys() - before.keys() for table, before in zip(TABLES, BEFORE, strict=True)]
    for table, names in zip(TABLES, added, strict=True):
        for name in names:
            del table[name]
    return added


NAME = {"name": "word, long word"}
ROWS = [
    Row("registration.register_rule", lambda: named(lambda _: PTD()), free=NAME, look=forget),
    Row("registration.register_task", lambda: named(coin), free=NAME, look=forget),
]
UNCHECKED: dict[str, str] = {}
