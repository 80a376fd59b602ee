"""The benchmark of returns: all contenders compute the same; tests do not judge the speed."""

from typing import Any

import numpy as np
import pytest

from benchmarks import returns
from benchmarks.returns_peers import PEERS
from benchmarks.timing import MissingError
from returns_reference import returns_by_recursion

pytestmark = pytest.mark.filterwarnings("ignore")  # other libraries warn when they are loaded
WITH_GRADIENTS = ("ours, torch", "TorchRL serial", "TorchRL vectorised", "rlax, jit")

TOLERANCE = dict.fromkeys(("TorchRL vectorised", "SB3"), 1e-5)
"""Parts of these are computed in float32 whatever they are given."""


def work() -> returns.Workload:
    return returns.Workload.drawn(streams=5, steps=60, kind="float64")


def exact(given: returns.Workload) -> Any:
    beta, discount = (np.full_like(given.reward, one) for one in (given.beta, given.discount))
    ends = {"terminated": given.terminated, "truncated": np.zeros_like(given.terminated)}
    return returns_by_recursion(given.reward, given.value_tp1, beta, discount, **ends)


def as_arrays(found: Any, streams_first: bool) -> list[Any]:
    several = found if isinstance(found, tuple | list) else [found]
    arrays = [np.asarray(one.detach() if hasattr(one, "detach") else one) for one in several]
    return [one.reshape(5, 60).T if streams_first else one for one in arrays]


@pytest.mark.parametrize("name", returns.COLUMNS)
def test_all_contenders_compute_the_same_returns(name: str) -> None:
    given = work()
    try:
        found = returns.contenders(given, gradients=False)[name].once()
    except MissingError as error:
        pytest.skip(str(error))
    (one,) = as_arrays(found, name.startswith(("TorchRL", "tianshou")))
    base = given.value_t if name == "tianshou" else 0  # it has advantages
    assert one.dtype == np.float64
    np.testing.assert_allclose(one + base, exact(given), rtol=0, atol=TOLERANCE.get(name, 1e-9))


@pytest.mark.parametrize(
    "name", ["ours, torch", "TorchRL serial", "TorchRL vectorised", "rlax, jit"]
)
def test_and_the_same_gradients_for_rewards_and_values(name: str) -> None:
    given = work()
    try:
        found = returns.contenders(given, gradients=True)[name].once()
    except MissingError as error:
        pytest.skip(str(error))
    if name == "rlax, jit":
        found = found[1]
    reward, value = as_arrays(found, name.startswith("TorchRL"))[:: 1 if name[0] in "or" else -1]
    draw = np.random.default_rng(1)
    for part, gradient in (("reward", reward), ("value_tp1", value)):
        towards = draw.standard_normal(given.reward.shape)
        ends = [exact(given._replace(**{part: getattr(given, part) + k * towards})) for k in (1, 0)]
        change = float((ends[0] - ends[1]).sum())  # returns are linear in both
        assert float((gradient * towards).sum()) == pytest.approx(
            change, rel=TOLERANCE.get(name, 1e-9)
        )


def test_the_table_has_a_row_for_each_size_dtype_and_direction() -> None:
    names, _, *rows = returns.table(seconds=0.01, sizes=[(3, 20)], kinds=["float32"])
    assert [name in names for name in PEERS] == [True] * len(PEERS)
    forward, with_gradients = ([cell.strip() for cell in row.strip("|").split("|")] for row in rows)
    assert forward[0] == "3 × 20, float32, forward"
    assert all(float(cell.replace(",", "")) > 0 for cell in forward[1:3])
    assert with_gradients[0] == "3 × 20, float32, with gradients"
    assert with_gradients[1] == "–"
    assert float(with_gradients[2].replace(",", "")) > 0


def test_a_missing_library_is_said_in_its_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_work: Any, _gradients: bool) -> Any:
        raise MissingError("no rlax")

    monkeypatch.setitem(PEERS, "rlax, jit", missing)
    *_, row = returns.table(seconds=0.01, sizes=[(3, 20)], kinds=["float32"])
    assert "| no rlax |" in row
