"""What is missing (masked, null) is NaN or refused: nobody learns from its filler."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pandas as pd
import polars as pl
import pytest
from gymnasium import spaces

from preftd import PTD, TD, Experience, InputError, LinearLearner
from preftd.experience import Identity, Indices, Polynomial, Recorder

FILLER = -9999.0
SHOWN = np.array([[1.0, 0.0], [FILLER, FILLER], [0.0, 2.0]])
HIDDEN = SHOWN == FILLER
REWARD, BETA = [1.0, 2.0, 3.0], [1.0, 0.0, 1.0]
FORMS: dict[str, Any] = {
    "NaN": np.where(HIDDEN, np.nan, SHOWN),
    "masked": np.ma.array(SHOWN, mask=HIDDEN),
    "masked integers": np.ma.array(SHOWN.astype(np.int64), mask=HIDDEN),
    "list of masked rows": list(np.ma.array(SHOWN, mask=HIDDEN)),
    "polars": pl.DataFrame({"a": [1, None, 0], "b": [0, None, 2]}),
    "pandas": pd.DataFrame({"a": [1, None, 0], "b": [0, None, 2]}, dtype="Int64"),
}
forms = pytest.mark.parametrize("form", FORMS)


def first_column(given: Any) -> Any:
    if isinstance(given, list):
        return [row[0] for row in given]
    return given[:, 0] if isinstance(given, np.ndarray) else given["a"]


def log(**changes: Any) -> Experience:
    columns: dict[str, Any] = {
        "features": FORMS["NaN"],
        "reward": REWARD,
        "discount": 0.9,
        "terminated": [0, 0, 1],
        **changes,
    }
    return Experience.from_log(**columns)


@forms
def test_a_held_learner_does_not_look_at_missing_features_where_beta_is_0(form: str) -> None:
    learner = LinearLearner(2, PTD(), 0.1, view="held").learn(log(features=FORMS[form]), beta=BETA)
    anything = np.where(HIDDEN, 7.0, SHOWN)
    expected = LinearLearner(2, PTD(), 0.1, view="held").learn(log(features=anything), beta=BETA)
    np.testing.assert_array_equal(learner.weights, expected.weights)
    assert np.abs(learner.weights).max() > 0.1


@forms
def test_a_learner_that_looks_at_missing_features_refuses_them(form: str) -> None:
    for rule, view, beta in ((PTD(), "held", 1.0), (TD(), "backward", BETA)):
        with pytest.raises(InputError, match="features of step 1 are not finite"):
            LinearLearner(2, rule, 0.1, view=view).learn(log(features=FORMS[form]), beta=beta)


@forms
@pytest.mark.parametrize(
    "column", ["reward", "discount", "terminated", "truncated", "action", "rho"]
)
def test_other_columns_of_a_log_must_be_complete(column: str, form: str) -> None:
    with pytest.raises(InputError, match=rf"^{column}\[1\] is nan: "):
        log(**{column: first_column(FORMS[form])})


@pytest.mark.parametrize(
    "missing",
    [
        np.ma.array([0, 1, 2], mask=[False, True, False]),
        pl.Series([0, None, 2]),
        pd.Series([0, None, 2], dtype="Int64"),
    ],
)
def test_indices_must_be_complete(missing: Any) -> None:
    with pytest.raises(InputError, match=r"^indices"):
        log(features=Indices(missing), size=3)


class Shows(gymnasium.Env[Any, Any]):
    """Shows masked observations, one after the other."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,))
    action_space = spaces.Discrete(2)

    def __init__(self, reward: Any = 1.0) -> None:
        self._at, self._reward = 0, reward

    def reset(self, **_: Any) -> Any:
        self._at = 0
        return FORMS["masked"][0], {}

    def step(self, _: Any) -> Any:
        self._at += 1
        return FORMS["masked"][self._at], self._reward, self._at == 2, False, {}


class First:
    """A custom encoder that hands on a masked array."""

    size = 1

    def __call__(self, observation: Any) -> Any:
        return observation[:1]


@pytest.mark.parametrize(
    ("encoder", "shown"), [(None, [[1, 0], [np.nan] * 2]), (First(), [[1], [np.nan]])]
)
def test_a_recorder_keeps_masked_observations_as_missing(encoder: Any, shown: Any) -> None:
    stream = Recorder(Shows(), lambda _: 0, discount=0.9, encoder=encoder).take(2)
    np.testing.assert_array_equal(stream.features(), shown)
    np.testing.assert_array_equal(stream.observations(), FORMS["NaN"][:2])


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "an encoder that needs all": (
        lambda: Recorder(Shows(), lambda _: 0, discount=0.9, encoder=Polynomial(2, 1)),
        r"^observation\[0\] is nan: ",
    ),
    "reward": (
        lambda: Recorder(Shows(np.ma.array([FILLER], mask=[True])[0]), lambda _: 0, discount=0.9),
        "^reward is nan: ",
    ),
}


@pytest.mark.parametrize(("recorder", "message"), REFUSED.values(), ids=REFUSED)
def test_a_recorder_refuses_what_it_needs_if_it_is_masked(
    recorder: Callable[[], Recorder], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        recorder().take(2)


def test_the_identity_does_not_take_a_masked_array_for_numbers() -> None:
    np.testing.assert_array_equal(Identity(2)(FORMS["masked"][1]), [np.nan, np.nan])
