"""Control beyond the paper: its studies, and figures from made-up runs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from paper.made_control import control_results
from paper.seen_in_figures import curves, titles
from preftd._src.experiments.inputs import as_seeds
from preftd._src.experiments.study import Search
from preftd._src.paper.control import figures as control_figures
from preftd._src.paper.control import studies
from preftd._src.paper.control.credit import relative_curve
from preftd._src.paper.control.figures import CORRIDOR_LINES, ROOM_LINES, points
from preftd._src.paper.study import PaperStudy
from preftd._src.report.page.plot import plot_of
from preftd._src.style import GREY, LOOKS
from preftd._src.tasks.grids import doorways
from preftd.experiments import Here, run
from preftd.learners import StepSizePair
from preftd.preferences import Observability
from preftd.tasks import ControlTask, make
from seen import check_texts

FIGURES = {figure.name: figure for figure in control_figures.FIGURES}


def _drawn(name: str) -> Figure:
    made = control_results(True, seeds=4, noise=0.01)
    return FIGURES[name].draw({study: made[study] for study in FIGURES[name].studies})


@pytest.mark.parametrize("name", FIGURES)
def test_no_text_lies_over_another_or_outside(name: str) -> None:
    check_texts(_drawn(name))


def test_credit_tells_its_numbers_and_switches_its_methods() -> None:
    asked = plot_of("credit", _drawn("credit"))
    assert asked.methods == ["TD(λ)", "PTD"]
    assert len(asked.lines) == 2 * (1 + len(control_figures.CREDIT_LINES))
    told = {line["label"]: line for line in asked.lines}  # of the second panel
    curve = relative_curve(
        "good", *control_figures.CREDIT_LINES["PTD, doorways only:\ntheir values"][:2]
    )
    shown = told["PTD, doorways only: their values"]
    np.testing.assert_allclose(shown["centre"][-1], curve[np.isfinite(curve)][-1], rtol=1e-3)
    assert set(told["TD(λ), best λ"]["centre"]) == {1.0}


def test_corridors_show_means_of_runs_beside_exact_levels() -> None:
    figure = _drawn("control_corridors")
    assert titles(figure)[:3] == [f"bait, {n} hidden states" for n in (2, 10, 25)]
    for axes in figure.axes:
        seen = {line.get_color(): np.asarray(line.get_ydata()) for line in curves(axes)}
        assert len(seen) == len(CORRIDOR_LINES)
        assert seen[LOOKS["PTD"].colour].mean() == pytest.approx(2.9, rel=0.02)
        assert seen[LOOKS["TD(λ)"].colour].mean() == pytest.approx(2.1, rel=0.02)
        flat = [line for line in axes.lines if line.get_color() == GREY]
        levels = [float(np.asarray(line.get_ydata())[0]) for line in flat]
        assert levels == pytest.approx([3.0, 2.125 if "bait" in axes.get_title("left") else 2.0])


def test_rooms_compare_doorways_with_other_states() -> None:
    figure = _drawn("control_four_rooms")
    assert len(figure.axes) == len(studies.ELSEWHERE)
    for axes in figure.axes:
        seen = {line.get_color(): np.asarray(line.get_ydata()) for line in curves(axes)}
        for name, (_, _, look) in ROOM_LINES.items():
            level = 0.8 if name == "doorways" else 0.7
            assert seen[look.colour].mean() == pytest.approx(level, rel=0.02)


def test_points_are_episodes_that_were_averaged() -> None:
    results = control_results(True, seeds=3, noise=0.0)[studies.CORRIDORS]
    found = points(results)
    assert found["episode"].unique().sort().to_list() == [
        studies.TOGETHER * i for i in range(1, 41)
    ]


@pytest.mark.parametrize("paper_study", studies.STUDIES, ids=lambda one: one.name)
def test_step_sizes_are_chosen_on_other_seeds(paper_study: PaperStudy) -> None:
    study = paper_study.study()
    assert study.seeds == tuple(range(100))
    assert isinstance(study.search, Search)
    searched = as_seeds("seeds", study.search.seeds)
    assert len(searched) in (15, 25)
    assert not set(searched) & set(range(100))


def test_random_states_differ_between_seeds_and_are_no_doorways() -> None:
    (_, doors), (_, others) = studies.ROOMS.study().axes.tasks
    sets = [others(seed).task.observable for seed in range(5)]
    assert len({tuple(one) for one in sets}) == 5
    for one in sets:
        assert one.sum() == 4
        assert not (one & doorways()).any()
    assert (doors(3).task.observable == doorways()).all()


def test_the_studies_run(tmp_path: Path) -> None:
    for paper_study, pair in (
        (studies.CORRIDORS, [StepSizePair(0.1, 0.1)]),
        (studies.ROOMS, [StepSizePair(0.1, 0.1)]),
        (studies.PREDICTION, [0.1]),
    ):
        study = paper_study.study()
        tasks = dict(study.axes.tasks[:1])
        small = replace(study, tasks=tasks, episodes=10, seeds=2, search=None, step_sizes=pair)
        found = run(small, tmp_path, executor=Here())
        assert not found.runs["diverged"].any()


def test_ptd_with_a_held_critic_learns_to_pass_the_bait() -> None:
    task = ControlTask(make("decision_corridors", length=3))
    found = studies.FORMS["held"].run(
        task, studies.METHODS["PTD"], Observability(), [StepSizePair(0.1, 1.0)], 200, 0
    )
    assert found["return"][0, -50:].mean() > found["return"][0, :20].mean()
