"""Learners are saved and loaded in one line, without pickle."""

from pathlib import Path

import numpy as np
import pytest

from learners.all_learners import LEARNERS, taught
from preftd import PTD, InputError, LinearLearner


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_is_saved_and_loaded_in_one_line(name: str, tmp_path: Path) -> None:
    learner = taught(name)
    learner.save(tmp_path / "learner.npz")
    loaded = LEARNERS[name]().load(tmp_path / "learner.npz")
    before, after = learner.state_dict(), loaded.state_dict()
    assert before.keys() == after.keys()
    assert any(np.any(before[key]) for key in before)
    for key, array in before.items():
        np.testing.assert_array_equal(array, after[key])


def test_what_is_no_saved_learner_is_refused(tmp_path: Path) -> None:
    learner = LinearLearner(2, PTD(), 0.1)
    with pytest.raises(InputError, match="cannot be read"):
        learner.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("text")
    with pytest.raises(InputError, match="holds no learner"):
        learner.load(tmp_path / "text.npz")
    np.savez(tmp_path / "objects.npz", weights=np.array([{}], dtype=object))
    with pytest.raises(InputError, match="holds no learner"):
        learner.load(tmp_path / "objects.npz")
    with pytest.raises(InputError, match="was not written by preftd"):
        learner.save(tmp_path / "text.npz")
