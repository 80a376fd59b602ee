"""Experience that is built from its fields: what cannot be is refused, and cannot come later."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from preftd import Experience, InputError, LinearLearner, Network, tasks
from preftd._src.tasks.scored import Scored
from preftd.learners import LeastSquares, Linear, Pretrained, Steps, Training
from preftd.preferences import Constant
from preftd.rules import PTD, stream_coefficients

CORRIDOR = tasks.make("corridor", length=3)


def fields(**changes: Any) -> dict[str, Any]:
    """Two episodes of two steps, with vectors and indices; as lists, where these will do."""
    return {
        "size": 3,
        "code_t": [0, -1, -2, 2],
        "code_tp1": [-1, -1, 2, 2],
        "dense": np.ones((2, 3)),
        "reward": [1.0, 2.0, 3.0, 4.0],
        "discount_tp1": [0.5, 0.0, 0.5, 0.25],
        "discount_t": [0.0, 0.5, 0.0, 0.5],
        "is_first": [1, 0, 1, 0],
        "is_last": [0, 1, 0, 1],
    } | changes


def test_what_fits_together_is_taken_in_the_types_of_the_library() -> None:
    e = Experience(**fields(action=[5, 6, 7, 8], rho=[1, 1, 1, 2], state=np.arange(4)))
    assert (e.code_t.dtype.name, e.is_last.dtype.name) == ("int32", "bool")
    np.testing.assert_array_equal(e.features()[0], [1, 0, 0])
    large = np.array([0, -1, -2, 2], dtype=np.int64)
    np.testing.assert_array_equal(Experience(**fields(code_t=large)).code_t, e.code_t)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"code_t": [0, -1, -3, 2]}, r"code_t holds -3 at \[2\]: give whole numbers from -2 to 2"),
        ({"code_tp1": [0, 0, 0, 3]}, r"code_tp1 holds 3 at \[3\]"),
        ({"code_t": np.array([2**32, 0, 0, 0])}, r"code_t holds 4294967296 at \[0\]"),
        ({"code_t": [0.5, 0, 0, 0]}, r"code_t holds 0.5 at \[0\]"),
        ({"code_t": [np.nan, 0, 0, 0]}, r"code_t\[0\] is nan"),
        ({"code_t": [[0, 0, 0, 0]]}, r"code_t has shape \(1, 4\)"),
        ({"code_t": "abcd"}, "code_t is not an array"),
        ({"code_t": None}, "code_t is None: give numbers"),
        ({"active": [[0, 1], [1, 3], [0, 0]]}, r"active holds 3 at \[1, 1\]"),
        ({"active": [[0, -1], [1, 1], [0, 0]]}, r"active holds -1 at \[0, 1\]"),
        ({"active": [[0, 1]]}, r"code_t holds 2 at \[3\]: give whole numbers from -2 to 0"),
        ({"active": [0, 1, 2]}, "active has shape"),
        ({"size": 4}, "dense has 3 columns, not 4"),
        ({"size": 2.5}, "size is 2.5"),
        ({"dense": np.ones(3)}, "dense has shape"),
        ({"reward": [1.0, np.nan, 0, 0]}, r"reward\[1\] is nan"),
        ({"reward": [1.0, 0, 0]}, "reward has 3 entries but there are 4 steps"),
        ({"discount_tp1": [0.5, 0.0, 1.5, 0.25]}, r"discount_tp1\[2\] is 1.5"),
        ({"discount_tp1": [0.5, np.nan, 0.5, 0.25]}, r"discount_tp1\[1\] is nan"),
        ({"discount_t": [0.0, 0.5, 0.0, -0.5]}, r"discount_t\[3\] is -0.5"),
        ({"discount_t": [0.1, 0.5, 0.0, 0.5]}, r"discount_t\[0\] is 0.1 where an episode starts"),
        ({"discount_t": [0.0, 0.5, 0.5, 0.5]}, r"discount_t\[2\] is 0.5, but an episode starts"),
        ({"discount_t": [0.0, 0.4, 0.0, 0.5]}, r"discount_t\[1\] is 0.4, but discount_tp1\[0\]"),
        ({"is_first": [1, 0, 0, 0]}, r"is_first\[2\] is False and is_last\[1\] is True"),
        ({"is_last": [0, 2, 0, 1]}, "is_last holds something other than 0 and 1"),
        ({"rho": [1, 1, -1, 1]}, r"rho\[2\] is -1"),
        ({"state": [0, 1, -1, 2]}, r"state holds -1 at \[2\]"),
        ({"observation": np.ones((3, 2))}, "observation has 3 entries"),
        ({"reward_before": np.inf}, "reward_before is inf"),
        ({"action_before": 0.5}, "action_before is 0.5"),
    ],
)
def test_fields_that_do_not_fit_get_one_sentence(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Experience(**fields(**changes))


def test_arrays_that_were_given_may_change_and_the_experience_does_not() -> None:
    given = fields(code_t=np.array([0, -1, -2, 2], dtype=np.int32))
    e = Experience(**given)
    given["code_t"][0], given["dense"][:] = 10**6, 7.0
    assert e.code_t[0] == 0
    assert (e.dense == 1).all()
    for made in (e, CORRIDOR.sampler(0).episodes(2), e[1:3]):
        for name in ("code_t", "dense", "reward", "is_last"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(made, name)[:] = 0


def test_episodes_of_a_sampler_pass_the_check_that_they_are_spared() -> None:
    for name in sorted(tasks.TASKS):
        drawn = tasks.make(name).sampler(1).steps(300)
        replace(drawn)
        replace(drawn[17:90])


@pytest.mark.parametrize("learning", ["linear", "held", "network", "least squares", "pretrained"])
@pytest.mark.parametrize("wrong", ["code_t", "code_tp1", "active", "length", "scored", "nothing"])
def test_steps_that_were_tampered_with_reach_no_kernel(learning: str, wrong: str) -> None:
    e = CORRIDOR.sampler(0).episodes(5)
    steps = Steps.of(e, stream_coefficients(PTD(), Constant(1.0), e))
    scored, far = CORRIDOR.scored, 10**6
    if wrong in ("code_t", "code_tp1", "active"):
        changed = getattr(steps, wrong).copy()
        changed[-1] = far
        steps = steps._replace(**{wrong: changed})
    elif wrong == "length":
        steps = steps._replace(gain=steps.gain[:-1])
    elif wrong == "scored":
        scored = Scored(np.full(1, far, np.int32), scored.dense, np.zeros(1))
    training = Training(CORRIDOR, Network(2, "forward"), PTD(), Constant(1.0), 0.01, episodes=1)
    specs: dict[str, Any] = {
        "linear": Linear("backward"),
        "held": Linear("held"),
        "network": Network(2, "backward"),
        "least squares": LeastSquares(),
        "pretrained": Pretrained(training, Linear("backward")),
    }
    spec = specs[learning]
    batch = spec.start(3, [0.1] if spec.takes_step_size else [None], 0)
    given: Any = None if wrong == "nothing" else steps
    with pytest.raises(InputError, match="give"):
        batch.learn(given, scored)


def test_codes_that_are_written_by_force_are_refused_by_learn() -> None:
    e = CORRIDOR.sampler(0).episodes(2)
    own: Any = e.code_t.base
    own[0] = 10**6
    with pytest.raises(InputError, match="a code is not from"):
        LinearLearner(3, PTD(), 0.1, view="backward").learn(e, beta=1.0)
