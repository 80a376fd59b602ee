"""The studies of CartPole: settings of the paper, and choices that are changed one at a time."""

import numpy as np
import pytest

from preftd._src.paper.cartpole import studies as cartpole
from preftd._src.paper.cartpole.claims import gain_of_preferred
from preftd._src.paper.study import PaperStudy
from preftd.learners import Actor, ActorCritic, Critic, StepSizePair
from preftd.preferences import Displacement
from preftd.tasks import CartPole


@pytest.mark.parametrize("paper_study", cartpole.STUDIES, ids=lambda one: one.name)
def test_all_studies_are_compared_seed_by_seed(paper_study: PaperStudy) -> None:
    study = paper_study.study()
    assert study.seeds == tuple(range(100))
    assert study.episodes == 500
    assert study.search is not None
    assert [label for label, _ in study.axes.rules] == ["TD(λ)", "ETD-fixed", "ETD-variable", "PTD"]
    assert study.score.measure.name == "return"
    assert study.score.measure.maximise


@pytest.mark.parametrize("variant", cartpole.VARIANTS)
def test_the_figure_has_the_settings_of_the_paper(variant: str) -> None:
    study, biases = cartpole.FOUR_METHODS[variant].study(), variant == "biases"
    actor, critic = (0.1, 5e-2, 1e-2, 5e-3, 1e-3), (1e-3, 5e-4, 1e-4, 5e-5, 1e-5, 5e-6, 1e-6)
    pairs = {StepSizePair(a, c) for a in actor for c in critic}
    assert all(set(sizes) == pairs for sizes in study.axes.step_sizes.values())
    assert dict(study.axes.tasks) == {"CartPole": CartPole(limit=200, discount=0.99)}
    thresholds = {"condition 1": [0.5, 0.5, 0.05], "condition 2": [1, 1, 0.1]}
    thresholds["condition 3"] = [0.3, 0.3, 0.03]
    for label, signal in study.axes.preferences:
        assert isinstance(signal, Displacement)
        assert signal.between == 0.1
        assert signal.entries.tolist() == [0, 1, 2]
        assert signal.limits.tolist() == thresholds[label]
    ((_, learner),) = study.axes.learners
    wanted = Actor(4, "tanh", biases, "adam", "sum", "rule", "uniform")
    assert learner == ActorCritic(wanted, Critic("backward", bias=biases, truncation="terminate"))


def test_interests_are_half_and_half_of_beta() -> None:
    gains = {
        name: rule.coefficients(beta=[1, 0.1, 1], discount_t=[0, 0.99, 0.99]).gain
        for name, rule in cartpole.METHODS.items()
    }
    np.testing.assert_allclose(gains["PTD"], [1, 0.1, 1])
    np.testing.assert_allclose(gains["TD(λ)"], 1)
    follow_on = 0.99 * 0.5 + 0.5
    np.testing.assert_allclose(gains["ETD-fixed"][:2], [0.5, 0.9 * 0.5 + 0.1 * follow_on])
    follow_on = 0.99 * 0.5 + 0.05
    np.testing.assert_allclose(gains["ETD-variable"][:2], [0.5, 0.9 * 0.05 + 0.1 * follow_on])


def test_one_choice_is_changed_at_a_time() -> None:
    plain = cartpole.PLAIN
    for label, given in cartpole.ABLATIONS.items():
        differ = [
            (part, name)
            for part in ("actor", "critic")
            for name, value in vars(getattr(given, part)).items()
            if value != getattr(getattr(plain, part), name)
        ]
        differ += [("task", "limit")] if given.limit != plain.limit else []
        names = {name for _, name in differ}
        wanted = {"optimiser", "reduction"} if label == "SGD on the mean" else names
        assert names == wanted
        assert len(names) == (2 if label == "SGD on the mean" else 1)
        assert (given.critic_sizes == plain.critic_sizes) == (label != "tile coding")


def test_values_in_between_are_those_of_the_paper() -> None:
    study = cartpole.WITH_BETWEEN["no biases"].study()
    found = {label: signal.between for label, signal in study.axes.preferences}  # type: ignore[attr-defined]
    assert found == {
        cartpole.with_between(one, value): value
        for one in cartpole.CONDITIONS
        for value in (0.0, 0.5)
    }


def test_most_of_the_gain_is_elsewhere_if_few_states_are_preferred() -> None:
    beta = np.array([1.0] + [0.1] * 19)
    assert gain_of_preferred(np.array([0.05])) == pytest.approx(beta[0] / beta.sum())
    assert gain_of_preferred(np.array([0.0, 1.0])).tolist() == [0, 1]
