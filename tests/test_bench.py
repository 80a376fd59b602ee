"""Benchmarks measure what they claim to; tests do not judge the speed."""

import re
from pathlib import Path
from subprocess import CalledProcessError

import numpy as np
import pytest

from benchmarks import BENCHMARKS, first_use, run_benchmarks, scale
from benchmarks.size import code_lines
from preftd import InputError, MarkovRewardProcess
from preftd._src.arrays import as_dense, is_sparse
from preftd.rules import RULES
from preftd.tasks import make
from preftd.theory import fixed_point

SIZE = 24


@pytest.mark.parametrize("size", [20, SIZE])
def test_all_parts_of_a_run_are_measured(size: int) -> None:
    measured = scale.run(size)
    process = make("cross_grid", size=size).process
    assert measured["states"] == process.states == size**2 - 1
    assert measured["transitions"] == np.count_nonzero(as_dense(process.transition))
    parts = [measured["process"], measured["stationary"], measured["updates"]]
    assert min(parts) > 0
    assert measured["total"] == pytest.approx(sum(parts))
    assert 0.01 < measured["peak_gib"] < 16
    assert measured["residual"] < 1e-12


@pytest.mark.parametrize("name", RULES)
def test_the_fixed_points_are_those_of_the_dense_chain(name: str) -> None:
    task = make("cross_grid", size=SIZE)
    large = task.process
    assert is_sparse(large.transition)
    kept = as_dense(large.discounted_transition)
    transition = as_dense(large.transition)
    discount = np.divide(kept, transition, out=np.zeros_like(kept), where=transition > 0)
    small = MarkovRewardProcess(transition, large.reward, discount)
    features = scale.smooth_features(SIZE, scale.FEATURES)[:-1]
    rule, beta = RULES[name](1.0), task.observable.astype(np.float64)
    w = fixed_point(small, features, rule, beta)
    np.testing.assert_allclose(
        fixed_point(large, features, rule, beta), w, rtol=0, atol=1e-9 * np.abs(w).max()
    )


@pytest.mark.parametrize("size", [4, 5, 8])
def test_the_grid_is_the_one_drawn_cell_by_cell(size: int) -> None:
    task = make("cross_grid", size=size)
    end, quarter = size * size - 1, size // 2
    moving, leaving = np.zeros((end, end)), np.zeros((end, end))
    middle = range(size // 4, size - size // 4)
    for cell in range(end):
        y, x = divmod(cell, size)
        for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            # A step into a wall does not move.
            to = min(max(y + down, 0), size - 1) * size + min(max(x + right, 0), size - 1)
            if to != end:
                moving[cell, to] += 0.25
                continue
            for first in range(quarter**2):
                leaving[cell, first // quarter * size + first % quarter] += 0.25 / quarter**2
        assert task.observable[cell] == (y not in middle and x not in middle)
    np.testing.assert_allclose(as_dense(task.process.transition), moving + leaving, atol=1e-15)
    np.testing.assert_allclose(
        as_dense(task.process.discounted_transition), 0.99 * moving, atol=1e-15
    )
    np.testing.assert_allclose(task.process.reward, 5 * leaving.sum(axis=1), atol=1e-15)


def test_the_features_are_smooth_and_distinguish_states() -> None:
    features = scale.smooth_features(SIZE, scale.FEATURES)
    assert features.shape == (SIZE**2, scale.FEATURES)
    np.testing.assert_array_equal(features[:, 0], 1)
    assert np.linalg.matrix_rank(features) == scale.FEATURES
    steps = np.abs(np.diff(features.reshape(SIZE, SIZE, -1), axis=1)).max(axis=(0, 1))
    assert steps[:6].max() < steps[-6:].max()


def test_the_table_is_markdown_with_a_row_for_each_size() -> None:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in scale.table([4, 40])]
    names, rule, *measured = rows
    assert [row[0] for row in measured] == ["15", "1,599"]
    assert all(len(row) == len(names) == len(rule) for row in measured)
    assert set(rule) == {"---:"}
    for row in measured:
        found = dict(zip(names, (float(cell.replace(",", "")) for cell in row), strict=True))
        assert found["transitions"] > found["states"]
        assert found["peak GiB"] > 0
        assert found["total s"] >= max(found["chain s"], found["visits s"], found["updates s"])


def test_first_uses_are_timed_with_an_empty_cache_and_a_full_one() -> None:
    program = "import os; open(os.path.join(os.environ['NUMBA_CACHE_DIR'], 'x'), 'x')"
    with pytest.raises(CalledProcessError):  # the second time, the file is there
        list(first_use.table({"": program}, again=1))
    *_, line = first_use.table({"nothing": "pass"}, again=1)
    assert re.fullmatch(r"\| nothing \| \d\.\d \| \d\.\d \|", line)
    assert "preftd" in first_use.programs()["the example of the README"]


def test_benchmarks_are_run_by_name_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BENCHMARKS, "scale", lambda: iter(["| large |"]))
    monkeypatch.setitem(BENCHMARKS, "sampling", lambda: iter(["| fast |"]))
    lines = [line for line in run_benchmarks(["sampling", "scale"]) if line]
    assert lines == ["sampling:", "| fast |", "scale:", "| large |"]


def test_no_benchmark_runs_if_one_of_them_is_unknown() -> None:
    with pytest.raises(InputError, match="'scales': did you mean 'scale'"):
        next(run_benchmarks(["scale", "scales"]))


def test_code_is_counted_without_docstrings_comments_and_blank_lines(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '''"""Summary."""

# A comment.
def double(x: int) -> int:
    """Return twice the number.

    More.
    """
    text = """two
    lines"""  # one comment

    return (
        2 * x
    )
'''
    )
    assert code_lines(module) == 6
