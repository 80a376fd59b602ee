"""The sums of a log are those of the learner; parts, pieces and fills change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from logs.made_logs import first_part, gappy, settings_of
from preftd import ETD, PTD, TD, LeastSquaresLearner, tasks, theory
from preftd._src.logs import encoding, table
from preftd._src.logs.first_pass import add_up, part_sums
from preftd._src.logs.solving import solve, solved
from preftd.logs import LogColumns, fit

RULES = {"td": TD(), "etd": ETD(1.0), "ptd": PTD()}
CASES: list[dict[str, Any]] = [
    {},
    {"preference": "quality"},
    {"preference": "quality", "rho": "rho"},
    {"preference": "age:2", "fill": "mean"},
    {"preference": "missing:a:1", "reward_is": "with"},
    {"discount": "quality", "preference": 0.7},
    {"episode": None, "terminated": None, "order": "t"},
]


@pytest.mark.parametrize("named", CASES, ids=str)
def test_sums_are_those_of_the_learner(named: dict[str, Any], tmp_path: Path) -> None:
    settings, plan = settings_of(gappy(), tmp_path, rules=tuple(RULES), **named)
    sums = part_sums(settings, plan.parts[0])["sums"].sum(axis=2)
    experience, beta, final_beta = first_part(settings, plan)
    assert len(plan.parts) == 1
    for a, rule in enumerate(RULES.values()):
        learner = LeastSquaresLearner(experience.size, rule, regularisation=1e-3)
        learner.learn(experience, beta=beta, final_beta=final_beta)
        found = solved(sums[0, a], 1e-3)[:, 0]
        assert found == pytest.approx(learner.weights, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("named", CASES[1:5:3] + CASES[-1:], ids=str)
def test_parts_and_pieces_change_nothing(
    named: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, plan = settings_of(gappy(), tmp_path, rules=("td0", "etd"), **named)
    whole = part_sums(settings, plan.parts[0])
    monkeypatch.setattr(table, "CHUNK", 37)
    monkeypatch.setattr(encoding, "BLOCK", 4)
    for rows in (90, 333):
        settings, plan = settings_of(gappy(), tmp_path, rows, ("td0", "etd"), **named)
        assert len(plan.parts) > 1
        total = add_up([part_sums(settings, part) for part in plan.parts])
        for name, array in whole.items():
            assert total[name] == pytest.approx(array, rel=1e-10, abs=1e-10), name


def test_several_cumulants_and_discounts_are_each_as_if_alone(tmp_path: Path) -> None:
    both, plan = settings_of(gappy(), tmp_path, reward=["r", "s"], discount=[0.5, 0.9])
    found = solve(both, part_sums(both, plan.parts[0]))
    for q, (discount, reward) in enumerate([(0.5, "r"), (0.5, "s"), (0.9, "r"), (0.9, "s")]):
        log = gappy().with_columns(pl.col("s").fill_null(0.0))
        one, plan = settings_of(log, tmp_path, reward=reward, discount=discount)
        alone = solve(one, part_sums(one, plan.parts[0]))
        assert found.whole[..., q] == pytest.approx(alone.whole[..., 0], rel=1e-10)
        assert found.held_out[..., q] == pytest.approx(alone.held_out[..., 0], rel=1e-10)
        assert found.mean[q] == pytest.approx(alone.mean[0])


def test_weights_without_a_fold_are_those_of_the_other_episodes(tmp_path: Path) -> None:
    settings, plan = settings_of(gappy(), tmp_path)
    sums = part_sums(settings, plan.parts[0])["sums"]
    held_out = solve(settings, part_sums(settings, plan.parts[0])).held_out
    for fold in range(3):
        others = sums[0, 0].sum(axis=0) - sums[0, 0, fold]
        assert held_out[0, fold] == pytest.approx(solved(others, 1e-6, True), rel=1e-8)


def test_the_fill_has_no_part_in_preferential_weights(tmp_path: Path) -> None:
    log = gappy()
    weights: dict[str, list[Any]] = {"ptd": [], "td": []}
    for fill in ("last", "mean", "zero"):
        for rule, found in weights.items():
            settings, plan = settings_of(log, tmp_path, rules=(rule,), fill=fill)
            found.append(solve(settings, part_sums(settings, plan.parts[0])).whole)
    first, *others = weights["ptd"]
    assert all((other == first).all() for other in others)
    assert np.abs(weights["td"][0] - weights["td"][2]).max() > 0.01


def test_least_squares_approaches_the_fixed_point(tmp_path: Path) -> None:
    task = tasks.make("double_corridor", length=3)
    taken = task.sampler(seed=1).episodes(20_000)
    names = [f"x{i}" for i in range(taken.size)]
    log = pl.DataFrame(dict(zip(names, taken.features().T, strict=True))).with_columns(
        r=taken.reward, end=taken.is_last, seen=taken.observable
    )
    columns = LogColumns(
        names, "r", float(taken.discount_tp1.max()), terminated="end", preference="seen",
        constant=False,
    )  # fmt: skip
    found = fit(log, columns, tmp_path, rules=["td", "ptd"], predictions=False)
    for a, rule in enumerate((TD(), PTD())):
        exact = theory.fixed_point(task.process, task.features, rule, task.observable)
        assert found.encoding.raw(found.weights[a])[:, 0] == pytest.approx(exact, abs=0.1)


@pytest.mark.parametrize("when", ["after", "with"])
def test_a_missing_reward_cuts_the_episode(when: str, tmp_path: Path) -> None:
    """As if each piece were an episode of its own."""
    log = gappy(gaps=0.0).with_columns(
        r=pl.when(pl.int_range(pl.len()) % 17 == 11).then(None).otherwise("r")
    )
    missing = log["r"].is_null()
    begins = missing if when == "with" else missing.shift(1, fill_value=False)
    pieces = log.with_columns(
        id=pl.col("id") * 1000 + begins.cum_sum(), r=pl.col("r").fill_null(7.0)
    )
    named: dict[str, Any] = {"reward_is": when, "preference": 1.0}
    found, plan = settings_of(log, tmp_path / "cut", missing_reward="cut", **named)
    assert plan.cuts == missing.sum()
    pieces = pieces.with_columns(end=pl.col("end") & ~missing)
    other, by_hand = settings_of(pieces, tmp_path / "ends", **named)
    sums = [part_sums(s, p.parts[0]) for s, p in ((found, plan), (other, by_hand))]
    total = [one["sums"].sum(axis=2) for one in sums]
    assert total[0] == pytest.approx(total[1], rel=1e-9)
