"""A rule may bootstrap otherwise than by β: every view and the theory then use what it says."""

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

from experiments.small_studies import CORRIDOR, small
from preftd import (
    ETD,
    PTD,
    TD,
    ActorCritic,
    Critic,
    InputError,
    LeastSquares,
    Linear,
    LinearLearner,
    Network,
    Rule,
    StepSizePair,
    evaluate,
    tasks,
    theory,
)
from preftd.learners import Actor
from preftd.preferences import Constant, Observability
from preftd.torch import TorchModule
from pytorch.module_cases import tanh_units

WALK = tasks.make("random_walk")
BETA = Observability(0.75, 0.5)
"""Its squares, which `Squared` bootstraps by, are exact."""
SQUARES = Observability(0.75**2, 0.5**2)


class Squared(Rule):
    """TD whose bootstrapping is β²: TD with other preferences."""

    name = "squared"

    def gain(self, beta: Any, interest: Any, follow_on: Any) -> Any:  # noqa: ARG002
        return 1 + 0 * beta

    def bootstrap(self, beta: Any) -> Any:
        return beta * beta


class Weighted(Rule):
    """TD(0) whose steps are weighted by β, and which bootstraps everywhere."""

    name = "weighted"

    def gain(self, beta: Any, interest: Any, follow_on: Any) -> Any:  # noqa: ARG002
        return beta

    def bootstrap(self, beta: Any) -> Any:
        return 1 + 0 * beta


SPECS: list[Any] = [
    *(Linear(view) for view in ("backward", "forward", "true_online", "held")),
    *(Network(3, view) for view in ("backward", "forward", "held")),
    *(TorchModule(tanh_units, view) for view in ("backward", "held")),
    LeastSquares(),
]


@pytest.mark.parametrize("spec", SPECS)
def test_every_learner_bootstraps_as_the_rule_says(spec: Any) -> None:
    sizes = None if isinstance(spec, LeastSquares) else [0.1]

    def errors(rule: Rule, preference: Any) -> Any:
        return evaluate(CORRIDOR, rule, preference, sizes, 5, 2, learner=spec).errors

    np.testing.assert_array_equal(errors(Squared(), BETA), errors(TD(), SQUARES))
    assert not np.array_equal(errors(Squared(), BETA), errors(TD(), BETA))


@pytest.mark.parametrize("view", ["backward", "true_online", "held"])
@pytest.mark.parametrize("predictions", [None, 2])
def test_one_step_at_a_time_bootstraps_as_the_rule_says(view: str, predictions: Any) -> None:
    stream = CORRIDOR.sampler(0).episodes(3)
    found = []
    for rule, preference in ((Squared(), BETA), (TD(), SQUARES)):
        learner = LinearLearner(3, rule, 0.1, view=view, predictions=predictions)
        for t, beta in enumerate(preference.stream(stream)[0].tolist()):
            now = slice(t, t + 1)
            learner.update(
                stream.features(now)[0],
                stream.reward[t],
                stream.next_features(now)[0],
                discount=float(stream.discount_tp1[t]),
                beta=beta,
            )
        found.append(learner.weights)
    np.testing.assert_array_equal(found[0], found[1])


def test_an_actor_critic_bootstraps_by_the_rule_and_weights_its_actor_by_beta() -> None:
    task = tasks.ControlTask(CORRIDOR)

    def returns(rule: Rule, preference: Any, gain: str) -> Any:
        spec = ActorCritic(Actor(gain=gain), Critic("held"))
        pair = [StepSizePair(0.3, 0.1)]
        return spec.run(task, rule, preference, pair, 3, 0)["return"]

    np.testing.assert_array_equal(returns(Squared(), BETA, "rule"), returns(TD(), SQUARES, "rule"))
    learner = ActorCritic(Actor(gain="beta"), Critic("held")).learner(
        3, 2, Weighted(), StepSizePair(0.3, 0.1)
    )
    learner.update([1, 0, 0], 0, 1.0, [0, 1, 0], discount=1.0, beta=0.5)
    assert learner.stream(0).buffer.gain[0] == 0.5


def test_theory_bootstraps_as_the_rule_says() -> None:
    task, shares = CORRIDOR, BETA.per_state(CORRIDOR)

    def found(rule: Rule, beta: Any, preference: Any) -> list[Any]:
        given = task.process, task.features, rule, beta
        alone = theory.diagnose(*given)
        together = theory.compare(task.process, task.features, [PTD(), rule, TD()], beta)[1]
        return [
            *theory.key_matrix(*given),
            theory.fixed_point(*given),
            *(part for one in (alone, together) for part in (one.row_sums, one.column_sums)),
            theory.operator(task.process, rule, beta)(np.arange(task.states)),
            next(itertools.islice(theory.key_matrices_over_time(*given), 4, None)).A,
            theory.weight_noise(WALK, rule, preference),
        ]

    ours = found(Squared(), shares, Constant(0.5))
    its = found(TD(), shares**2, Constant(0.25))
    for one, other in zip(ours, its, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_step_weighted_by_beta_that_bootstraps_everywhere_is_no_ptd() -> None:
    """Its limit is that of TD(0) in the states it learns in; PTD steps over the others."""
    task = CORRIDOR
    beta = Observability().per_state(task)
    everywhere = theory.diagnose(task.process, task.features, Weighted(), beta=beta)
    ptd = theory.diagnose(task.process, task.features, PTD(), beta=beta)
    w, other = everywhere.fixed_point, ptd.fixed_point
    assert w is not None
    assert other is not None
    assert not np.allclose(w, other)
    seen = np.flatnonzero(task.observable)
    x, kept = task.features.columns(slice(None)), task.process.discounted_transition
    miss = task.process.reward + kept @ (x @ w) - x @ w
    np.testing.assert_allclose((task.process.visits * miss)[seen] @ x[seen], 0, atol=1e-12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [(lambda b: 2 + b, r"bootstrap\(β\)"), (lambda _: np.ones(3), "compute it entry by entry")],
)
def test_what_is_no_share_is_refused(wrong: Any, message: str) -> None:
    class Wrong(Weighted):
        def bootstrap(self, beta: Any) -> Any:
            return wrong(beta)

    with pytest.raises(InputError, match=message):
        Wrong().step(0.0, discount_t=0.0, beta=0.5)
    with pytest.raises(InputError, match=message):
        Wrong().coefficients(discount_t=[0.0, 1.0], beta=0.5)


def test_a_study_warns_of_two_rules_that_are_one() -> None:
    class Unknowing(Weighted):
        """Meant to bootstrap everywhere."""

        view = "held"

        def bootstrap(self, beta: Any) -> Any:
            return beta

    rules = {"PTD": PTD(), "weighted": Unknowing(), "TD(λ)": TD()}
    with pytest.warns(UserWarning, match="'PTD' and 'weighted' have equal coefficients") as said:
        study = small(rules=rules)
    assert len(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study.with_seeds(3)
        small(rules={"PTD": PTD(), "weighted": Weighted(), "ETD": ETD(), "fixed": ETD(0.5)})
