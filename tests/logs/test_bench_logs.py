"""The benchmark of logs measures what it claims to."""

import pytest

from benchmarks import BENCHMARKS, logs


def test_all_that_is_compared_is_timed() -> None:
    found = logs.times(1 << 12, "snappy", 0.01)
    assert set(found) == {"read", "products", "ptd", "four", "all", "predictions"}
    assert min(found.values()) > 0
    read, products, bound, ptd, ratio, speed, *_ = (
        float(x.replace(",", "")) for x in logs._cells(found)
    )
    assert abs(bound - read - products) <= 0.02 * bound + 1
    assert abs(ratio - bound / ptd) <= 0.02 * ratio
    assert speed > 0
    assert "logs" in BENCHMARKS


@pytest.mark.slow
def test_memory_is_that_of_a_process() -> None:
    assert 0.05 < logs._measured("memory", 1 << 12, 2) < 4
