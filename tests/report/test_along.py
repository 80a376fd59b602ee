"""Scores along a number in the labels of tasks or preferences."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.small_studies import CORRIDOR, run_here, small
from preftd import InputError, report
from preftd._src.report.figures.study import applicable_figures
from preftd.experiments import Here, StoredRun, run
from preftd.preferences import Constant
from preftd.tasks import jittered

LEVELS = (0.05, 0.1, 0.2)
NOISY = {f"noise {level:g}, length 3": jittered(CORRIDOR, level) for level in LEVELS}


def test_a_noise_level_is_on_the_horizontal_axis(tmp_path: Path) -> None:
    found = run_here(small(tasks=NOISY), tmp_path)
    assert "along" in applicable_figures(found)
    axes = report.along(found).axes
    assert len(axes) == 1
    assert axes[0].get_xlabel() == "noise , length 3"
    bars = found.bars()
    for line, rule in zip(axes[0].lines, ("TD(λ)", "PTD"), strict=False):
        wanted = bars.filter(rule=rule)["centre"].to_list()
        np.testing.assert_array_equal(line.get_xdata(), LEVELS)
        np.testing.assert_array_equal(line.get_ydata(), wanted)


def test_so_is_the_number_of_a_preference_in_a_panel_for_each_task(tmp_path: Path) -> None:
    betas: Any = {f"β = {beta:g}": Constant(beta) for beta in (0.25, 0.5, 1.0)}
    tasks = {"a": CORRIDOR, "b": jittered(CORRIDOR, 0.1)}
    axes = report.along(run_here(small(tasks=tasks, preferences=betas), tmp_path)).axes
    assert [one.get_title("left") for one in axes] == ["a", "b"]
    np.testing.assert_array_equal(axes[0].lines[0].get_xdata(), [0.25, 0.5, 1.0])


def test_labels_without_a_single_number_are_refused(tmp_path: Path) -> None:
    found = run_here(
        small(tasks={"a 1, b 2": CORRIDOR, "a 2, b 3": jittered(CORRIDOR, 0.1)}), tmp_path
    )
    assert "along" not in applicable_figures(found)
    for axis in (None, "task", "preference"):
        with pytest.raises(InputError, match="do not differ in one number only"):
            report.along(found, axis)
    with pytest.raises(InputError, match="there is no axis 'rule'"):
        report.along(found, "rule")


def test_a_callback_is_told_of_every_run_once_it_is_stored(tmp_path: Path) -> None:
    told: list[StoredRun] = []
    study = small(measures=["error", "return"])
    found = run(study, tmp_path, executor=Here(), callback=told.append)
    assert len(told) == found.runs.height == 8
    for one in told:
        row = found.runs.filter(rule=one.rule, step_size=one.step_size, seed=one.seed)
        for name, numbers in one.measured.items():
            np.testing.assert_array_equal(row[name].item().to_list(), numbers)
    run(study, tmp_path, executor=Here(), callback=told.append)
    assert len(told) == 8
    with pytest.raises(InputError, match="callback is 3: give a function"):
        run(study, tmp_path, callback=3)  # type: ignore[arg-type]
