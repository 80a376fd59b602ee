"""Contributing names the places of ten typical changes; here one of each is made."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from commands import run
from logs.made_logs import COLUMNS, gappy
from preftd import PTD, LinearLearner, tasks
from preftd._src.experiments.measures import MEASURES, KnownMeasure, Measure
from preftd._src.learners.linear.state import VIEWS
from preftd._src.logs.encoders import ENCODERS
from preftd._src.logs.source import SOURCES, LogSource
from preftd._src.paper.contents import CLAIMS, FIGURES
from preftd._src.paper.experiment import FigureWords
from preftd._src.paper.figures import PaperFigure
from preftd._src.paper.registry import WORDS
from preftd._src.report.figures import study as study_figures
from preftd._src.rules.rule import Number
from preftd._src.style import LOOKS
from preftd._src.tasks.catalogue import TASKS
from preftd.experiments import Score
from preftd.logs import LogColumns, fit
from preftd.preferences import Constant
from preftd.report import look_of
from preftd.rules import RULES, Rule

ROOT = Path(__file__).parents[1]
ROWS = re.findall(
    r"^\| (.+) \| `(\w+)` in `(src/preftd/[\w/]+\.py)` \|$",
    (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_ten_places_are_named_and_there() -> None:
    assert len(ROWS) == 10
    for _, table, file in ROWS:
        module = file.removeprefix("src/").removesuffix(".py").replace("/", ".")
        assert hasattr(import_module(module), table), file


class Mine(Rule):
    """TD(λ) with half the gain."""

    name = "mine"

    def gain(self, beta: Number, interest: Number, follow_on: Number) -> Number:
        """Return ½, in the shape of the arguments."""
        return (beta + interest + follow_on) * 0 + 0.5


def test_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "mine", lambda _interest: Mine())
    assert "mine" in run("diagnose", ROOT / "examples" / "counterexample_1.toml").stdout


def test_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TASKS, "mine", lambda length=2: tasks.make("corridor", length=length))
    assert tasks.make("mine", length=3).process.states == 7
    assert "mine(length=2)" in run("tasks").stdout


def test_an_online_view(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(VIEWS, "mine", VIEWS["held"])
    task = tasks.make("corridor", length=3)
    mine, held = (
        LinearLearner(task.features.size, PTD(), 0.1, view=view).learn(
            task.sampler(seed=0).episodes(20), Constant(0.5)
        )
        for view in ("mine", "held")
    )
    np.testing.assert_array_equal(mine.weights, held.weights)


def test_a_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = Measure("mine", "my own", maximise=True)
    monkeypatch.setitem(MEASURES, "mine", KnownMeasure(mine))
    assert (Score("mine").name, Score("mine").best) == ("my own", "largest")


def test_a_figure_of_a_study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(study_figures.FIGURES, "mine", lambda _results: _figure())
    results: Any = None  # which this figure does not look at
    study_figures.draw(results, ["mine"], tmp_path, "study")
    assert (tmp_path / "study_mine.png").stat().st_size


def _figure() -> Figure:
    figure = Figure()
    figure.add_subplot()
    return figure


def test_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LOOKS, "mine", LOOKS["PTD"]._replace(colour="#123456"))
    assert look_of("mine").colour == "#123456"


class Box(NamedTuple):
    """A kind of log that the library does not know."""

    frame: pl.DataFrame


def test_a_source_of_logs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    frames = SOURCES["frame"]
    mine = LogSource(
        lambda given: isinstance(given, Box), lambda given, to: frames.open(given.frame, to)
    )
    monkeypatch.setattr("preftd._src.logs.source.SOURCES", {"box": mine, **SOURCES})
    log = gappy(episodes=20)
    boxed, plain = (
        fit(source, LogColumns(**COLUMNS), tmp_path / name)
        for name, source in (("boxed", Box(log)), ("plain", log))
    )
    assert boxed.errors().equals(plain.errors())


def test_an_encoder_of_logs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(ENCODERS, "mine", ENCODERS["polynomial"]._replace(example="mine:2"))
    columns = LogColumns(**COLUMNS | {"preference": 1.0}, encoder="mine:2")
    found = fit(gappy(episodes=20, gaps=0), columns, tmp_path / "out")
    assert found.encoding.size == 6  # 1, a, b, a², ab, b²


def test_a_figure_of_the_paper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    words = FigureWords("mine", "A figure of my own", "Nothing is run.", "Nothing is seen.")
    monkeypatch.setitem(WORDS, "mine", words)
    monkeypatch.setitem(FIGURES, "mine", PaperFigure("mine", (), lambda _found: _figure()))
    assert "A figure of my own" in run("list").stdout
    assert run("reproduce", "mine", "--out", tmp_path / "out").returncode == 0
    assert (tmp_path / "out" / "figures" / "mine.png").stat().st_size


def test_a_claim_of_the_paper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known = next(claim for claim in CLAIMS.values() if not claim.studies)  # theory decides
    mine = replace(known, name="mine", statement="It is so.")
    monkeypatch.setitem(CLAIMS, "mine", mine)
    assert "It is so." in run("claims", "mine", "--out", tmp_path / "out").stdout
