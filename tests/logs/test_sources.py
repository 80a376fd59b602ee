"""A log is the same wherever it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import preftd
from logs.made_logs import COLUMNS, gappy, settings_of
from preftd import ETD, PTD, InputError
from preftd._src.logs.arms import questions_of
from preftd._src.logs.encoders import as_encoder
from preftd._src.logs.parts import read_steps
from preftd._src.logs.source import _natural, as_frame, open_source
from preftd._src.report.log_page import write_log_page
from preftd.logs import LogColumns, LogEvaluation, fit
from preftd.preferences import Function


def evaluated(source: Any, out: Path, **named: Any) -> LogEvaluation:
    columns = LogColumns(**COLUMNS | named)
    return fit(source, columns, out, rules=["ptd"], folds=3, regularisation=1e-6)


def as_file(log: pl.DataFrame, folder: Path) -> Path:
    log.write_parquet(folder / "log.parquet", row_group_size=50)
    return folder / "log.parquet"


def as_folder(log: pl.DataFrame, folder: Path) -> Path:
    """Two files, in the midst of an episode."""
    (folder / "in" / "deep").mkdir(parents=True)
    log.head(100).write_parquet(folder / "in" / "a.parquet")
    log.tail(-100).write_parquet(folder / "in" / "deep" / "b.parquet")
    return folder / "in"


def as_partitions(log: pl.DataFrame, folder: Path) -> Path:
    """Folders by episode."""
    for (episode,), rows in log.group_by("id", maintain_order=True):
        inside = folder / "in" / f"id={episode:03d}"
        inside.mkdir(parents=True)
        rows.drop("id").write_parquet(inside / "0.parquet")
    return folder / "in"


def as_csv(log: pl.DataFrame, folder: Path) -> Path:
    log.with_columns(pl.col("a").fill_nan(None)).write_csv(folder / "log.csv")
    return folder / "log.csv"


def as_pandas(log: pl.DataFrame, _folder: Path) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({name: log[name].to_list() for name in log.columns})


def as_pandas_index(log: pl.DataFrame, folder: Path) -> Any:
    return as_pandas(log, folder).set_index(["id", "t"])


class Table:
    """What gives its rows by Arrow's interface only, as tables of pyarrow do."""

    def __init__(self, log: pl.DataFrame) -> None:
        self._log = log

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._log.__arrow_c_stream__(requested_schema)


def as_relation(log: pl.DataFrame, folder: Path) -> Any:
    duckdb = pytest.importorskip("duckdb")
    return duckdb.read_parquet(str(as_file(log, folder))).order("t")


def as_frames(log: pl.DataFrame, _folder: Path) -> Iterator[pl.DataFrame]:
    return (log.slice(first, 90) for first in range(0, log.height, 90))


SOURCES: list[Callable[[pl.DataFrame, Path], Any]] = [
    as_file, as_folder, as_partitions, as_csv, as_pandas, as_pandas_index, as_relation, as_frames,
    lambda log, _: log.lazy(), lambda log, _: Table(log),
]  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
def test_sources_give_the_same(source: Callable[[pl.DataFrame, Path], Any], tmp_path: Path) -> None:
    expected = evaluated(gappy(), tmp_path / "frame")
    found = evaluated(source(gappy(), tmp_path), tmp_path / "out")
    assert found.weights == pytest.approx(expected.weights, rel=1e-10)
    for name in ("row", "beta", "held_ptd", "return"):
        assert found.predictions()[name].to_numpy() == pytest.approx(
            expected.predictions()[name].to_numpy(), rel=1e-8, nan_ok=True
        )


def test_fields_of_csv_that_are_named_are_missing(tmp_path: Path) -> None:
    log, file = gappy().with_columns(pl.col("a").fill_nan(None)), tmp_path / "log.csv"
    texts = log.with_columns(
        pl.col("a").cast(pl.String).fill_null("-999"), pl.col("b").cast(pl.String).fill_null("NA")
    )
    texts.write_csv(file)
    expected = evaluated(as_csv(log, tmp_path), tmp_path / "empty")
    texts.write_csv(file)
    found = evaluated(file, tmp_path / "named", nulls=["NA", "-999"])
    np.testing.assert_array_equal(found.weights, expected.weights)
    assert preftd.load(tmp_path / "named").columns.nulls == ("NA", "-999")
    with pytest.raises(InputError, match="column 'a' has '-999', and nulls name the same number"):
        evaluated(file, tmp_path / "refused", nulls=["NA", "-999.0"])
    for other, name in ((as_file(log, tmp_path), "log.parquet"), (log, "the log")):
        with pytest.raises(InputError, match=f"but {name} is not CSV: make"):
            evaluated(other, tmp_path / "refused", nulls=["NA"])


def test_relations_and_tables_that_fail_are_refused(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with pytest.raises(InputError, match="the relation cannot be computed"):
        evaluated(duckdb.sql("select error('no such sensor') as a"), tmp_path)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1], "x": [2.0]}).set_index("id", drop=False)
    assert as_frame(frame).columns == ["id", "x"]
    with pytest.raises(InputError, match="two columns 'id', as text: rename one"):
        as_frame(frame.assign(id=2))


def test_an_episode_that_starts_again_in_another_file_is_another(tmp_path: Path) -> None:
    for name in "ab":
        gappy().write_parquet(tmp_path / f"{name}.parquet")
    found = evaluated(tmp_path, tmp_path / "out")
    assert found.summary["log"]["episodes"] == 120


def test_categories_are_features_of_their_own(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    kind = rng.choice(["high", "low", "off"], len(gappy()), p=[0.5, 0.3, 0.2])
    log = gappy(gaps=0.0).with_columns(
        kind=pl.Series(kind), number=pl.Series(kind == "low").cast(pl.Int64) * 7
    )
    named = {"features": ["a"], "categories": ["kind"], "preference": 1.0}
    found = evaluated(log, tmp_path / "text", **named)
    assert found.summary["features"] == ["a", "kind = low", "kind = off", "1"]
    by_hand = log.with_columns(
        low=pl.col("kind") == "low", off=(pl.col("kind") == "off").cast(pl.Float64)
    )
    numbers = {"features": ["a", "low", "off"], "preference": 1.0}
    other = evaluated(by_hand, tmp_path / "numbers", **numbers)
    assert found.predict(log) == pytest.approx(other.predict(by_hand), rel=1e-6)
    gaps = log.with_columns(
        kind=pl.when(pl.Series(rng.random(log.height) < 0.2)).then(None).otherwise("kind")
    )
    missing = evaluated(gaps, tmp_path / "gaps", **named | {"preference": "missing"})
    assert missing.summary["inputs"][1]["missing"] == gaps["kind"].null_count()
    assert missing.predictions()["beta"].to_numpy() == pytest.approx(
        gaps["kind"].is_not_null().cast(pl.Float64).to_numpy()
    )
    whole = evaluated(log, tmp_path / "whole", **named | {"categories": ["number"]})
    assert whole.summary["features"] == ["a", "number = 7", "1"]


@pytest.mark.parametrize("text", ["polynomial:3", "fourier:2", "tiles:3:4"])
def test_encoders_of_columns_are_those_of_rows(text: str, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).uniform(-1.5, 1.5, (50, 2))
    kind, encoder = as_encoder(text, -np.ones(2), np.ones(2))
    expected = np.zeros((50, encoder.size))
    for t, row in enumerate(rows):
        one = encoder(row)
        if isinstance(one, np.ndarray):
            expected[t] = one
        else:
            expected[t, one.array] = 1.0
    assert kind.expand(encoder, rows) == pytest.approx(expected)
    found = evaluated(gappy(), tmp_path, encoder=text)
    assert found.weights.shape[1] == encoder.size
    assert found.errors()["rmse"].is_finite().all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("polinomial:2", "did you mean 'polynomial'"),
        ("tiles:3", "give it as tiles:8:4"),
        ("polynomial:70", "makes 2,556 features of 2"),
    ],
)
def test_encoders_that_cannot_be_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        LogColumns(**COLUMNS | {"encoder": text})


def test_ratios_come_from_probabilities_and_may_be_clipped(tmp_path: Path) -> None:
    log = gappy().with_columns(taken=pl.lit(0.5), wanted=pl.col("rho") * 0.5)
    named: dict[str, Any] = {"preference": "quality"}
    expected = evaluated(log, tmp_path / "rho", rho="rho", **named)
    columns = evaluated(log, tmp_path / "columns", behaviour="taken", target="wanted", **named)
    function = evaluated(
        log, tmp_path / "function", behaviour="taken", target=lambda rows: rows["wanted"], **named
    )
    assert (columns.weights == expected.weights).all()
    assert (function.weights == expected.weights).all()
    clipped = evaluated(log, tmp_path / "clipped", rho="rho", clip=0.75, **named)
    by_hand = evaluated(
        log.with_columns(rho=pl.col("rho").clip(upper_bound=0.75)),
        tmp_path / "by",
        rho="rho",
        **named,
    )
    assert (clipped.weights == by_hand.weights).all()
    assert not (clipped.weights == expected.weights).all()
    many = (log["rho"] > 0.75).sum()
    assert clipped.summary["notes"][-1] == f"Ratios above 0.75 become that, in {many} rows."
    assert expected.summary["notes"][-1] == "Ratios are not clipped."
    named |= {"rho": "rho", "clip": 0.75, "episode": None, "terminated": None}
    settings, plan = settings_of(log, tmp_path / "blocks", 97, **named)
    assert sum(read_steps(settings, part).clipped for part in plan.parts) == many
    returns = expected.predictions()["return"].to_numpy()
    t = int(np.flatnonzero(log["end"].to_numpy())[0])
    assert returns[t] == pytest.approx(log["rho"][t] * log["r"][t])


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"behaviour": "rho"}, "give both or none"),
        ({"behaviour": "a", "target": "b", "rho": "rho"}, "give one of the two"),
        ({"clip": 2.0}, "for ratios that are given"),
        ({"rho": "rho", "clip": 0.0}, "a number above 0"),
    ],
)
def test_ratios_that_make_no_sense_are_refused(named: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LogColumns(**COLUMNS | named)


def test_what_a_target_returns_is_checked(tmp_path: Path) -> None:
    log, named = gappy().with_columns(taken=pl.lit(0.5)), {"behaviour": "taken"}
    with pytest.raises(InputError, match="what target returns has shape"):
        evaluated(log, tmp_path / "out", target=lambda _: 1.0, **named)
    with pytest.raises(InputError, match="is -1 in row 0 of the log"):
        evaluated(log, tmp_path / "out", target=lambda rows: -np.ones(rows.height), **named)
    with pytest.raises(InputError, match=r"'end' is 0 in row .* probability above 0"):
        evaluated(log, tmp_path / "out", behaviour="end", target="taken")


def test_a_signal_gives_the_preference(tmp_path: Path) -> None:
    signal = Function(lambda x: float(x[0] > 0))
    found = evaluated(gappy(gaps=0.0), tmp_path / "signal", preference=signal)
    log = gappy(gaps=0.0)
    above = (log["a"] > log["a"].mean()).cast(pl.Float64)
    assert found.predictions()["beta"].to_list() == above.to_list()
    column = evaluated(log.with_columns(above=above), tmp_path / "column", preference="above")
    assert (found.weights == column.weights).all()
    learned = evaluated(log, tmp_path / "learned", preference="learned")
    assert learned.predictions()["beta"].is_between(0, 1).all()
    assert learned.summary["preference"]["text"] == "learned"


def test_rules_of_your_own_are_arms(tmp_path: Path) -> None:
    found = fit(gappy(), LogColumns(**COLUMNS), tmp_path, rules=[ETD(0.5), PTD()])
    assert [one["key"] for one in found.summary["arms"]] == ["etd", "ptd"]


def test_columns_of_the_log_do_not_hide_those_of_predictions(tmp_path: Path) -> None:
    log = gappy().rename({"id": "fold", "t": "row"})
    found = evaluated(log, tmp_path, episode="fold", order="row").predictions()
    assert found.columns[:4] == ["row", "log_fold", "log_row", "fold"]
    assert found["log_row"].to_list() == log["row"].to_list()


def test_two_predictions_of_one_name_are_refused(tmp_path: Path) -> None:
    log = gappy().rename({"r": "x", "s": "linear_x"})
    columns = LogColumns(**COLUMNS | {"reward": ["x", "linear_x"]})
    with pytest.raises(InputError, match="called 'value_ptd_linear_x', by the names of rewards"):
        fit(log, columns, tmp_path, methods=["linear"])
    log = gappy().rename({"id": "value_ptd", "t": "log_value_ptd"})
    named = {"episode": "value_ptd", "order": "log_value_ptd"}
    found = evaluated(log, tmp_path / "keys", **named).predictions()
    assert found.columns[1:3] == ["log_value_ptd", "log_log_value_ptd"]
    assert found["log_value_ptd"].to_list() == log["value_ptd"].to_list()


def test_discounts_that_differ_have_their_own_columns(tmp_path: Path) -> None:
    discounts = [0.9, 0.9999999, 0.99999994, 0.5]
    found = evaluated(gappy(), tmp_path, discount=discounts)
    suffixes = [one["suffix"] for one in found.summary["questions"]]
    assert suffixes == ["_0.9", "_0.9999999", "_0.99999994", "_0.5"]
    assert {f"value_ptd{one}" for one in suffixes} <= {*found.predictions().columns}
    several = LogColumns(**COLUMNS | {"discount": [1.0, 0.9999999, 0.0]})
    assert [one.suffix for one in questions_of(several)] == ["_1", "_0.9999999", "_0"]


def test_an_order_that_steps_back_between_files_is_refused(tmp_path: Path) -> None:
    log, folder = gappy(gaps=0.0), tmp_path / "in"
    folder.mkdir()
    for name in "ab":
        log.write_parquet(folder / f"{name}.parquet")
    named: dict[str, Any] = {"terminated": None, "order": "t"}
    with pytest.raises(InputError) as refused:
        evaluated(folder, tmp_path / "out", episode=None, **named)
    assert str(refused.value) == (
        "order ('t') goes from 901 to 0 inside an episode, in row 0 of b.parquet: give files in "
        "their order, or a column that tells episodes apart."
    )
    found = evaluated(folder, tmp_path / "ids", **named)
    assert found.summary["log"]["episodes"] == 120
    same = log.with_columns(id=pl.lit(7))
    same.write_parquet(folder / "b.parquet")
    same.write_parquet(folder / "c.parquet")
    with pytest.raises(InputError, match=r"from 901 to 0 inside an episode, in row 0 of c\.parq"):
        evaluated(folder, tmp_path / "same", **named)


def test_files_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    log = gappy()
    for i in range(12):
        log.slice(i * 80, 80).write_parquet(tmp_path / f"part_{i}.parquet")
    found = evaluated(tmp_path, tmp_path / "out", episode=None, order="t")
    assert found.predictions()["t"].to_list() == log["t"].head(960).to_list()
    names = ["10", "x", "007", "2b", "7", "b2", "b10", "b", "2"]
    paths = [Path("b1") / name for name in names] + [Path("b1/7/1")]
    expected = ["2", "2b", "007", "7", "1", "10", "b", "b2", "b10", "x"]
    assert [path.name for path in sorted(paths, key=_natural)] == expected


def test_an_id_that_comes_again_in_a_later_file_is_refused(tmp_path: Path) -> None:
    log = gappy()
    first = log.filter(pl.col("id") < 3)
    first.write_parquet(tmp_path / "a.parquet")
    again = pl.concat([log.filter(id=2), log.filter(id=3), log.filter(id=2)])
    again.write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"episode 2 \('id'\) begins a second time in row"):
        evaluated(tmp_path, tmp_path / "out")


def in_folders(log: pl.DataFrame, root: Path, *folders: str) -> Path:
    each = log.height // len(folders)
    for i, folder in enumerate(folders):
        (root / folder).mkdir(parents=True)
        log.slice(i * each, each).write_parquet(root / folder / "log.parquet")
    return root


def test_folders_above_the_one_that_is_given_name_no_columns(tmp_path: Path) -> None:
    log = gappy()
    expected = evaluated(log, tmp_path / "frame")
    root = in_folders(log, tmp_path / "r=1", "a=5")
    for source in (root / "a=5" / "log.parquet", root / "a=5"):
        found = evaluated(source, tmp_path / f"out {source.name}")
        assert (found.weights == expected.weights).all()
    with pytest.raises(InputError) as refused:
        evaluated(root, tmp_path / "clash")
    assert str(refused.value) == (
        "column 'a' of log.parquet is also in the name of a folder (a=5): rename one of them."
    )
    twice = in_folders(log.drop("a"), tmp_path / "twice", "a=5/a=6")
    with pytest.raises(InputError, match=r"column 'a' of log\.parquet is also in the name"):
        evaluated(twice, tmp_path / "clash")


def test_folders_of_csv_files_name_columns_too(tmp_path: Path) -> None:
    log, found = gappy(), list[pl.DataFrame]()
    for kind in ("parquet", "csv"):
        for site, place in enumerate(("north", "south")):
            folder = tmp_path / kind / f"site={place}"
            folder.mkdir(parents=True)
            half = log.filter((pl.col("id") < 30) == (site == 0))
            getattr(half, f"write_{kind}")(folder / f"log.{kind}")
        columns = LogColumns(**COLUMNS | {"categories": ["site"]})
        found.append(fit(tmp_path / kind, columns, tmp_path / f"{kind} out").predictions())
    assert np.allclose(found[0].select("^value_.*$"), found[1].select("^value_.*$"), atol=1e-9)
    columns = LogColumns(**COLUMNS | {"categories": ["sit"]})
    with pytest.raises(InputError, match=r"there is no column 'sit' in csv: did you mean 'site'\?"):
        fit(tmp_path / "csv", columns, tmp_path / "out")
    (tmp_path / "csv" / "site=south").rename(tmp_path / "csv" / "a=1")
    with pytest.raises(InputError, match=r"column 'a' of log.csv is also in the name of a folder"):
        fit(tmp_path / "csv", LogColumns(**COLUMNS), tmp_path / "out")


def test_values_in_the_names_of_folders_stay_apart(tmp_path: Path) -> None:
    for i, (folders, expected) in enumerate(
        [
            (("id=7", "id=007", "id=8"), ["007", "7", "8"]),
            (("id=9", "id=10", "id=north"), ["9", "10", "north"]),
            (("id=-1", "id=09", "id=10"), [9, 10, -1]),
            (("id=1", f"id={2**70}"), ["1", str(2**70)]),
        ]
    ):
        root = in_folders(gappy().drop("id"), tmp_path / str(i), *folders)
        table = open_source(root, tmp_path / "none")
        found = table.read(["id"], 0, table.rows)["id"].unique(maintain_order=True)
        assert found.to_list() == expected


def test_a_name_with_brackets_is_a_name(tmp_path: Path) -> None:
    gappy().write_parquet(tmp_path / "log[1].parquet")
    assert evaluated(tmp_path / "log[1].parquet", tmp_path / "out").summary["log"]["files"] == 1
    gappy().fill_nan(None).write_csv(tmp_path / "log*.csv")
    assert evaluated(tmp_path / "log*.csv", tmp_path / "out").summary["log"]["files"] == 1


@pytest.mark.parametrize("name", ["out[1]", "row=3"])
def test_the_name_of_the_folder_of_results_is_a_name(name: str, tmp_path: Path) -> None:
    columns = LogColumns(**COLUMNS | {"preference": "learned"})
    found, other = (fit(gappy(), columns, tmp_path / one, rules=["ptd"]) for one in ("out", name))
    assert other.predictions().equals(found.predictions())
    assert write_log_page(other).is_file()


def test_flags_and_large_numbers_may_be_categories(tmp_path: Path) -> None:
    log = gappy().with_columns(flag=pl.col("r") > 3)
    named = {"features": ["b"], "categories": ["flag"]}
    found = evaluated(log, tmp_path / "flags", **named)
    numbers = log.with_columns(pl.col("flag").cast(pl.Int8))
    expected = evaluated(numbers, tmp_path / "numbers", **named)
    assert found.summary["features"] == expected.summary["features"]
    assert (found.weights == expected.weights).all()
    assert (found.predict(log) == expected.predict(numbers)).all()
    large = log.with_columns(flag=pl.col("flag").cast(pl.UInt64) + 2**63)
    with pytest.raises(
        InputError, match="category 'flag' holds whole numbers of more than 64 bits"
    ):
        evaluated(large, tmp_path / "large", **named)


def test_errors_have_their_columns_if_no_return_is_known(tmp_path: Path) -> None:
    found = evaluated(gappy(gaps=0.0), tmp_path, terminated=None, discount=0.9999, preference=1.0)
    errors = found.errors()
    assert errors.is_empty()
    assert errors.filter(rows="trusted").select("arm", "rmse", "relative_high").is_empty()
