"""The benchmark of JAX: all contenders compute the same; tests do not judge the speed."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from benchmarks import jax as bench
from benchmarks.returns import Workload
from benchmarks.timing import MissingError

pytestmark = pytest.mark.filterwarnings("ignore")  # other libraries warn when they are loaded


@pytest.fixture(autouse=True)
def _precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_jax", lambda: jax)  # which computes in float64 here


@pytest.mark.parametrize("gradients", [False, True])
def test_returns_of_all_contenders_are_the_same(gradients: bool) -> None:
    made = bench.contenders(Workload.drawn(3, 20, "float64"), gradients=gradients)
    found: dict[str, Any] = {}
    for name in ("ours, JAX", "by hand", *([] if gradients else ["ours, NumPy"])):
        found[name] = jax.tree.leaves(made[name].once())
    for others in found.values():
        for one, other in zip(found["ours, JAX"], others, strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def test_linear_learning_is_the_same_by_hand() -> None:
    made = bench.linear("corridor", "backward", 5)
    ours, *by_hand = (np.asarray(made[name].once()) for name in bench.LEARNING[:3])
    for one in by_hand:
        np.testing.assert_allclose(ours, one, rtol=1e-12)
    batch = made["ours, NumPy"].once()
    np.testing.assert_allclose(batch.weights.T, ours, rtol=1e-12)
    with pytest.raises(MissingError):
        bench.linear("corridor", "held", 5)["by hand"].once()
