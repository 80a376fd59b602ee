"""An evaluation as it is stored: its numbers, its weights, and predictions of other rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector, as_count, short
from preftd._src.experiments.inputs import as_folder
from preftd._src.files import read_npz
from preftd._src.logs.arms import ARMS, BOOSTING, as_method, questions_of
from preftd._src.logs.columns import LogColumns
from preftd._src.logs.encoding import Encoding
from preftd._src.logs.moments import MISSING, Extras, extras_of
from preftd._src.logs.online import OnlineValues
from preftd._src.logs.part_files import PREDICTIONS
from preftd._src.logs.predictor import MOST, Predictor, predict_frame
from preftd._src.logs.scores import linear_values
from preftd._src.logs.solving import Solution
from preftd._src.logs.source import as_frame
from preftd._src.logs.summary import (
    FORM,
    LEAST_SQUARES,
    NUMBER,
    check_form,
    check_sizes,
    from_json,
    read_summary,
)
from preftd._src.logs.table import reading, scan_parquet
from preftd._src.logs.verdict import verdict
from preftd._src.names import nearest

ONLINE = "online."
FILES = ("weights.npz", "log.toml", "summary.json")
ERRORS = {"question": str} | {
    name: float if kind == NUMBER else kind
    for name, kind in FORM["questions"][0]["errors"][0].items()
}
"""Columns of `errors()`, which are there also if no return is known."""
PAGE = "report.html"


@final
@dataclass(frozen=True, eq=False)
class LogEvaluation:
    """An evaluation of a log; `preftd.load` and `preftd.logs.fit` return it."""

    folder: Path
    columns: LogColumns
    summary: Mapping[str, Any]
    """The numbers of summary.json."""
    weights: NDArray[np.float64]
    """Of all rows, by least squares, shape (arms, features and extras, questions); features are
    centred and scaled, extras are what only some arms use."""
    encoding: Encoding
    online: tuple[OnlineValues, ...] = ()

    def __repr__(self) -> str:
        log = self.summary["log"]
        return f"<LogEvaluation: {log['rows']:,} rows, {log['episodes']:,} episodes, {self.folder}>"

    def errors(self) -> pl.DataFrame:
        """Return the held-out errors, a row for each question, arm, prediction and kind of rows."""
        rows = [
            {"question": question["label"], **error}
            for question in self.summary["questions"]
            for error in question["errors"]
        ]
        return pl.DataFrame(rows, schema=ERRORS)

    def verdict(self, question: int | str = 0) -> list[str]:
        """Return in sentences which arm to use where readings are good, and which inside gaps.

        Parameters
        ----------
        question : int or str
            The number or the label of a question.

        """
        return list(verdict(self.summary, self.summary["questions"][self._which(question)]))

    def predictions(self) -> pl.DataFrame:
        """Return the held-out predictions of the log's rows."""
        path = self.folder / PREDICTIONS
        if not path.is_file():
            raise InputError(f"{path} was not written: fit the log with predictions=True.")
        with reading(path):
            return scan_parquet(path).collect()

    def predict(self, frame: Any, arm: str | None = None, question: int | str = 0) -> Vector:
        """Predict the values of rows, which need only the columns of features.

        What is missing is filled as it was in the log, also by what the columns of episodes, their
        ends and the preference say, if they are there. Other columns are ignored. A value of a
        category that is not among those of the log's trusted rows has no feature, like the most
        frequent one.

        Parameters
        ----------
        frame : polars or pandas frame, Arrow table, or DuckDB relation
            The rows, in order; of one episode, if no column says which they belong to.
        arm : str, optional
            Such as "ptd" (default: the last of least squares).
        question : int or str
            The number or the label of a question.

        Returns
        -------
        array of shape (rows,)

        """
        return predict_frame(self.predictor(arm, question), as_frame(frame)).value

    def predictor(
        self, arm: str | None = None, question: int | str = 0, most: int = MOST
    ) -> Predictor:
        """Return what predicts rows as they come in, and keeps the last readings of each episode.

        Parameters
        ----------
        arm, question
            As for `predict`.
        most : int
            Episodes that are kept; then the one that was seen longest ago is forgotten, and a row
            of it begins another one.

        Returns
        -------
        Predictor

        """
        values, extras = self._values(arm, question)
        return Predictor(self.encoding, values, most, extras)

    def _which(self, question: int | str) -> int:
        """The number of a question, from that or its label."""
        labels = [one["label"] for one in self.summary["questions"]]
        if isinstance(question, str):
            nearest("question", question, labels)
            question = labels.index(question)
        return as_count("question", question, 0, len(labels) - 1)

    def _values(
        self, arm: str | None, question: int | str
    ) -> tuple[Callable[[Dense], Vector], Extras | None]:
        """Turns features, and extras if there are any, into values of an arm."""
        keys = [one["key"] for one in self.summary["arms"]]
        if arm is not None:
            nearest("arm", arm, keys)
        which = self._which(question)
        chosen = len(self.weights) - 1 if arm is None else keys.index(arm)
        if chosen < len(self.weights):
            own, size = self.weights[chosen, :, which], self.encoding.size
            if keys[chosen] == "last":
                raise InputError(
                    "the arm last needs the rewards before a row: predict by another one."
                )
            if not own[size:].any():
                return linear_values(own[:size]), None
            arms = [ARMS[key] for key in keys if key in ARMS]
            return linear_values(own), extras_of(self.encoding, arms)
        if keys[chosen] == BOOSTING:
            raise InputError(
                "boosting is compared, not stored: fit it with scikit-learn, or choose another arm."
            )
        return self.online[chosen - len(self.weights)].values(-1, which), None


def write_weights(file: BinaryIO, e: Encoding, solution: Solution) -> None:
    """Write the weights, and the encoding of rows."""
    np.savez(
        file,
        whole=solution.whole,
        held_out=solution.held_out,
        centre=e.centre,
        scale=e.scale,
        mean=e.mean,
        box=e.box,
        levels=np.array(json.dumps(e.levels)),
        **{
            f"{ONLINE}{one.key}.{name}": array
            for one in solution.online
            for name, array in one.states[-1].items()
        },
    )


def load(folder: Path | str) -> LogEvaluation:
    """Load an evaluation of a log.

    Parameters
    ----------
    folder : Path or str
        The folder that `preftd fit --out` or `preftd.logs.fit` wrote.

    Returns
    -------
    LogEvaluation

    """
    place = as_folder("folder", folder)
    for name in FILES:
        if not (place / name).is_file():
            raise InputError(
                f"{short(str(place))} has no {name}: give a folder that preftd fit wrote."
            )
    columns = LogColumns.from_toml(place / "log.toml")
    try:
        summary = read_summary(place)
        return _checked(place, columns, summary, read_npz(place / "weights.npz"))
    except ValueError as error:
        raise InputError(
            f"{place} holds damaged files ({short(error)}): fit the log again."
        ) from None


def _checked(
    place: Path, columns: LogColumns, summary: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> LogEvaluation:
    """An evaluation from what its files hold, checked to fit together."""
    count, asked = len(columns.features), questions_of(columns)
    centre, scale, mean = (_array(arrays, name, (count,)) for name in ("centre", "scale", "mean"))
    levels, box = _levels(arrays, len(columns.categories)), _array(arrays, "box", (2, count))
    shown = (one.removesuffix(MISSING) for one in summary["extras"] if one.endswith(MISSING))
    encoding = Encoding(columns, centre, scale, mean, levels, box, tuple(shown))
    arms = [ARMS[one["key"]] for one in summary["arms"] if one["key"] in ARMS]
    if list(extras_of(encoding, arms).names) != summary["extras"]:
        raise ValueError("the extras of summary.json are not those of its arms")
    online = [one for one in summary["arms"] if one["method"] not in (LEAST_SQUARES, BOOSTING)]
    wide = encoding.size + len(summary["extras"])
    solved = [one for one in summary["arms"] if one["method"] == LEAST_SQUARES]
    shape = (len(solved), wide, len(asked))
    whole = _array(arrays, "whole", shape)
    if (scale <= 0).any() or list(encoding.names) != summary["features"]:
        raise ValueError("the features of weights.npz are not those of summary.json")
    check_sizes(summary, asked, [one["key"] for one in summary["arms"]][: shape[0]])
    learned = tuple(_online(arrays, one, len(asked)) for one in online)
    return LogEvaluation(place, columns, summary, whole, encoding, learned)


def _array(
    arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """An array of finite numbers of a shape."""
    found = arrays.get(name, np.empty(0, np.bool_))
    if found.dtype != np.float64 or found.shape != shape or not np.isfinite(found).all():
        raise ValueError(f"{name} is not an array of numbers of shape {shape}")
    return found


def _levels(arrays: Mapping[str, NDArray[Any]], categories: int) -> tuple[tuple[Any, ...], ...]:
    """The values of categories."""
    found = from_json(str(arrays.get("levels")))
    check_form("levels", found, [[int | str]])
    if len(found) != categories or not all(found):
        raise ValueError(f"levels is {short(found)}")
    return tuple(tuple(one) for one in found)


def _online(arrays: Mapping[str, Any], arm: Mapping[str, Any], questions: int) -> OnlineValues:
    """The learner of a method, trained on the whole log."""
    mark = f"{ONLINE}{arm['key']}."
    state = {name[len(mark) :]: array for name, array in arrays.items() if name.startswith(mark)}
    for name in ("step_size", "scale"):
        if not (_array(state, name, (questions,)) > 0).all():
            raise ValueError(f"{name} of {arm['key']} is not above 0")
    return OnlineValues(arm["key"], as_method(arm["method"]), (state,))
