"""The benchmark of tokens: contenders compute the same; tests do not judge the speed."""

import torch

from benchmarks import tokens


def test_the_loop_computes_the_same() -> None:
    ours, _, loop = tokens.contenders(3, 20, torch.float64).values()
    assert torch.allclose(ours.once(), loop.once(), rtol=0, atol=1e-12)


def test_the_table_has_a_row_for_each_size() -> None:
    lines = list(tokens.table(seconds=0.01, sizes=[(2, 5), (3, 7)]))
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| 2 × 5", "| 3 × 7"]
    assert all(line.count("|") == 7 for line in lines)
