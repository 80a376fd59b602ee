"""Results as text: the table of a study, and the status of a folder with any manifests."""

import json
import os
import random
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from made_runs import frame, run, study
from preftd._src.experiments.manifest import Manifest
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results
from preftd._src.report import tables
from preftd._src.report.page.render import provenance
from preftd._src.report.tables import HEAD, NumberCell, table, table_of
from preftd._src.terminal import printable

ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 1e308, float("nan"), 10**400, "", "x", "\x1b]0;title\x07", "a\nb"),
    *("\u202e", "\ud800", "m" * 999, [], [[]], {}, {"host": 1}, {"process": 10**30}, [None]),
)


def cells(text: str) -> list[list[str]]:
    """The cells of a table, by row."""
    lines = text.split("\n\n", maxsplit=1)[0].splitlines()
    starts = [lines[0].index(name) for name in HEAD]
    ends = [*starts[1:], None]
    return [[line[a:b].strip() for a, b in zip(starts, ends, strict=True)] for line in lines]


def test_the_table_shows_statistics_of_reported_runs() -> None:
    results = Results(study(seeds=5), Score())
    head, rule, *rows = cells(table(results))
    assert tuple(head) == HEAD
    assert set("".join(rule)) == {"-"}
    keys = results.runs.select("task", "rule").unique(maintain_order=True).rows()
    assert [tuple(row[:2]) for row in rows] == keys
    errors = np.array(
        results.runs.filter(task="corridor 1", rule="PTD", step_size=0.1)["error"].to_list()
    )
    scores = np.sort(errors.mean(axis=1))
    # The 97.5 % point of Student's distribution with 4 degrees of freedom; 1¼ of 5 are left out.
    width = 2.776445 * scores.std(ddof=1) / 5**0.5
    middle = (0.75 * scores[1] + scores[2] + 0.75 * scores[3]) / 2.5
    assert rows[-1] == [
        "corridor 1",
        "PTD",
        "0.1",
        f"{scores.mean():.4g} ± {width:.2g}",
        f"{middle:.4g}",
        f"{errors[:, -1].mean():.4g}",
        "0 of 5",
    ]


def test_the_legend_names_the_seeds_that_chose_step_sizes() -> None:
    rows = [run(s, [1], stage="search") for s in (0, 1, 2, 5)] + [run(s, [1]) for s in (8, 9)]
    searched = table(Results(frame(rows), Score("rmse", last=1)))
    assert "least mean score on seeds 0–2, 5, which are not reported" in searched
    assert "root mean squared error, mean over last episode and seeds 8–9" in searched
    plain = table(Results(frame(rows[4:]), Score()))
    assert "least mean score on the reported seeds" in plain


def test_algorithms_that_diverged_or_have_not_run_are_listed() -> None:
    lost = [
        run(s, [inf], stage="search", rule="TD", diverged=True, step_size=a)
        for s in (0, 1)
        for a in (1, 2, 3)
    ]
    found = [run(0, [1], stage="search"), run(7, [1e9], diverged=True), run(8, [1])]
    waiting = [run(0, [1], stage="search", rule="ETD")]
    _, _, *rows = cells(table(Results(frame([*lost, *found, *waiting]), Score())))
    assert [[row[1], row[2], row[6]] for row in rows] == [
        ["TD", "none: all diverged", "6 of 6"],
        ["PTD", "0.1", "1 of 2"],
        ["ETD", "chosen, not yet run", ""],
    ]
    _, _, *rows = cells(table(Results(frame(lost), Score())))
    assert rows[0][2] == "none: all diverged"


@pytest.mark.parametrize("seeds", [1, 2])
def test_one_seed_has_no_interval(seeds: int) -> None:
    text = cells(table(Results(study(seeds=seeds), Score())))[-1][3]
    assert ("±" in text) == (seeds > 1)
    assert "inf" not in text


def test_rows_count_their_seeds_if_some_are_missing() -> None:
    whole = frame([run(s, [1, 2], rule=rule) for s in range(5) for rule in ("TD", "PTD")])
    assert "seeds" not in table(Results(whole, Score())).splitlines()[0]
    failed = (pl.col("rule") == "TD") & pl.col("seed").is_in([1, 3])
    text = table(Results(whole.filter(~failed), Score()))
    head, _, td, ptd, *_ = text.splitlines()
    assert [line.split()[-1] for line in (head, td, ptd)] == ["seeds", "3", "5"]
    assert "mean over all episodes and seeds 0–4 (some rows have fewer)\n" in text
    assert "\nseeds         seeds of the row: other cells failed" in text


def test_the_legend_says_if_step_sizes_were_chosen_on_fewer_seeds() -> None:
    rows = [run(s, [1], stage="search", rule=rule) for s in range(3) for rule in ("TD", "PTD")]
    found = [run(9, [1], rule=rule) for rule in ("TD", "PTD")]
    whole = table(Results(frame([*rows, *found]), Score()))
    assert "least mean score on seeds 0–2, which are not reported" in whole
    less = table(Results(frame([*rows[1:], *found]), Score()))
    assert "least mean score on seeds 0–2 (some rows: fewer), which are not reported" in less


def test_the_legend_names_the_ceiling_of_scores() -> None:
    runs = frame([run(s, [4, inf]) for s in (0, 1)])
    text = table(Results(runs, Score("rmse", ceiling=2.5)))
    assert "root mean squared error, mean over all episodes (at most 2.5) and seeds 0–1\n" in text
    assert "last episode  root mean squared error of the last episode (at most 2.5), mean" in text
    assert "at most" not in table(Results(study(), Score()))


def test_negative_numbers_have_a_minus_sign_and_are_sorted_by_their_value() -> None:
    rows = [run(s, [-2.5, -1.5], step_size=5e-5) for s in (0, 1)]
    row = table_of(Results(frame(rows), Score())).rows[0]
    told = dict(zip(HEAD, row, strict=True))
    assert told["step size"] == "5 × 10⁻⁵"
    assert told["score"].startswith("−2 ±")
    values = [cell.value for cell in row if isinstance(cell, NumberCell)]
    assert values == [5e-5, -2.0, -2.0, -1.5]


def mutated(manifest: dict[str, Any], chance: random.Random) -> bytes:
    """Fields replaced, left out or buried deeply; or bytes changed or cut off."""
    fields = dict(manifest)
    for _ in range(chance.randint(0, 2)):
        name = chance.choice([*fields, "odd"])
        if chance.random() < 0.2:
            fields.pop(name, None)
        elif name == "machine" and chance.random() < 0.7:
            fields[name] = {**manifest["machine"], "process": chance.choice(ODD)}
        else:
            fields[name] = chance.choice(ODD)
    text = bytearray(json.dumps(fields).encode())
    kind = chance.random()
    if kind < 0.3:
        for _ in range(chance.randint(1, 4)):
            text[chance.randrange(len(text))] = chance.randrange(256)
    elif kind < 0.4:
        del text[chance.randrange(len(text)) :]
    elif kind < 0.45:
        depth = chance.choice((10, 100_000))
        text = bytearray(b'{"study": ' + b"[" * depth + b"]" * depth + b"}")
    return bytes(text)


@pytest.mark.parametrize("count", [300, pytest.param(5000, marks=pytest.mark.slow)])
def test_every_manifest_is_a_line(
    count: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    chance = random.Random(count)  # noqa: S311  (no secret)
    monkeypatch.setattr(tables, "RUNS", count)
    whole = Manifest.begin("mine", tmp_path).write(tmp_path / "runs")
    manifest = json.loads(whole.read_text())
    whole.unlink()
    for number in range(count):
        (tmp_path / "runs" / f"{number:06}.json").write_bytes(mutated(manifest, chance))
    head, *lines = map(printable, tables.status_lines(tmp_path, []))
    assert head == f"{tmp_path}: 0 cells in 0 files"
    assert len(lines) == count
    refused = sum("cannot be read: " in line for line in lines)
    for line in lines:
        assert line.isprintable()
        assert len(line) < 300
    with capsys.disabled():
        print(f"\n{count} manifests, {refused} of them cannot be read")
    assert count // 4 < refused < count


def test_a_page_names_the_last_run_that_computed_something(tmp_path: Path) -> None:
    for day, computed in ((1, 4), (2, 0)):
        begun = Manifest(study="mine", command=["preftd"], started=f"2026-01-0{day}T00:00:00+00:00")
        over = replace(begun, ended=begun.started.replace(":00+", ":07+"))
        replace(over, state="finished", computed=computed).write(tmp_path / "runs")
    assert provenance(tmp_path).runs == [("mine", "2026-01-01 00:00:00", "7 s", "finished")]


def test_a_file_with_a_name_that_steers_the_terminal_is_shown_with_escapes(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / os.fsdecode(b"\x1b[2J\xff.json")).write_text("{}")
    (line,) = list(tables.status_lines(tmp_path, []))[1:]
    assert printable(line) == r"  \x1b[2J\udcff.json cannot be read: it has no study."
