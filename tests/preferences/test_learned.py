"""Laws of learned preferences."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from preferences.made_streams import geometric, of_task
from preftd import (
    PTD,
    InputError,
    LeastSquaresLearner,
    Linear,
    LinearLearner,
    NetworkLearner,
    evaluate,
    tasks,
)
from preftd._src.arrays import Dense, Vector
from preftd._src.paper.learned.faults import bursts
from preftd._src.preferences.learned.memory import ATOMS, CLUSTERS, size_of
from preftd._src.preferences.learned.past import LINE
from preftd.experience import Experience, Visit
from preftd.preferences import Learned

CORRIDOR = tasks.make("corridor", length=5)
CASES = {
    "exact": of_task(CORRIDOR, 60),
    "aliased": of_task(CORRIDOR, 60, aliased=True),
    "jitter": of_task(CORRIDOR, 60, jitter=0.05),
    "aliased jitter": of_task(
        tasks.make("double_corridor", length=3), 40, aliased=True, jitter=0.05
    ),
    "geometric": geometric(60, jitter=0.05),
}
every_case = pytest.mark.parametrize("name", CASES)


def stream(name: str) -> Experience:
    return CASES[name](0).experience


def changed(experience: Experience, x: Dense) -> Experience:
    """The same episodes with other observations."""
    ends = np.array(experience.is_last)
    return Experience.from_log(x, experience.reward, discount=1.0, terminated=ends)


def rows(x: Dense) -> Experience:
    """Observations in episodes of 50, shape (steps, numbers)."""
    ends = np.arange(len(x)) % 50 == 49
    return Experience.from_log(x, np.zeros(len(x)), discount=0.9, terminated=ends)


def step_by_step(experience: Experience, memory: Any = None) -> tuple[Vector, Any]:
    betas = np.empty(len(experience))
    for t in range(len(experience)):
        betas[t], memory = Learned().step(experience.visit(t), memory)
    return betas, memory


@every_case
def test_one_step_at_a_time_is_the_same_as_a_stream_to_the_bit(name: str) -> None:
    betas, memory = Learned().stream(stream(name))
    found, remembered = step_by_step(stream(name))
    assert np.array_equal(found, betas)
    assert np.array_equal(np.asarray(remembered), np.asarray(memory))


@every_case
def test_pieces_are_the_same_as_the_whole_to_the_bit(name: str) -> None:
    whole = stream(name)
    betas, memory = Learned().stream(whole)
    first, between = Learned().stream(whole[:131])
    second, after = step_by_step(whole[131:200], between)
    third, last = Learned().stream(whole[200:], np.asarray(after))
    assert np.array_equal(np.concatenate([first, second, third]), betas)
    assert np.array_equal(np.asarray(last), np.asarray(memory))


@every_case
def test_what_comes_later_does_not_change_what_was_decided(name: str) -> None:
    whole = stream(name)
    betas = Learned().stream(whole)[0]
    x = whole.features()
    x[150:] = x[150:][::-1]
    assert np.array_equal(Learned().stream(changed(whole, x))[0][:150], betas[:150])


def test_an_old_memory_stays_what_it_was() -> None:
    noise = np.random.default_rng(0).standard_normal((LINE + 300, 2)).round(1)
    visits = [Visit(x, t % 7 == 0) for t, x in enumerate(noise)]
    memories: list[Any] = [None]
    betas = []
    for visit in visits:
        beta, memory = Learned().at(visit, memories[-1])
        betas.append(beta)
        memories.append(memory)
    saved = {t: np.asarray(memories[t]) for t in (1, 500, LINE - 1, LINE, LINE + 1, LINE + 200)}
    for t, before in saved.items():
        again, after = Learned().at(visits[t], memories[t])
        assert again == betas[t]
        assert np.array_equal(np.asarray(after), np.asarray(memories[t + 1]))
        assert np.array_equal(np.asarray(memories[t]), before)
        other = Learned().at(Visit(np.array([9.0, 9.0]), False), memories[t])[1]
        assert not np.array_equal(np.asarray(other), np.asarray(memories[t + 1]))
    for copied in (copy.deepcopy(memories[500]), pickle.loads(pickle.dumps(memories[500]))):  # noqa: S301
        assert np.array_equal(np.asarray(copied), saved[500])


def test_a_learner_saves_it_and_continues_to_the_bit() -> None:
    whole = stream("jitter")
    learner = LinearLearner(3, PTD(), 0.1, view="held")
    learner.learn(whole[:140], Learned())
    other = LinearLearner(3, PTD(), 0.1, view="held")
    other.load_state_dict(learner.state_dict())
    for one in (learner, other):
        one.learn(whole[140:], Learned())
    assert np.array_equal(learner.weights, other.weights)
    kept = learner.state_dict()["preference_memory"]
    assert len(Learned().explain(kept).cells) == 3


def test_networks_least_squares_and_studies_use_it() -> None:
    whole = stream("exact")
    network = NetworkLearner(3, PTD(), 0.01, units=4, view="held")
    for learner in (network, LeastSquaresLearner(3, PTD())):
        learner.learn(whole[:140], Learned())
        learner.learn(whole[140:], Learned())
        kept = learner.state_dict()["preference_memory"]
        assert np.array_equal(kept, np.asarray(Learned().stream(whole)[1]))
    found = evaluate(CORRIDOR, PTD(), Learned(), [0.1], 60, 2, learner=Linear("held"), workers=1)
    assert found.errors[..., -1].max() < 0.5


def test_a_refused_step_leaves_the_memory_as_it_was() -> None:
    whole = stream("exact")
    learner = LinearLearner(3, PTD(), 0.1, view="held").learn(whole[:140], Learned())
    before = learner.state_dict()["preference_memory"]
    with pytest.raises(InputError, match="final_beta"):
        learner.learn(whole[140:], Learned(), final_beta=2.0)
    assert np.array_equal(learner.state_dict()["preference_memory"], before)


SPREAD = np.array([2.0**-20, 1.0, 2.0**30])
TURN = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
COLUMNS: dict[str, Callable[[Dense], Dense]] = {
    "scales": lambda x: x * SPREAD,
    "offsets": lambda x: np.column_stack([x, np.full(len(x), 7.5)]),
    "a constant before": lambda x: np.column_stack([np.full(len(x), 7.5), x]),
    "copies": lambda x: np.column_stack([x, x[:, 1], -4 * x[:, 0], x]),
    "copies in other units": lambda x: np.column_stack([x, 3.3 * x[:, 1] + 0.7]),
}


@pytest.mark.parametrize("change", COLUMNS)
@every_case
def test_units_constants_and_copies_do_not_matter(name: str, change: str) -> None:
    whole = stream(name)
    x = whole.features()[:, :3]
    betas = Learned().stream(changed(whole, x))[0]
    assert betas.any()
    assert np.array_equal(Learned().stream(changed(whole, COLUMNS[change](x)))[0], betas)


@pytest.mark.parametrize("name", ["exact", "aliased"])
def test_rotations_and_offsets_of_exact_observations_change_nothing(name: str) -> None:
    whole = stream(name)
    betas, x = Learned().stream(whole)[0], whole.features()
    for other in (x @ TURN, 1e-6 * x @ TURN + 1):
        assert np.array_equal(Learned().stream(changed(whole, other))[0], betas)


def test_no_change_that_is_one_to_one_changes_what_repeats_exactly() -> None:
    case = CASES["aliased"](0)
    x = case.experience.features()
    for other in (x**3, np.exp(x @ TURN), x[:, ::-1]):
        betas = Learned().stream(changed(case.experience, other))[0]
        assert np.array_equal(betas, Learned().stream(case.experience)[0])


def test_a_rotation_of_observations_that_jitter_changes_little() -> None:
    whole = stream("jitter")
    turned = Learned().stream(changed(whole, whole.features() @ TURN))[0]
    assert (turned == Learned().stream(whole)[0]).mean() > 0.97


@pytest.mark.parametrize("size", [1, 2, 64, 256])
def test_observations_of_any_size_recur(size: int) -> None:
    rng = np.random.default_rng(size)
    places = rng.standard_normal((4, size))
    which, hidden = rng.integers(4, size=600), rng.random(600) < 0.5
    for jitter in (0.0, 1e-4):
        x = places[which] + jitter * rng.standard_normal((600, size))
        x[hidden] = rng.standard_normal((hidden.sum(), size))
        log = Experience.from_log(
            x, np.zeros(600), discount=1.0, terminated=np.arange(600) % 20 == 19
        )
        late = Learned().stream(log)[0][300:]
        assert late[~hidden[300:]].mean() > 0.98
        assert late[hidden[300:]].mean() < 0.02


def chain(following: Dense, steps: int, seed: int) -> Experience:
    """A walk by transition probabilities, shape (states, states); each state shows its number."""
    rng, states = np.random.default_rng(seed), [0]
    for _ in range(steps - 1):
        states.append(int(rng.choice(len(following), p=following[states[-1]])))
    ends = np.arange(steps) % 50 == 49
    return Experience.from_log(
        np.array(states, float)[:, None], np.zeros(steps), discount=1.0, terminated=ends
    )


def test_markov_chains_are_trusted_for_good() -> None:
    cycle = np.roll(np.eye(5), 1, axis=1)
    rng = np.random.default_rng(0)
    for seed, following in enumerate([cycle, *rng.dirichlet(np.full(6, 0.3), (3, 6))]):
        cells = Learned().explain(Learned().stream(chain(following, 8000, seed))[1]).cells
        assert all(cell.is_trusted for cell in cells)
        assert len(cells) >= 5


def test_a_memoryless_cell_with_many_successors_is_trusted() -> None:
    rng = np.random.default_rng(0)
    x = np.where(rng.random(20_000) < 0.6, 0, rng.integers(1, 100, 20_000)).astype(float)
    assert Learned().stream(rows(x[:, None]))[0][x == 0].mean() > 0.95


def test_what_is_distrusted_or_new_among_counts_and_sparse_numbers_is_no_noise() -> None:
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(40, 0.15), 8)[rng.integers(8, size=2000)]
    counts = np.array([rng.multinomial(12, share) for share in words], float)
    sparse = rng.standard_normal((2000, 6)) * (rng.random((2000, 6)) < 0.15)
    kinds = np.concatenate([np.eye(n)[rng.integers(n, size=2000)] for n in (3, 4, 5)], axis=1)
    mixed = np.concatenate([kinds, rng.standard_normal((2000, 2))], axis=1)
    for x in (counts, sparse, mixed):
        assert Learned().stream(rows(x))[0].mean() > 0.98


def test_a_sensor_that_sticks_does_not_make_noise_of_what_never_repeats() -> None:
    rng = np.random.default_rng(0)
    angle = np.cumsum(0.4 + 0.1 * rng.standard_normal(4000))
    stuck = bursts(rng, 4000, 0.1, 0.1)
    x = np.column_stack([np.cos(angle), np.sin(angle)])
    x = x[np.maximum.accumulate(np.where(stuck, 0, np.arange(4000)))]
    assert Learned().stream(rows(x))[0][~stuck].mean() > 0.95


def test_a_cell_that_fails_is_distrusted_in_time_and_trusted_again_when_it_recovers() -> None:
    good, bad, steps = 200_000, 8_000, 220_000
    rng, x = np.random.default_rng(0), np.full(steps, 2.0)
    for t in range(1, steps, 2):  # 2 is followed by 0 or 1, for a while by the one of last time
        fails = good <= t < good + bad
        x[t] = x[t - 2] if fails and rng.random() < 0.9 else rng.integers(2)
    log = Experience.from_log(
        x[:, None], np.zeros(steps), discount=0.9, terminated=np.arange(steps) == steps - 1
    )
    tests_of_2 = Learned().stream(log)[0][x == 2.0]
    fail, recover = good // 2, (good + bad) // 2
    assert tests_of_2[:fail].all()
    assert not tests_of_2[fail + 1024 + 100 : recover].any()
    assert tests_of_2[recover + 2 * 1024 :].all()


@pytest.mark.parametrize("jitter", [0.0, 0.02])
def test_a_sensor_that_breaks_after_long_service_is_distrusted_until_it_works_again(
    jitter: float,
) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((6, 4))[rng.integers(6, size=6000)]
    x += jitter * rng.standard_normal(x.shape)
    broken = slice(3000, 5000)
    x[broken] = rng.standard_normal((2000, 4))
    betas = Learned().stream(rows(x))[0]
    assert betas[1000:3000].mean() > 0.98
    assert betas[broken].sum() <= 11
    assert betas[5000:].mean() > 0.98


def missing_columns(rng: np.random.Generator) -> dict[str, Vector]:
    """Columns of 2000 ordinary values."""
    return {
        "numbers": rng.standard_normal(2000),
        "rounded": rng.normal(0.0, 0.5, 2000).round(1),
        "counts": rng.poisson(3.0, 2000).astype(float),
        "categories": rng.integers(6, size=2000).astype(float),
        "temperatures": rng.normal(290.0, 5.0, 2000).round(1),
        "pressures": rng.normal(101325.0, 300.0, 2000),
        "percentages": rng.integers(101, size=2000).astype(float),
        "large counts": rng.poisson(1000.0, 2000).astype(float),
        "years": rng.integers(1990, 2026, size=2000).astype(float),
    }


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("name", missing_columns(np.random.default_rng(0)))
def test_what_stands_for_a_missing_value_is_recognised(name: str, first: bool) -> None:
    rng = np.random.default_rng(0)
    x = np.column_stack([missing_columns(rng)[name], rng.standard_normal((2000, 3))])
    missing = rng.random(2000) < 0.2
    missing[:20] = False
    missing[0] = first
    x[missing, 0] = -999.0
    betas = Learned().stream(rows(x))[0]
    assert betas[missing].sum() <= 2
    assert betas[~missing].mean() > 0.99


@pytest.mark.parametrize("first", ["+--", "-+-+", "+-++", "--+", "-++-"])
def test_missing_values_among_the_first_readings_are_told_from_others(first: str) -> None:
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.normal(290.0, 5.0, 2000), rng.standard_normal((2000, 3))])
    missing = rng.random(2000) < 0.2
    missing[: len(first)] = [one == "-" for one in first]
    x[missing, 0] = -999.0
    betas = Learned().stream(rows(x))[0]
    assert betas[missing].sum() <= 6
    assert betas[~missing].mean() > 0.99


def test_rows_of_missing_values_alone_are_recognised_at_once() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2000, 4))
    missing = rng.random(2000) < 0.2
    missing[:20] = False
    x[missing] = -999.0
    betas = Learned().stream(rows(x))[0]
    assert not betas[missing].any()
    assert betas[~missing].all()


def ordinary_columns(rng: np.random.Generator) -> dict[str, Vector]:
    """Columns of 2000 values that are far from others, or return, and are not missing."""
    positive = rng.random(2000) < 0.4
    return {
        "a rare category": rng.choice([0.0, 0.05, 1.0], 2000, p=[0.6, 0.3, 0.1]),
        "codes": rng.choice([1.0, 2.0, 500.0], 2000, p=[0.5, 0.3, 0.2]),
        "powers of ten": 10.0 ** rng.integers(5, size=2000),
        "large counts": np.floor(rng.pareto(0.7, 2000)),
        "clipped": np.minimum(rng.exponential(10.0, 2000), 40.0),
        "mostly 0": np.where(positive, rng.gamma(2.0, 3.0, 2000), 0.0),
        "0 or large": np.where(positive, 300.0 + rng.gamma(2.0, 3.0, 2000), 0.0),
        "one of two": rng.integers(2, size=2000).astype(float),
        "money": rng.choice([1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0], 2000),
        "time": np.arange(2000) % 50.0,
    }


@pytest.mark.parametrize("name", ordinary_columns(np.random.default_rng(0)))
def test_values_of_ordinary_columns_stand_for_nothing_missing(name: str) -> None:
    rng = np.random.default_rng(0)
    x = np.column_stack([ordinary_columns(rng)[name], rng.standard_normal((2000, 3))])
    assert Learned().stream(rows(x))[0].mean() > 0.998


def test_an_aliased_state_is_found_and_explained() -> None:
    case = CASES["aliased"](0)
    betas, memory = Learned().stream(case.experience)
    found = Learned().explain(memory)
    (bad,) = (cell for cell in found.cells if not cell.is_trusted)
    hidden = case.experience.features()[~case.observable][0]
    assert np.array_equal(bad.observation, hidden)
    assert bad.against_markov > 3
    assert bad.is_exact
    assert bad.visits == (~case.observable)[:-1].sum()
    since = bad.distrusted_since
    assert since is not None
    assert not betas[since + 1 :][~case.observable[since + 1 :]].any()
    assert (np.diff(bad.growth[:, 0]) >= 0).all()
    assert bad.growth[-1, 1] == bad.against_markov
    assert "not since" in str(found)


def test_jitter_is_measured() -> None:
    memory = Learned().stream(stream("jitter"))[1]
    jitter = Learned().explain(memory).jitter
    assert jitter is not None
    assert jitter == pytest.approx(0.05, rel=0.2)


def test_what_is_not_finite_is_not_trusted_and_changes_nothing_else() -> None:
    values = [1.0, np.nan, 2.0, 1.0, np.inf, 2.0, 1.0, np.nan, 2.0]
    memory, betas = None, []
    for t, value in enumerate(values):
        beta, memory = Learned().step(Visit(np.array([value]), t % 3 == 0), memory)
        betas.append(beta)
    assert betas == [1, 0, 1, 1, 0, 1, 1, 0, 1]


def test_memory_is_bounded_and_full_tables_do_no_harm() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(2 * ATOMS, size=12_000).astype(float)
    loose = rng.standard_normal(12_000)
    x = np.where(rng.random(12_000) < 0.7, codes, loose)[:, None]
    log = Experience.from_log(
        x, np.zeros(12_000), discount=1.0, terminated=np.arange(12_000) % 30 == 29
    )
    betas, memory = Learned().stream(log)
    assert np.asarray(memory).shape == (size_of(1),)
    late = np.arange(12_000) >= 9_000
    assert betas[late & (x[:, 0] == codes)].mean() > 0.9
    assert len(Learned().explain(memory).cells) <= ATOMS + CLUSTERS


@pytest.mark.parametrize("spoil", [0, 10, 5000, -1])
def test_a_memory_that_was_changed_is_refused(spoil: int) -> None:
    memory = np.asarray(Learned().stream(stream("exact"))[1])
    memory[spoil] += 1
    for use in (
        lambda: Learned().stream(stream("exact"), memory),
        lambda: Learned().explain(memory),
    ):
        with pytest.raises(InputError, match="memory is"):
            use()


def test_a_memory_of_other_observations_is_refused() -> None:
    memory = Learned().stream(stream("exact"))[1]
    with pytest.raises(InputError, match="3 numbers, but there are 2"):
        Learned().step(Visit(np.zeros(2), True), memory)


def test_evidence_is_drawn() -> None:
    found = Learned().explain(Learned().stream(stream("aliased"))[1])
    axes = found.plot()
    assert len(axes.lines) == len(found.cells) + 1
    legend = axes.get_legend()
    assert legend is not None
    assert {text.get_text() for text in legend.get_texts()} == {"trusted", "distrusted"}
    assert Learned().explain(None).plot().get_legend() is None
