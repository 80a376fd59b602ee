"""What an evaluation refuses, and that it stops when it is told to."""

import re
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

from preftd import (
    PTD,
    Decreasing,
    InputError,
    Linear,
    Network,
    evaluate,
    tasks,
)
from preftd._src.experiments.learning import Method
from preftd.learners import Steps
from preftd.preferences import Function, Observability
from preftd.rules import stream_coefficients

CORRIDOR = tasks.make("corridor", length=4)
GRID = tasks.make("cross_grid", size=4)

LONG = """
from preftd import TD, Network, evaluate, tasks
from preftd.preferences import Observability

print("begun", flush=True)
evaluate(
    tasks.make("cross_grid", size=16), TD(), Observability(), [1e-3], 10**6, 4, learner=Network(16)
)
"""


def test_it_stops_when_it_is_interrupted() -> None:
    """Work of hours, of which threads would otherwise finish their seed first."""
    command = [sys.executable, "-c", LONG]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"begun\n"
        time.sleep(2)
        running.send_signal(signal.SIGINT)
        try:
            _, complaint = running.communicate(timeout=60)
        finally:
            running.kill()
    assert complaint.splitlines()[-1] == b"KeyboardInterrupt"
    assert complaint.count(b"Traceback") == 1


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no rule": ({"rule": "ptd"}, "rule is 'ptd': give one, such as PTD()"),
    "no preference": ({"preference": "high"}, "preference is 'high': give"),
    "no step size": ({"step_sizes": []}, "step_sizes is empty"),
    "one step size": ({"step_sizes": 0.1}, "step_sizes is 0.1: give a list"),
    "a negative step size": ({"step_sizes": [0.1, -1]}, r"step_sizes[1] is -1: give a number"),
    "no episodes": ({"episodes": 0}, "episodes is 0: give a whole number from 1"),
    "half an episode": ({"episodes": 1.5}, "episodes is 1.5: give a whole number"),
    "no seeds": ({"seeds": 0}, "seeds are (): give one or more"),
    "a seed twice": ({"seeds": [1, 1]}, "seeds are (1, 1): give one or more, each once"),
    "the name of a task": ({"task": "corridor"}, "task is 'corridor': give one, such as"),
    "no task of a seed": ({"task": lambda _: 5}, "the task of a seed is 5: give one, such as"),
    "the class of a learner": ({"learner": Linear}, "give one, such as Linear()"),
    "the name of a learner": (
        {"learner": "linear"},
        "learner is 'linear': give one, such as Linear",
    ),
    "an array without entries": ({"seeds": np.array(1.5)}, "seeds is array(1.5): give a whole"),
    "no workers": ({"workers": 0}, "workers is 0: give 1 or more"),
    "no end": ({"task": tasks.make("counterexample_1")}, "counterexample_1 has no episodes"),
    "a bad preference": ({"preference": Function(lambda _: 2.0)}, "beta[0] is 2: every entry"),
    "a schedule for a network": (
        {"step_sizes": [Decreasing(0.1)], "learner": Network(2)},
        "the step sizes of networks do not change: give numbers.",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_evaluated_is_refused_in_one_sentence(case: str) -> None:
    change, message = WRONG[case]
    given: dict[str, Any] = {
        "task": CORRIDOR,
        "rule": PTD(),
        "preference": Observability(),
        "step_sizes": [0.1],
        "episodes": 2,
        "seeds": 2,
    }
    with pytest.raises(InputError, match=re.escape(message)):
        evaluate(**(given | change))


@pytest.mark.parametrize("method", [Linear(), Network(3)], ids=repr)
def test_an_episode_that_is_not_over_is_refused(method: Method) -> None:
    stream = GRID.sampler(0).steps(3)
    steps = Steps.of(stream, stream_coefficients(PTD(), Observability(), stream))
    with pytest.raises(InputError, match="the last episode is not over"):
        method.start(GRID.features.size, [0.1], 0).learn(steps, GRID.scored)


@pytest.mark.parametrize("view", ["backwards", "forward view", 3])
def test_unknown_views_are_refused(view: Any) -> None:
    with pytest.raises(InputError, match="there is no view"):
        Linear(view)
