"""Claims as users see them: the table and the command."""

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from commands import complaint, printed
from commands import run as command
from made_runs import frame
from made_runs import run as run_of
from paper.made_claims import World, made
from preftd._src.arrays import InputError
from preftd._src.experiments import progress
from preftd._src.experiments.measures import Score
from preftd._src.experiments.progress import followed
from preftd._src.experiments.results import Results
from preftd._src.paper.claim import Case, Finding, Region
from preftd._src.paper.contents import CLAIMS
from preftd._src.paper.grids.studies import FEATURE_NET, SEEDS
from preftd._src.paper.order import Order
from preftd._src.paper.summary import (
    ClaimAnswer,
    claim_lines,
    details,
    effect_text,
    few_seeds,
    interval_text,
    primary,
    table,
)
from preftd._src.paper.walk.studies import BY_BETA
from preftd.experiments import Here, run


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one study of the walk, of two seeds."""
    out = tmp_path_factory.mktemp("results")
    run(BY_BETA.study().with_seeds(2), out, executor=Here())
    return out


def test_the_table_holds_every_claim_with_its_words() -> None:
    rows = [ClaimAnswer(claim, claim.test(made(World()))) for claim in CLAIMS.values()]
    text = table(rows)
    head, *below = text.split("\n\n", 1)[0].splitlines()
    assert head.split() == ["claim", "effect", "interval", "claimed", "verdict"]
    assert [line.split()[0] for line in below[1:]] == list(CLAIMS)
    measured = [line for line in below[1:] if CLAIMS[line.split()[0]].studies]
    assert {line.split()[-1] for line in measured} == {"reproduced", "reproduced*"}
    flat = re.sub(r"\s+", " ", text.replace("-\n    ", "-"))
    for claim in CLAIMS.values():
        assert claim.statement in flat
        assert claim.because in flat
    assert max(map(len, text.splitlines())) <= 110


def test_the_verdict_of_the_table_is_that_of_the_finding() -> None:
    claim, results = CLAIMS["limit_reached"], dict(made(World()))
    for study in claim.studies:
        worse = pl.col("error").list.eval(pl.element() * 10)
        results[study] = replace(results[study], runs=results[study].runs.with_columns(worse))
    line = table([ClaimAnswer(claim, claim.test(results))]).splitlines()[2]
    assert line.split("  ")[0] == "limit_reached"
    assert line.endswith("not reproduced")


def test_it_says_in_how_many_cases_a_claim_holds() -> None:
    cases = (Case("a", 2, 1.5, 3), Case("b", 1, 0.5, 1.5), Case("c", float("inf"), 0, float("inf")))
    row = ClaimAnswer(CLAIMS["limit_reached"], Finding("a ratio", Region(low=1), cases))
    measured = list(details(row))[1]
    assert measured == (
        "Measured: a ratio, from 1.00 to 2.00; reproduced in 1 of 3 cases, the weakest is c."
    )
    alone = ClaimAnswer(CLAIMS["limit_reached"], Finding("a ratio", Region(low=1), cases[:1]))
    assert list(details(alone))[1] == "Measured: a ratio."
    averages = (Case("x over y", 2, 1.5, 3), Case("", 3, 2.5, 3.5))
    many = ClaimAnswer(CLAIMS["limit_reached"], Finding("a ratio", Region(low=1), cases, averages))
    told = "On average: x over y 2.00 [1.50, 3.00], 3.00 [2.50, 3.50]: reproduced."
    assert list(details(many))[2] == told


def test_a_primary_claim_says_its_outcome_and_a_negligible_effect_is_called_so() -> None:
    claim = CLAIMS["semi_linear_ptd_best"]
    nearest = "PTD over ETD-variable"
    cases = (
        *(Case(f"PTD over TD(λ), {name}", 0.9, 0.8, 0.95) for name in "ab"),
        *(Case(f"{nearest}, {name}", 0.999, 0.9985, 0.9995) for name in "ab"),
    )
    average = Case(nearest, 0.95, 0.92, 0.98)
    row = ClaimAnswer(claim, Finding("error", Region(high=1), cases, average=average))
    assert list(details(row))[-1] == (
        "As one average: holds: 0.950 times [0.920, 0.980], error, PTD over ETD-variable (claimed "
        "< 1); mean of 2 cases; the nearest of 2 comparisons."
    )
    assert table([row]).splitlines()[2].endswith("  reproduced*")
    some = replace(row.finding, cases=(*cases, Case("c", 1.1, 1.05, 1.2)))
    outcome, more, _, measured = primary(ClaimAnswer(claim, some))
    assert outcome + more == "holds on average, not in every case (4 of 5)"
    assert measured.endswith("; 1 case contradicts it.")
    hardly = replace(row.finding, average=Case("", 0.999, 0.998, 0.9995))
    outcome, more, *_ = primary(ClaimAnswer(claim, hardly))
    assert outcome + more == "holds, by less than 1 %"


@pytest.mark.parametrize(
    ("case", "effect", "interval"),
    [
        (Case("", 1.00062, 1.00031, 1.00092), "1.00062", "[1.00031, 1.00092]"),
        (Case("", -0.409, -0.435, -0.382), "−0.409", "[−0.435, −0.382]"),
        (Case("", 25.49, 16.3, 39.8), "25", "[16, 40]"),
        (Case("", 1.0, 1.0, 1.0), "1.00", "[1.00, 1.00]"),
        (Case("", float("inf"), float("-inf"), float("inf")), "unknown", "[−∞, ∞]"),
        (Case("", 0.0031, 9.04e-9, 1071.4), "0.0031", "[9 × 10⁻⁹, 1071]"),
    ],
)
def test_numbers_have_the_digits_that_their_interval_gives(
    case: Case, effect: str, interval: str
) -> None:
    assert effect_text(case) == effect
    assert interval_text(case) == interval


def test_nothing_is_said_of_seeds_if_all_are_there() -> None:
    rows = [run_of(seed, [1.0], stage="report") for seed in range(SEEDS)]
    all_of_them = {FEATURE_NET: Results(frame(rows), Score())}
    assert not few_seeds(all_of_them)
    fewer = {FEATURE_NET: Results(frame(rows[1:]), Score())}
    assert "on 49 of 50 seeds" in few_seeds(fewer)
    on_file = pl.when(pl.col("seed") > 3).then(pl.lit("on file, run 1")).otherwise("cell")
    quick = {FEATURE_NET: Results(frame(rows).with_columns(on_file.alias("cell")), Score())}
    assert "50 seeds, 4 of them recomputed here" in few_seeds(quick)


def test_claims_are_told_from_what_is_stored(stored: Path) -> None:
    name = "walk_ptd_beta_0_learns_nothing"
    before = sorted((stored / "cells").iterdir())
    text = printed("claims", name, "--out", stored, "--seeds", "2")
    assert re.search(rf"{name} +1\.00 +\[1\.00, 1\.00\] +0\.909 to 1\.1 +reproduced", text)
    assert sorted((stored / "cells").iterdir()) == before, "nothing is computed"
    assert printed("claims", name, "--out", stored, "--seeds", "2") == text, "recalled"


def test_what_is_missing_is_told_and_how_to_compute_it(stored: Path) -> None:
    names = ("walk_ptd_beta_0_learns_nothing", "walk_ptd_better_than_td")
    done = command("claims", *names, "--out", stored, "--seeds", "2")
    assert done.returncode == 2
    assert "walk_ptd_beta_0_learns_nothing" in done.stdout
    assert "walk_ptd_better_than_td" not in done.stdout
    assert done.stderr == (
        "preftd: 1 of 2 claims cannot be tested, as results are missing of walk by lambda: "
        f"compute them with `preftd reproduce --out {stored} --seeds 2`.\n"
    )


def test_a_study_of_fewer_seeds_counts_as_missing(stored: Path) -> None:
    lines = claim_lines(["walk_ptd_best_above_1"], Order(stored))
    with pytest.raises(InputError, match="missing of walk by beta"):
        list(lines)


def test_nothing_is_stored_where_there_is_nothing(tmp_path: Path) -> None:
    code, said = complaint("claims", "limit_reached", "--out", tmp_path / "none")
    assert code == 2
    assert "corridor to the limit, double_corridor to the limit" in said
    assert not (tmp_path / "none").exists()


def test_a_wrong_claim_suggests_the_nearest() -> None:
    code, said = complaint("claims", "limit_reache")
    assert code == 2
    assert "did you mean 'limit_reached'?" in said


def test_progress_is_shown_of_what_takes_longer_and_ends_if_it_is_stopped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(followed("abc", "claims")) == ["a", "b", "c"]
    assert not capsys.readouterr().err
    monkeypatch.setattr(progress, "EVERY", -1.0)
    assert list(followed("abc", "claims")) == ["a", "b", "c"]
    first, *_, last = capsys.readouterr().err.splitlines()
    assert first == "claims: 0 of 3 claims"
    assert last.startswith("claims: 3 of 3 claims")
    items = followed("abc", "claims")
    assert [next(items), next(items)] == ["a", "b"]
    items.close()
    assert "1 of 3 claims" in capsys.readouterr().err
