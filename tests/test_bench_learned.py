"""Benches of learned preferences, and of other ways; tests do not judge the speed."""

import pytest

from benchmarks import rivals
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
