"""The benchmark of the paper runs all of its experiments."""

from pathlib import Path

import pytest

from benchmarks import paper
from preftd._src.paper.order import Order
from preftd._src.paper.registry import WORDS
from test_bench_learners import number, tables


def test_all_figures_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[list[str], int | None]] = []

    def reproduce(names: list[str], order: Order) -> list[str]:
        made.append((names, order.seeds))
        return []

    read: list[str] = []

    def measured(command: str, _: Order) -> tuple[float, float]:
        read.append(command)
        return float(len(read)), 100.0

    monkeypatch.setattr(paper, "reproduce", reproduce)
    monkeypatch.setattr(paper, "_read", measured)
    (_, *rows), (_, *commands) = tables(paper.table(seeds=2))
    all_of_it, *parts = made
    assert all_of_it == (list(WORDS), 1), "the first run compiles"
    assert parts == [(names, 2) for names in paper.PARTS.values() for _ in range(2)]
    assert [(row[0], number(row[1])) for row in rows] == [
        (part, len(names)) for part, names in paper.PARTS.items()
    ]
    assert read == [name for name in paper.READING for _ in range(2)]
    assert [row[1::2] for row in commands] == [["1", "2"], ["3", "4"], ["5", "6"]]


def test_what_a_command_takes_is_measured(tmp_path: Path) -> None:
    seconds, peak = paper._read("status", Order(tmp_path))
    assert 0.2 < seconds < 60
    assert 50 < peak < 2000


def test_the_parts_are_the_whole() -> None:
    first, second, both = paper.PARTS.values()
    assert sorted([*first, *second]) == sorted(both) == sorted(WORDS)
    assert {"figure_3", "limits", "counterexamples"} <= set(first)
    assert {"figure_4", "figure_a6", "held"} <= set(second)
