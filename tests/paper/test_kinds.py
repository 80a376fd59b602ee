"""Kinds of streams: their values are exact, and faults are where they are reported."""

import numpy as np
import pytest

from preftd._src.paper.learned.faults import CHANGES, NOISES, Fault, bursts
from preftd._src.paper.learned.kinds import DISCOUNT, NOTHING_WRONG, WRONG, Kind

KINDS = {**NOTHING_WRONG, **WRONG}
COUNT = {True: 200, False: 20}
"""Episodes of kinds whose episodes end, or pieces."""


def test_there_are_as_many_kinds_as_are_promised_and_all_faults_occur() -> None:
    assert len(NOTHING_WRONG) >= 12
    assert len(WRONG) >= 18
    faults = {kind.fault.name for kind in WRONG.values() if kind.fault is not None}
    assert faults == {*NOISES, *CHANGES}
    assert all(kind.fault is None for kind in NOTHING_WRONG.values())


@pytest.mark.parametrize("name", NOTHING_WRONG)
def test_td_errors_of_the_values_are_orthogonal_to_features(name: str) -> None:
    kind = NOTHING_WRONG[name]
    drawn = kind.draw(7, COUNT[kind.ends])
    log, value = drawn.experience, drawn.features @ kind.weights
    ahead = np.append(value[1:], 0.0) * (log.discount_tp1 > 0)
    error = (log.reward + DISCOUNT * ahead - value)[:-1, None] * drawn.features[:-1]
    deviation = error.std(axis=0) / np.sqrt(len(error))
    assert (np.abs(error.mean(axis=0)) < 4.5 * deviation + 1e-12).all()
    wrong = error + 0.1 * value[:-1, None] * drawn.features[:-1]  # the wrong values are noticed
    assert (np.abs(wrong.mean(axis=0)) > 4.5 * deviation).any()


@pytest.mark.parametrize("name", KINDS)
def test_scored_values_are_those_of_features_of_states_that_are_good(name: str) -> None:
    kind = KINDS[name]
    np.testing.assert_allclose(kind.scored.values, kind.scored.dense @ kind.weights)
    assert 0.5 < kind.scored.values.std() < 2.0


def test_no_state_in_fog_is_scored() -> None:
    kind, rng = WRONG["fog in a plane"], np.random.default_rng(0)
    rows = kind.world.rows(rng, np.arange(3000) % 40 == 0)
    inside = np.abs(rows.shown - 0.6).max(axis=1) < 0.3
    foggy = {tuple(row) for row in rows.features[inside]}
    assert 0.2 < inside.mean() < 0.6
    assert foggy.isdisjoint(map(tuple, kind.scored.dense))


@pytest.mark.parametrize("name", WRONG)
def test_what_is_good_is_seen_as_it_is_and_what_is_bad_is_not(name: str) -> None:
    kind = WRONG[name]
    drawn = kind.draw(3, 30 if kind.ends else 3)
    seen, good = drawn.experience.features(), drawn.good
    jitter = 6 * kind.world.jitter
    np.testing.assert_allclose(seen[good], drawn.features[good], rtol=0, atol=jitter)
    away = np.abs(seen - drawn.features).max(axis=1)
    shown = np.asarray(drawn.experience.observable)
    np.testing.assert_array_equal(shown, good.all(axis=1))
    assert (away[~shown] > jitter).mean() > 0.5
    assert 0.3 < shown.mean() < 0.9


def test_nothing_is_hidden_where_nothing_is_wrong() -> None:
    assert all(kind.draw(0, 2).good.all() for kind in NOTHING_WRONG.values())


def test_a_seed_always_gives_the_same_stream_and_another_seed_another() -> None:
    kind = WRONG["noise with memory"]
    one, again, other = (kind.episodes(seed, 5).features() for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, again)
    assert one.shape != other.shape


def test_continuing_kinds_have_no_bounds_but_cuts_that_show_what_comes_next() -> None:
    log = WRONG["ring with noise"].episodes(0, 3)
    cut = np.flatnonzero(log.is_last)
    assert log.discount_tp1.min() == DISCOUNT
    np.testing.assert_array_equal(log.next_features()[cut[:-1]], log.features()[cut[:-1] + 1])


def test_sensors_fail_and_recover_as_often_as_they_are_said_to() -> None:
    bad = bursts(np.random.default_rng(0), 50_000, 0.05, 0.25)
    assert bad.mean() == pytest.approx(1 / 6, abs=0.01)
    began = np.diff(bad.astype(int)) == 1
    assert began.sum() / (~bad).sum() == pytest.approx(0.05, abs=0.005)


def test_a_sensor_that_is_stuck_shows_the_last_good_value() -> None:
    x = np.arange(6.0)[:, None]
    bad = np.array([False, False, True, True, False, True])
    seen = CHANGES["stuck"](np.random.default_rng(0), x, bad)
    assert seen.ravel().tolist() == [0, 1, 1, 1, 4, 4]


def test_a_sensor_that_breaks_does_so_once() -> None:
    fault, x = Fault("wide", between=(0.3, 0.6)), np.random.default_rng(0).random((100, 2))
    good = fault.seen(np.random.default_rng(1), x, x)[1].all(axis=1)
    assert np.flatnonzero(~good).tolist() == [*range(30, 60)]


def test_noise_with_memory_is_near_the_noise_before() -> None:
    noise = NOISES["autoregressive"](np.random.default_rng(0), (20_000, 1)).ravel()
    assert np.corrcoef(noise[1:], noise[:-1])[0, 1] == pytest.approx(0.9, abs=0.01)
    assert noise.std() == pytest.approx(1.0, abs=0.1)


def test_the_name_of_a_kind_says_all_that_it_consists_of() -> None:
    assert len({kind.name for kind in KINDS.values()}) == len(KINDS)


@pytest.mark.parametrize("ends", [True, False])
def test_irrelevant_entries_are_seen_by_preferences_alone(ends: bool) -> None:
    log = Kind(WRONG["irrelevant entry"].world, ends=ends, irrelevant=10.0).episodes(0, 5)
    assert log.observations().shape[1] == log.size + 1
    assert log.observations()[:, -1].std() == pytest.approx(10.0, rel=0.3)
    np.testing.assert_array_equal(log.observations()[:, :-1], log.features())
