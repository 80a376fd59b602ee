"""The studies of networks: step sizes of the paper, and views that can be compared seed by seed."""

import pytest

from preftd._src.experiments.cells import Expansion
from preftd._src.paper.corridors.studies import METHODS
from preftd._src.paper.grids import claims
from preftd._src.paper.grids import studies as grids
from preftd._src.paper.stored import SEARCHES, read_search

BACKWARD = (0.1, 5e-2, 1e-2, 5e-3, 1e-3, 5e-4, 1e-4)
STEP_SIZES = {
    ("cross_grid", "forward"): (5e-2, 1e-2, 5e-3, 1e-3, 5e-4),
    ("random_grid", "forward"): (5e-2, 1e-2, 5e-3, 1e-3, 5e-4, 1e-4),
    **{(task, view): BACKWARD for task in grids.TASKS for view in ("backward", "held")},
}


@pytest.mark.parametrize(("task", "view"), STEP_SIZES)
def test_networks_have_the_step_sizes_of_the_paper(task: str, view: str) -> None:
    study = grids.NETWORKS[task, view].study()
    wanted = STEP_SIZES[task, view]
    assert study.axes.step_sizes == dict.fromkeys(METHODS, wanted)
    assert {getattr(net, "view", None) for _, net in study.axes.learners} == {view}


@pytest.mark.parametrize("task", grids.TASKS)
def test_all_views_learn_from_the_same_episodes(task: str) -> None:
    studies = [grids.NETWORKS[task, view].study() for view in grids.VIEWS]
    expansions = [Expansion(study.with_seeds(2)) for study in studies]
    drawn = [[group.trial.id for group in one.search] for one in expansions]
    assert len(set(drawn[0])) == 2 * len(grids.SIZES)
    assert drawn[0] == drawn[1] == drawn[2]
    assert [study.seeds for study in studies] == [tuple(range(grids.SEEDS))] * 3


@pytest.mark.parametrize("at", grids.SEMI_LINEAR_VIEWS, ids=str)
def test_no_view_of_linear_learners_chose_the_largest_or_the_least_step_size(
    at: tuple[str, int],
) -> None:
    features = read_search(grids.FEATURE_NET.study(), SEARCHES)
    study = grids.SEMI_LINEAR_VIEWS[at].study(features)
    chosen = read_search(study, SEARCHES).chosen
    assert chosen.height == len(study.axes.rules) * len(study.axes.learners)
    tried = grids.VIEW_STEP_SIZES
    assert all(min(tried) < size < max(tried) for size in chosen["step_size"])


def test_views_are_compared_at_the_largest_step_size_that_both_have() -> None:
    for task in grids.TASKS:
        forward, backward = (set(STEP_SIZES[task, view]) for view in ("forward", "backward"))
        assert max(forward & backward) == claims.LARGEST_OF_BOTH
        assert max(backward) == claims.LARGEST
