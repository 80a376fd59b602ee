"""The benchmark of optimisers times what it claims to; tests do not judge the speed."""

import pytest
import torch

from benchmarks import optimisers
from pytorch.module_cases import flat


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_table_has_each_network_and_optimiser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimisers, "NETWORKS", {"small": (3, (2,)), "deep": (3, (2, 2))})
    monkeypatch.setattr(optimisers, "STEPS", 1)
    times, ratios = "\n".join(optimisers.table(seconds=0.01)).split("\n\n")
    assert [cells(line)[0] for line in times.splitlines()[2:]] == ["small", "deep"]
    assert cells(times.splitlines()[0])[1:] == ["SGD", *optimisers.OURS]
    for line in ratios.splitlines()[2:]:
        found = [float(cell) for cell in cells(line)[1:]]
        assert len(found) == len(optimisers.OURS) + 1
        assert min(found) > 0
        assert found[-1] == optimisers.GOAL


@pytest.mark.parametrize("name", [optimisers.PLAIN, *optimisers.OURS])
def test_every_contender_learns(name: str) -> None:
    network, step = optimisers.network_and_step(name, 3, (4, 4))
    before = flat(network)
    for _ in range(2):  # the held view moves weights at the second
        step()
    assert not torch.equal(flat(network), before)
    assert flat(network).isfinite().all()
