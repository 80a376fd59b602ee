"""What is printed at a prompt: one short line that says what the thing is."""

from typing import Any

import numpy as np
import pytest

from experiments.small_studies import run_here
from preftd import (
    ETD,
    PTD,
    TD,
    ActorCriticLearner,
    Decreasing,
    Experience,
    LeastSquaresLearner,
    LinearLearner,
    Network,
    NetworkLearner,
    StepSizePair,
    Study,
    tasks,
    theory,
)
from preftd.learners import Linear, Pretrained, Training
from preftd.preferences import Constant

CHAIN = tasks.make("counterexample_1")
WALK = tasks.make("random_walk", states=5)
TRAINING = Training(WALK, Network(4, "forward"), TD(), Constant(0.5), 0.01, episodes=1)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (
            LinearLearner(3, PTD(), 0.1),
            "LinearLearner PTD: 3 features, held view, step size 0.1",
        ),
        (
            LinearLearner(2, ETD(), [0.1, 0.2], view="held", predictions=4),
            "LinearLearner ETD: 2 features, 4 predictions, held view, a step size for each feature",
        ),
        (
            LinearLearner(2, TD(), Decreasing(0.5)),
            "LinearLearner TD(λ): 2 features, backward view, step size "
            "Decreasing(initial=0.5, delay=1000.0, power=1.0)",
        ),
        (
            NetworkLearner(3, PTD(), 0.1, 8, view="forward"),
            "NetworkLearner PTD: 3 features, 8 units, forward view, step size 0.1",
        ),
        (LeastSquaresLearner(3, PTD()), "LeastSquaresLearner PTD: 3 features"),
        (
            Pretrained(TRAINING, Linear()).learner(5, PTD(), 0.1),
            "PretrainedLearner PTD: 5 features, 4 units, held view, step size 0.1",
        ),
        (
            ActorCriticLearner(4, 2, PTD(), StepSizePair(0.1, 0.2)),
            "ActorCriticLearner PTD: 4 features, 2 actions, step size "
            "StepSizePair(actor=0.1, critic=0.2)",
        ),
        (WALK.sampler(0).episodes(3)[:-1], "Experience: "),
        (
            theory.diagnose(CHAIN.process, CHAIN.features, TD(), lambda_=[0.99, 0.8]),
            "Diagnosis of TD(λ): diverges; print it for the reasons",
        ),
    ],
    ids=lambda part: type(part).__name__,
)
def test_a_line_says_what_it_is(shown: Any, expected: str) -> None:
    line = repr(shown)
    assert line.startswith(f"<{expected}")
    assert line.endswith(">")
    assert len(line) < 160
    assert "\n" not in line


def test_experience_counts_its_steps_and_episodes() -> None:
    experience = Experience.from_log(np.eye(4), np.zeros(4), discount=0.9, terminated=[0, 1, 0, 1])
    assert repr(experience) == "<Experience: 4 steps, 2 episodes, 4 features>"
    assert repr(experience[:3]) == "<Experience: 3 steps, 2 episodes, 4 features>"


def test_results_count_their_runs(tmp_path: Any) -> None:
    study = Study(
        name="small",
        tasks=WALK,
        rules=[TD(), PTD()],
        preferences=0.5,
        step_sizes=[0.1, 1e6],
        episodes=30,
        seeds=3,
    )
    results = run_here(study, tmp_path)
    lost = int(results.runs["diverged"].sum())
    assert lost > 0
    assert repr(results) == f"<Results: 12 runs of 2 algorithms, 3 seeds; {lost} diverged>"
