"""Benchmarks of learners compare the same work; tests do not judge the speed."""

import shutil
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from benchmarks import grids, linear, network, online, peers, torch_network
from benchmarks.processes import PEAK, BenchError, run_program
from benchmarks.timing import Contender, MissingError, Times, compete
from preftd._src.learners.network.batch import Network
from preftd._src.learners.network.layers import Parameters
from preftd._src.paper.corridors.studies import METHODS
from preftd._src.paper.grids.studies import NETWORK_STEP_SIZES, WIDTHS
from preftd.rules import Rule
from preftd.tasks import make

STEPS = 300
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is missing")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def tables(lines: Iterator[str]) -> list[list[list[str]]]:
    """The rows of Markdown tables, each with a name and numbers."""
    found = []
    for text in "\n".join(lines).split("\n\n"):
        names, rule, *rows = map(cells, text.splitlines())
        assert rule == ["---", *["---:"] * (len(names) - 1)]
        assert rows
        assert all(len(row) == len(names) for row in rows)
        found.append([names, *rows])
    return found


def number(cell: str) -> float:
    return float(cell.replace(",", ""))


def study(rule: Rule, size: int = 6) -> network.Workload:
    task = make("cross_grid", size=size)
    return network.Workload(
        network.steps_for_rule(task.sampler(seed=0).episodes(3), rule), task.scored
    )


def same(one: Parameters, other: Parameters) -> bool:
    parts = [np.allclose(a, b, rtol=0, atol=1e-9) for a, b in zip(one[:3], other[:3], strict=True)]
    return all(parts) and abs(one.bias - other.bias) < 1e-9


@needs_gcc
@pytest.mark.parametrize("features", linear.FEATURES)
def test_all_linear_contenders_learn_the_same_weights(features: int) -> None:
    weights = {name: c.once() for name, c in linear.vector_contenders(features, STEPS).items()}
    assert np.abs(weights["NumPy"]).max() > 1e-3
    for name in ("ours, 24", "ours, 1"):
        np.testing.assert_allclose(weights[name][:, -1], weights["NumPy"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(weights["C"], weights["NumPy"], rtol=0, atol=1e-9)


def test_the_step_sizes_of_a_pass_are_those_of_single_passes() -> None:
    steps = linear.stream(3, STEPS)
    found = linear.ours(steps, "backward")["ours, 24"].once()
    assert found.shape == (3, 24)
    for lane, alpha in enumerate(linear.STEP_SIZES):
        expected = peers.linear_in_numpy(steps, alpha)
        np.testing.assert_allclose(found[:, lane], expected, rtol=0, atol=1e-9)


@needs_gcc
@pytest.mark.parametrize("rule", network.RULES, ids=lambda rule: rule.name)
def test_all_networks_learn_the_same_weights(rule: Rule) -> None:
    taken = study(rule)
    begin = Network(network.UNITS, "backward").start(36, [1e-4], 0).parameters(0)
    found = network.ours(taken, "backward")
    others = network.peers(taken, "backward", torch_steps=taken.steps.code_t.size)
    expected = others["C"].once()
    assert not same(expected, begin)
    assert same(found["ours, 1"].once(), expected)
    assert same(found["ours, 7"].once(), expected)
    pytest.importorskip("torch")
    assert same(others["torch"].once(), expected)


@pytest.mark.parametrize("rule", network.RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("view", ["forward", "held"])
def test_torch_learns_the_same_weights_in_the_other_views(view: str, rule: Rule) -> None:
    pytest.importorskip("torch")
    taken = study(rule)
    begin = Network(network.UNITS, "backward").start(36, [1e-4], 0).parameters(0)
    [torch] = network.peers(taken, view, torch_steps=taken.steps.code_t.size).values()
    expected = torch.once()
    assert not same(expected, begin)
    found = network.ours(taken, view)
    assert same(found["ours, 1"].once(), expected)
    assert same(found["ours, 7"].once(), expected)


def test_updates_are_counted_step_by_step_and_lane_by_lane() -> None:
    counts = {name: c.updates for name, c in linear.vector_contenders(3, STEPS).items()}
    assert counts == {"ours, 24": 24 * STEPS, "ours, 1": STEPS, "C": STEPS, "NumPy": STEPS}
    taken = study(network.RULES[0])
    steps = taken.steps.code_t.size
    contenders = network.ours(taken, "backward") | network.peers(taken, "backward", torch_steps=50)
    counts = {name: contender.updates for name, contender in contenders.items()}
    assert counts == {"ours, 7": 7 * steps, "ours, 1": steps, "C": steps, "torch": 50}
    assert network.peers(taken, "held", torch_steps=50)["torch"].updates == 50
    assert network.peers(taken, "forward", torch_steps=50)["torch"].updates == steps


@needs_gcc
def test_the_ratios_of_linear_learning_are_those_of_the_times() -> None:
    [names, *rows], [held_names, *held_rows] = tables(linear.table(seconds=0.0, steps=200))
    assert len(rows) == 8
    assert len(held_rows) == len(linear.BETAS) * len(linear.FEATURES)
    for row in held_rows:
        found = dict(zip(held_names, row, strict=True))
        for count in (24, 1):
            slow, fast = (number(found[f"{view}, {count}"]) for view in ("held", "backward"))
            assert number(found[f"held / backward, {count}"]) == pytest.approx(
                slow / fast, rel=0.02
            )
    for row in rows:
        found = dict(zip(names, row, strict=True))
        assert number(found["ours, 24"]) > 0
        assert number(found["ours, 1"]) > 0
    for row in rows[:3]:
        found = dict(zip(names, row, strict=True))
        for name in ("C / ours, 24", "NumPy / ours, 24", "ours, 1 / C"):
            slow, fast = (number(found[part]) for part in name.split(" / "))
            assert number(found[name]) == pytest.approx(slow / fast, rel=0.02)


@needs_gcc
def test_the_table_of_networks_has_a_row_for_each_view_and_rule() -> None:
    pytest.importorskip("torch")
    [[names, *rows]] = tables(network.table(seconds=0.0, size=4, episodes=2))
    views = [f"{v} view, {r.name}" for v in ("backward", "forward", "held") for r in network.RULES]
    assert [row[0] for row in rows] == views
    for row in rows:
        found = dict(zip(names, row, strict=True))
        for name in ("torch / ours, 1", "ours, 1 / C")[: 2 if row[0].startswith("backward") else 1]:
            slow, fast = (number(found[part]) for part in name.split(" / "))
            assert number(found[name]) == pytest.approx(slow / fast, rel=0.02)


def test_the_tables_of_calls_have_times_and_memory() -> None:
    programs = {"nothing": "pass"}
    calls, first, memory = tables(online.table(0.0, programs, programs))
    assert len(calls) == 1 + len(online.calls())
    assert all(number(row[1]) > 0 for row in calls[1:])
    assert 0 < number(first[1][1]) < 60
    assert 0.01 < number(memory[1][1]) < 2


def test_peak_memory_is_that_of_the_process() -> None:
    programs = [f"import numpy as np; kept = np.ones({n})\n{PEAK}" for n in (1, 2**26)]
    peaks = [float(run_program(program)[1]) for program in programs]
    assert peaks[1] - peaks[0] == pytest.approx(0.5, abs=0.05)


def test_the_error_of_a_failed_program_is_one_sentence() -> None:
    with pytest.raises(BenchError, match="failed: ValueError: no luck"):
        run_program("raise ValueError('no luck')")


def test_a_contender_that_cannot_run_says_why_and_the_others_run() -> None:
    def cannot(_: object) -> None:
        raise MissingError("no gcc")

    times = compete({"C": Contender(cannot, 1), "ours": Contender(lambda _: None, 1)}, 0.0)
    assert times.cell("C") == "no gcc"
    assert number(times.cell("ours")) > 0
    assert times.ratio("C", "ours") == ""


@pytest.mark.parametrize(("found", "said"), [(None, "no gcc"), ("false", "gcc failed")])
def test_without_a_compiler_c_says_why(
    found: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.peers.shutil.which", lambda _: found)
    peers._c_loop.cache_clear()
    with pytest.raises(MissingError, match=said):
        peers.linear_in_c(linear.stream(3, 2), 0.1)


def test_without_torch_it_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    torch_network._torch.cache_clear()
    with pytest.raises(MissingError, match="no torch"):
        network.peers(study(network.RULES[0]), "held")["torch"].once()


def test_times_are_the_best_of_each_contender_over_its_updates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The duration of each run: five rounds of one run, each timed by two calls of the clock.
    seconds = [5.0, 4.0, 3.0, 8.0, 6.0]
    looks = iter(np.cumsum([[100.0, 1.0, taken] for taken in seconds]).tolist())
    monkeypatch.setattr("benchmarks.timing.time.perf_counter", lambda: next(looks))
    times = compete({"ours": Contender(lambda _: None, 2)}, 0.0)
    assert times.ns == {"ours": 1.5e9}


def test_a_ratio_is_how_much_longer_the_first_takes() -> None:
    assert Times({"a": 6.0, "b": 1.5}, {}).ratio("a", "b") == "4"


@pytest.mark.slow
def test_a_search_in_torch_is_the_same_work() -> None:
    studies, sizes = grids.seed_workloads("cross_grid", 6), [5e-4, 1e-2]
    for view in torch_network.VIEWS:
        own = grids.ours(studies, view, sizes)
        theirs = grids.torch(studies, view, torch_steps=10**6)
        smallest = min(NETWORK_STEP_SIZES[view]["cross_grid"])
        assert own.updates == len(sizes) * theirs.updates
        found = grids.ours(studies, view, [smallest]).once()
        assert len(found) == len(METHODS) * len(WIDTHS)
        for one, other in zip(found, theirs.once(), strict=True):
            assert same(one, other)


@pytest.mark.slow
def test_searches_of_all_views_and_tasks_are_measured() -> None:
    ((names, *rows),) = tables(grids.table(seconds=0.01, size=4))
    assert names == ["ns per update", "ours", "torch", "torch / ours"]
    assert [row[0] for row in rows] == [
        f"{task}, {view} view"
        for view in ("forward", "backward", "held")
        for task in ("cross_grid", "random_grid")
    ]
    for row in rows:
        ours, torch, ratio = map(number, row[1:])
        assert ratio == pytest.approx(torch / ours, rel=0.02)
