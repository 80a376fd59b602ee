"""Views that nobody names: those of the rule."""

from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from experiments.small_studies import CORRIDOR, report_cells, small
from preftd import (
    ETD,
    PTD,
    TD,
    ActorCriticLearner,
    Critic,
    InputError,
    Linear,
    LinearLearner,
    Network,
    NetworkLearner,
    Rule,
    StepSizePair,
    evaluate,
)
from preftd._src.experiments.content import content
from preftd._src.learners.views import for_rule
from preftd._src.paper.contents import STUDIES
from preftd._src.paper.stored import SEARCHES, read_search
from preftd.learners import ActorCritic, Pretrained, Training
from preftd.preferences import Constant, Observability
from preftd.torch import TorchModule, ValueLearner


class Own(Rule):
    """A rule of the user that asks for true online learning."""

    name = "own"
    view: ClassVar[str] = "true_online"

    def gain(self, beta: Any, interest: Any, follow_on: Any) -> Any:  # noqa: ARG002
        return beta


VIEWS = {PTD(): "held", TD(): "backward", ETD(): "backward"}
TRAINING = Training(CORRIDOR, Network(2, "forward"), TD(), Constant(0.0), 0.01, episodes=2)


def module(size: int) -> torch.nn.Module:
    return torch.nn.Linear(size, 1)


@pytest.mark.parametrize(("rule", "view"), VIEWS.items(), ids=str)
def test_a_learner_that_names_no_view_has_that_of_its_rule(rule: Rule, view: str) -> None:
    learners: list[Any] = [
        LinearLearner(3, rule, 0.1),
        NetworkLearner(3, rule, 0.1, units=2),
        Pretrained(TRAINING).learner(3, rule, 0.1),
        ValueLearner(module(3), rule, 0.1),
        ActorCriticLearner(3, 2, rule, StepSizePair(0.1, 0.1)).critic,
    ]
    assert [learner.view for learner in learners] == [view] * len(learners)


@pytest.mark.parametrize(("rule", "view"), VIEWS.items(), ids=str)
@pytest.mark.parametrize("spec", [Linear(), Network(2), Pretrained(TRAINING), TorchModule(module)])
def test_a_study_computes_and_stores_the_view_of_each_rule(
    spec: Any, rule: Rule, view: str
) -> None:
    def ids(learner: Any) -> list[str]:
        return [cell.id for cell in report_cells(small(rules=rule, learners=learner))]

    def errors(learner: Any) -> Any:
        return evaluate(CORRIDOR, rule, Observability(), [0.1], 5, 2, learner=learner).errors

    named = spec.for_rule(rule)
    assert getattr(named, "linear", named).view == view
    assert ids(spec) == ids(named)
    np.testing.assert_array_equal(errors(spec), errors(named))


def test_the_name_of_an_evaluation_says_its_view() -> None:
    given = CORRIDOR, PTD(), Observability(), [0.1], 2, 1
    assert evaluate(*given).name == "PTD, held"
    assert evaluate(*given, learner=Linear("backward")).name == "PTD"
    assert evaluate(*given, learner=Network(2)).name == "PTD, 2 units, held"


def test_a_rule_of_the_user_names_its_view() -> None:
    assert LinearLearner(2, Own(), 0.1).view == "true_online"
    with pytest.raises(InputError, match="there is no view 'true_online'"):
        Network(2).for_rule(Own())


def test_a_view_that_is_given_is_not_that_of_the_rule() -> None:
    assert LinearLearner(2, PTD(), 0.1, view="backward").view == "backward"
    critic = Critic("backward")
    assert ActorCritic(critic=critic).for_rule(PTD()).critic == critic


@pytest.mark.parametrize("spec", [Linear(), Network(2), Pretrained(TRAINING), TorchModule(module)])
def test_what_learns_without_a_rule_must_name_its_view(spec: Any) -> None:
    with pytest.raises(InputError, match="leaves its view to a rule, which is not known here"):
        spec.start(3, [0.1], 0)


def test_studies_of_the_paper_name_every_view() -> None:
    """What a rule names may change; what is stored may not."""
    for one in STUDIES:
        study = one.study(*(read_search(other.study(), SEARCHES) for other in one.needs))
        for label, learner in study.axes.learners:
            named = content(learner)
            for rule in VIEWS:
                assert content(for_rule(learner, rule)) == named, (study.name, label)
