"""Benches of learned preferences, and of other ways; tests do not judge the speed."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import parts, rivals
from benchmarks.learned import GOALS, Halves, contenders, streams, table
from benchmarks.published import RIVALS, LambdaGreedy
from benchmarks.rivals import Drawn
from benchmarks.timing import compete


def test_a_row_for_each_stream() -> None:
    lines = list(table(seconds=0.01))
    assert len(lines) == 2 + len(streams())
    assert len({line.count("|") for line in lines}) == 1
    assert {task.features.size for task in streams().values()} == set(GOALS)


def test_times_are_per_step() -> None:
    halves = Halves.of(streams()["corridor"])
    made = contenders(halves)
    assert made["first"].updates == len(halves.first)
    assert made["later"].updates == made["linear"].updates == len(halves.later)
    times = compete(made, 0.01).ns
    assert 10 < times["linear"] < times["later"] < 1e6, "ns per step"


@pytest.mark.slow  # their kernels are compiled for benchmarks alone
def test_other_ways_to_learn_a_preference_have_rows_in_two_tables() -> None:
    chosen = {name: RIVALS[name] for name in ("λ-greedy", "λ-discrepancy, cells")}
    lines = list(rivals.table(["corridor 5", "random walk 19"], chosen, searched=1, seeds=2))
    errors, trust = lines[: lines.index("")], lines[lines.index("") + 1 :]
    labels = [line.split(" | ")[0] for line in lines]
    assert labels[2:] == [
        "| learned", "| oracle", "| β ≡ 1", "| TD(λ)", "| λ-greedy", "| λ-discrepancy, cells",
        "", "| method", trust[1], "| λ-greedy", "| λ-discrepancy, cells",
    ]  # fmt: skip
    assert len({line.count("|") for line in (*errors, *trust)}) == 1
    assert all(line.endswith("/ – |") for line in trust[2:])


def test_the_trust_of_a_fixed_preference_is_that_preference() -> None:
    fixed, name = LambdaGreedy(least=0.7, most=0.7), "geometric corridor 10"
    reported = {seed: Drawn.of(name, seed, episodes=10) for seed in (0, 1)}
    found = rivals.rival_score(fixed, {9: Drawn.of(name, 9, episodes=10)}, reported)
    assert found.trust == pytest.approx((0.3, 0.3))
    expected = [rivals.rival_errors(fixed, drawn, s).min() for s, drawn in reported.items()]
    assert (found.errors >= expected).all()


def test_bad_entries_become_the_last_good_value_or_what_the_good_ones_predict() -> None:
    x = np.array([[1.0, 2.0], [7.0, 4.0], [9.0, 6.0]])
    good = np.array([[True, False], [False, True], [False, True]])
    np.testing.assert_array_equal(parts.by_last(x, good), [[1, 0], [1, 4], [1, 6]])
    first = np.random.default_rng(0).standard_normal(3000)
    rows = np.stack([first, 2 * first + 1], axis=1)
    seen = np.ones(rows.shape, np.bool_)
    seen[2000:, 1] = False
    filled = parts.by_prediction(np.where(seen, rows, 99.0), seen)
    np.testing.assert_allclose(filled, rows, atol=0.05)
    np.testing.assert_array_equal(filled[:2000], rows[:2000])


def test_sentinels_are_values_that_come_back_where_all_others_are_new() -> None:
    x = np.random.default_rng(0).standard_normal((200, 2))
    x[30::10, 0], x[:, 1] = -999.0, np.arange(200) % 7
    assert np.flatnonzero(parts.is_sentinel(x)[:, 0]).tolist() == [*range(40, 200, 10)]
    assert not parts.is_sentinel(x)[:, 1].any()


@pytest.mark.slow
def test_the_table_of_parts_in_the_docs_is_what_the_benchmark_prints() -> None:
    page = Path(__file__).parent.parent / "docs" / "research" / "learned.md"
    assert "\n".join(parts.table()) in page.read_text(encoding="utf-8")
