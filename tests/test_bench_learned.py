"""The bench of learned preferences measures steps; tests do not judge the speed."""

from preftd.bench.learned import GOALS, Halves, contenders, streams, table
from preftd.bench.timing import compete


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
