"""The benchmark of the paper's experiments makes all of them."""

import pytest

from preftd.bench import paper
from preftd.report.paper import TITLES, Order
from test_bench_learners import number, tables


def test_all_figures_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[list[str], int | None]] = []

    def reproduce(names: list[str], order: Order) -> list[str]:
        made.append((names, order.seeds))
        return []

    monkeypatch.setattr(paper, "reproduce", reproduce)
    (((_, *_), (figures, runs, *_)),) = tables(paper.table(seeds=2))
    assert made == [([], 1), ([], 2), ([], 2)], "once to compile, once to measure, once again"
    assert number(figures) == len(TITLES)
    assert number(runs) == 0
