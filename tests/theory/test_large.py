"""Large sparse chains: the same answers as small dense ones, without a dense n × n matrix."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

from benchmarks.scale import smooth_features
from preftd import ETD, PTD, TD, Features, MarkovRewardProcess
from preftd._src import solve
from preftd._src.arrays import Vector, as_dense, is_sparse
from preftd._src.tasks import stationary
from preftd.tasks import make
from preftd.theory import compare, operator

SIDE = 24


@pytest.fixture(params=["direct", "multigrid"])
def method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of solving sparse systems, whatever their size."""
    monkeypatch.setattr(solve, "DIRECT_STATES", 10**9 if request.param == "direct" else 10)
    monkeypatch.setattr(stationary, "ELIMINATION_STATES", 10)
    return str(request.param)


def both() -> tuple[MarkovRewardProcess, MarkovRewardProcess, Vector]:
    """A grid as a sparse and as a dense process, and which of its cells are hidden."""
    task = make("cross_grid", size=SIDE)
    sparse_process = task.process
    assert is_sparse(sparse_process.transition)
    transition = as_dense(sparse_process.transition)
    discount = np.divide(
        as_dense(sparse_process.discounted_transition),
        transition,
        out=np.zeros_like(transition),
        where=transition > 0,
    )
    dense_process = MarkovRewardProcess(transition, sparse_process.reward, discount)
    return sparse_process, dense_process, (~task.observable).astype(np.float64)


@pytest.mark.usefixtures("method")
@pytest.mark.parametrize("beta_hidden", [0.0, 0.3])
def test_sparse_and_dense_agree(beta_hidden: float) -> None:
    sparse_process, dense_process, hidden = both()
    beta = 1 - (1 - beta_hidden) * hidden
    features = Features(smooth_features(SIDE, 12)[:-1], covariance=hidden)
    rules = [TD(), ETD(interest=beta), PTD()]
    np.testing.assert_allclose(sparse_process.values, dense_process.values, rtol=1e-10)
    large = compare(sparse_process, features, rules, beta)
    small = compare(dense_process, features, rules, beta)
    for a, b in zip(large, small, strict=True):
        scale = np.abs(b.key.A).max()
        np.testing.assert_allclose(a.key.A, b.key.A, rtol=0, atol=1e-11 * scale)
        np.testing.assert_allclose(a.key.b, b.key.b, rtol=0, atol=1e-11 * np.abs(b.key.b).max())
        np.testing.assert_allclose(a.row_sums, b.row_sums, atol=1e-12)
        np.testing.assert_allclose(a.column_sums, b.column_sums, atol=1e-12)
        assert a.fixed_point is not None
        assert b.fixed_point is not None
        np.testing.assert_allclose(a.fixed_point, b.fixed_point, rtol=1e-6, atol=1e-9)


@pytest.mark.usefixtures("method")
def test_the_transition_between_bootstraps_is_a_linear_operator() -> None:
    sparse_process, dense_process, hidden = both()
    implicit = operator(sparse_process, PTD(), 1 - 0.7 * hidden).transition
    explicit = np.asarray(operator(dense_process, PTD(), 1 - 0.7 * hidden).transition)
    assert isinstance(implicit, LinearOperator)
    v = np.random.default_rng(0).normal(size=hidden.size)
    np.testing.assert_allclose(implicit @ v, explicit @ v, atol=1e-11)
    np.testing.assert_allclose(implicit.T @ v, explicit.T @ v, atol=1e-11)
