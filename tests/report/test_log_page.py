"""The page of an evaluated log shows the numbers of its summary and of its predictions."""

from __future__ import annotations

import html
import json
import re
import runpy
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from browser import complaints, open_browser, view
from commands import printed
from logs.made_logs import COLUMNS, gappy
from preftd._src.logs.arms import ARMS
from preftd._src.report import log_figures, log_page
from preftd._src.report.log_page import write_log_page
from preftd._src.style import number_text
from preftd.logs import LogColumns, LogEvaluation, fit
from report.made_pages import EVIL

NAMED: dict[str, Any] = COLUMNS | {"features": [EVIL, "b"]}


def evaluated(out: Path, log: pl.DataFrame, **named: Any) -> LogEvaluation:
    return fit(log, LogColumns(**NAMED | named), out, folds=3, rules=["td0", "td", "ptd"])


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> LogEvaluation:
    log = gappy(episodes=90).rename({"a": EVIL})
    return evaluated(tmp_path_factory.mktemp("log"), log)


@pytest.fixture(scope="module")
def page(found: LogEvaluation) -> str:
    path = write_log_page(found.folder)
    assert path == found.folder / "report.html"
    return path.read_text(encoding="utf-8")


def numbers(page: str) -> Any:
    """What is behind the lines of its figures."""
    text = re.search(r'id="numbers">(.*?)</script>', page, re.DOTALL)
    assert text is not None
    return json.loads(text[1])


def test_the_page_needs_no_other_file_and_runs_no_name(page: str) -> None:
    assert EVIL not in page
    assert html.escape(EVIL) in page
    assert not re.findall(r'(?:src|href)="(?!#|data:,)', page)
    [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', page)
    assert "unsafe" not in policy
    assert not re.findall(r"<[^>]* style=", page)


def test_tables_hold_the_errors_the_gaps_and_the_weights(page: str, found: LogEvaluation) -> None:
    text = html.unescape(re.sub(r"<[^>]*>", "|", page))
    question = found.summary["questions"][0]
    assert len(question["errors"]) >= 6
    for error in question["errors"]:
        assert f"|{number_text(error['rmse'])} [{number_text(error['rmse_low'])}, " in text
    for one in found.summary["inputs"]:
        assert f"|{one['missing']:,}|" in text
        w = question["weights"]["ptd"][found.summary["features"].index(one["name"])]
        assert f"|{number_text(w)}|" in text


def test_the_page_tells_how_much_the_fill_matters(page: str, found: LogEvaluation) -> None:
    text = html.unescape(re.sub(r"<[^>]*>", "|", page))
    fills = {(one["fill"], one["arm"]): one for one in found.summary["fills"]}
    (i, j), scale = (0, 1), [one["scale"] for one in found.summary["inputs"]]
    for (fill, arm), one in fills.items():
        own, other = (np.array(f["weights"])[[i, j]] * scale for f in (fills["last", arm], one))
        change = float(np.linalg.norm(other - own) / np.linalg.norm(own))
        label = {"td": "TD(λ)", "ptd": "PTD"}[arm]
        line = f"|{label}||{fill}||{number_text(100 * change)} %||{number_text(one['rmse'])}|"
        assert line in text
        if arm == "ptd" or fill == "last":
            assert change == 0
        else:
            assert change > 0.01


def test_methods_without_weights_of_features_are_not_in_their_table(found: LogEvaluation) -> None:
    arms = [*found.summary["arms"], {"key": "ptd-linear", "label": "PTD, linear"}]
    summary = {**found.summary, "arms": arms}
    assert [one["key"] for one in log_figures.with_weights(summary)] == ["td0", "td", "ptd"]
    assert len(log_page.weights_table(summary, summary["questions"][0])[0][1]) == 3


def test_the_page_begins_with_what_to_use(page: str, found: LogEvaluation) -> None:
    question = found.summary["questions"][0]
    [(label, lines)] = log_page.lead(found.summary)
    assert label == question["label"]
    assert [line.split(" (")[0] for line in lines] == ["Where readings are good", "Inside gaps"]
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    assert all(part in text for line in lines for part in line.split(". ", 1))
    assert text.index(lines[0].split(". ")[0]) < text.index("What was read", text.index(label))


def test_errors_in_the_figure_are_those_of_the_summary(page: str, found: LogEvaluation) -> None:
    errors = found.summary["questions"][0]["errors"]
    for arm, key in (("TD(0)", "td0"), ("PTD", "ptd")):
        some = [e for e in errors if (e["arm"], e["prediction"]) == (key, "value")]
        lines = [line for line in numbers(page)["errors"] if line["label"] == arm]
        assert len(lines) == 2  # on trusted rows, and on others
        for line, which in zip(lines, ("trusted", "untrusted"), strict=True):
            [one] = [e for e in some if e["rows"] == which]
            assert line["centre"] == pytest.approx([one["rmse"]], rel=1e-3)
            assert line["low"] == pytest.approx([one["rmse_low"]], rel=1e-3)


def test_the_error_of_trusted_rows_is_that_of_no_gap(page: str, found: LogEvaluation) -> None:
    rows = found.predictions().filter(pl.col("return").is_finite())
    trusted = rows.filter(pl.col("beta") >= 0.5)
    rmse = float((trusted["value_ptd"] - trusted["return"]).pow(2).mean()) ** 0.5  # type: ignore[arg-type]
    line = next(one for one in numbers(page)["gaps"] if one["label"] == "PTD")
    assert line["x"][:2] == [0, 1]
    assert line["centre"][0] == pytest.approx(rmse, rel=1e-3)


def test_calibration_is_the_mean_return_of_rows_predicted_alike(
    page: str, found: LogEvaluation
) -> None:
    known = found.predictions().filter(pl.col("return").is_finite()).sort("value_ptd")
    lines = [one for one in numbers(page)["calibration"] if one["label"] == "PTD"]
    for line, rows in zip(lines, log_figures.rows_by_trust(known), strict=True):
        assert len(line["x"]) == 10
        tenth = rows.height / 10
        for end, part in ((0, rows.head(round(tenth))), (-1, rows.tail(round(tenth)))):
            assert line["x"][end] == pytest.approx(part["value_ptd"].mean(), abs=0.05)
            assert line["centre"][end] == pytest.approx(part["return"].mean(), abs=0.3)


def test_episodes_are_shown_as_they_were_predicted(page: str, found: LogEvaluation) -> None:
    rows = found.predictions()
    shown = [one for one in numbers(page)["episodes"] if one["label"] == "PTD"]
    assert len(shown) == log_figures.EPISODES
    titles = re.findall(r"<!-- (?:id|episode) (\d+) -->|>id (\d+)<", page)
    ids = [int(a or b) for a, b in dict.fromkeys(titles)]
    assert len(ids) == len(shown)
    for one, line in zip(sorted(ids), shown, strict=True):
        assert line["centre"] == pytest.approx(rows.filter(id=one)["value_ptd"].to_list(), rel=1e-3)


def test_what_bad_readings_predict_does_not_flatten_the_curves(found: LogEvaluation) -> None:
    read = log_figures.sample(found.folder / "predictions.parquet", 900)
    bad = pl.when(pl.col("beta") < 0.5).then(-1e6).otherwise("value_ptd").alias("value_ptd")
    figure = log_figures.episodes_figure(
        found.summary, read._replace(first=read.first.with_columns(bad)), "id"
    )
    assert figure is not None
    assert min(axes.get_ylim()[0] for axes in figure.axes) > -100


def test_arms_look_different() -> None:
    arms = [{"label": arm.label} for arm in ARMS.values()] + [{"label": "gradient boosting"}]
    assert len(set(log_figures.looks_of_arms({"arms": arms}).values())) == len(arms)


def test_gaps_are_counted_from_the_last_trusted_row_or_the_start() -> None:
    rows = pl.DataFrame({"id": [1, 1, 1, 1, 2, 2, 2], "beta": [0.0, 1, 0, 0.4, 0, 0, 1]})
    assert log_figures._aged(rows, "id")["age"].to_list() == [1, 0, 1, 2, 1, 2, 0]
    assert log_figures._aged(rows, None)["age"].to_list() == [1, 0, 1, 2, 3, 4, 0]


def test_a_long_log_is_read_in_part(found: LogEvaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_figures, "SAMPLE", 100)
    path, rows = found.folder / "predictions.parquet", found.summary["log"]["rows"]
    some = log_figures.sample(path, rows)
    assert some.first["row"].to_list() == list(range(100))
    assert some.spread["row"].to_list() == list(range(0, rows, rows // 100))


def test_a_log_without_gaps_says_so(tmp_path: Path) -> None:
    log = gappy(gaps=0.0).rename({"a": EVIL})
    found = evaluated(tmp_path, log.drop("id"), episode=None)
    figure = log_figures.missing_figure(found.summary)
    assert "nothing is missing" in [text.get_text() for axes in figure.axes for text in axes.texts]
    rows = log_figures.sample(tmp_path / "predictions.parquet", log.height)
    assert log_figures.gaps_figure(found.summary, rows, None) is None
    shown = log_figures.episodes_figure(found.summary, rows, None)
    assert shown is not None
    assert shown.axes[0].get_title(loc="left").startswith("rows from ")


def test_returns_that_are_never_known_leave_no_curves(found: LogEvaluation) -> None:
    rows = found.predictions().with_columns(pl.lit(np.nan).alias("return"))
    some = log_figures.Sampled(rows, rows)
    assert log_figures.calibration_figure(found.summary, some) is None
    assert log_figures.episodes_figure(found.summary, some, "id") is None
    none = [one | {"errors": [], "verdicts": []} for one in found.summary["questions"]]
    [(_, said)] = log_page.lead({**found.summary, "questions": none})
    assert said == ["No row that was predicted has a known return, so nothing is compared."]


def test_values_that_are_all_the_same_are_one_group() -> None:
    band = log_figures._tenths(np.full(50, 2.0), np.arange(50.0))
    assert (band.x.tolist(), band.centre.tolist()) == ([2.0], [24.5])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("missing", "0 where a feature is missing, otherwise 1"),
        ("missing:a,b", "0 where a or b is missing, otherwise 1"),
        ("age:a:6", "halves with each 6 rows since a was last read"),
        ("column:quality", "the column quality"),
        ("Displacement({0: 0.5})", "Displacement({0: 0.5})"),
        ("0.9", "0.9 everywhere"),
    ],
)
def test_a_preference_in_words(text: str, words: str) -> None:
    assert log_page.told_trust(text) == words


def test_many_columns_fit(found: LogEvaluation) -> None:
    inputs = [{"name": f"x{i} " * 9, "missing": i, "share": i / 100} for i in range(99)]
    bins = found.summary["bins"] | {"gaps": [[0.5] * len(found.summary["bins"]["rows"])] * 99}
    figure = log_figures.missing_figure({**found.summary, "inputs": inputs, "bins": bins})
    names = [text.get_text() for text in figure.axes[1].get_yticklabels()]
    assert len(names) == log_figures.MOST_INPUTS
    assert names[0].startswith("x98 ")
    assert max(map(len, names)) <= log_figures.LETTERS
    assert "74 more inputs have gaps" in " ".join(figure.get_supxlabel().split())


def test_episodes_are_shown_where_they_are_predicted(tmp_path: Path) -> None:
    """A log that is cut into pieces of time has no predictions of the first ones."""
    found = evaluated(tmp_path, gappy(episodes=2).rename({"a": EVIL}))
    split = found.summary["split"]
    assert split["ordered"]
    path, rows = tmp_path / "predictions.parquet", found.summary["log"]["rows"]
    shown = log_figures.sample(path, rows, split["tested"]).first
    assert 0 < shown.height < rows
    assert shown["value_ptd"].is_finite().all()
    assert "Predictions over time" in write_log_page(found).read_text(encoding="utf-8")


def test_the_command_writes_the_page_unless_told_not_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_page, "write_log_page", lambda folder: folder / "page")
    gappy().write_parquet(tmp_path / "log.parquet")
    (tmp_path / "log.toml").write_text(LogColumns(**COLUMNS).to_toml(), encoding="utf-8")
    typed = ("fit", tmp_path / "log.parquet", "--columns", tmp_path / "log.toml", "--quiet")
    out = ("--rule", "ptd", "--out", tmp_path / "values")
    assert printed(*typed, *out).endswith(f"wrote {tmp_path / 'values' / 'page'}\n")
    assert "page" not in printed(*typed, *out, "--no-report")


@pytest.mark.slow
def test_the_command_of_the_docs_finds_what_its_snippets_find(tmp_path: Path) -> None:
    docs = Path(__file__).parents[2] / "docs"
    made = runpy.run_path(str(docs / "pictures" / "logs.py"), run_name="snippets")
    ran = made["run"](docs / "logs.md")
    text = (docs / "logs.md").read_text(encoding="utf-8").replace("\\\n", "")
    line = re.search(r"^ {4}preftd (fit log.parquet --feature .*)", text, re.M)
    assert line is not None
    typed = [str(ran["folder"] / part) if part == "log.parquet" else part
             for part in shlex.split(line[1])]  # fmt: skip
    printed(*typed[:-1], tmp_path / "values", "--quiet")
    questions = json.loads((tmp_path / "values" / "summary.json").read_text())["questions"]
    assert questions == ran["found"].summary["questions"]
    assert (tmp_path / "values" / "report.html").exists()


@pytest.mark.slow
def test_the_page_fits_screens_of_all_widths_and_asks_nobody(
    page: str, found: LogEvaluation
) -> None:
    assert page
    with open_browser() as browser:
        browser.get("about:blank")
        complaints(browser)
        for width, dark in ((400, False), (900, True), (1400, False)):
            view(browser, found.folder / "report.html", width=width, dark=dark)
            wide = browser.execute_script("return document.documentElement.scrollWidth")
            assert wide <= width
            assert not browser.find_elements("css selector", "img")
        assert complaints(browser) == []
