"""A sample of a matrix of cases in which any two values of different axes meet."""

from collections.abc import Iterable, Iterator
from itertools import combinations, product
from typing import Any

import pytest


def _meetings(case: tuple[int, ...]) -> set[tuple[tuple[int, int], ...]]:
    """The pairs of values that meet in a case, as (axis, place in the axis) each."""
    return set(combinations(enumerate(case), 2))


def _sample(sizes: list[int]) -> Iterator[tuple[int, ...]]:
    """Cases of a matrix: in each turn the first of those with most pairs that have not met yet."""
    cases = {case: _meetings(case) for case in product(*map(range, sizes))}
    missing = set[tuple[tuple[int, int], ...]]().union(*cases.values())
    while missing:
        case = max(cases, key=lambda one: len(cases[one] & missing))
        missing -= cases.pop(case)
        yield case


def in_pairs(**axes: Iterable[Any]) -> pytest.MarkDecorator:
    """Run a test on a sample of a matrix: any two values of different axes meet in some case.

    Examples
    --------
    >>> rows = in_pairs(rule=["td", "etd"], view=["held", "backward"], units=[1, 2]).args[1]
    >>> len(list(rows))  # of 8
    4

    """
    lists = {name: list(values) for name, values in axes.items()}
    sample = sorted(_sample([len(values) for values in lists.values()]))
    rows = [tuple(v[i] for v, i in zip(lists.values(), case, strict=True)) for case in sample]
    return pytest.mark.parametrize(tuple(lists), rows)
