"""A module takes part in a study: the same results for the same seed, with other learners."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from experiments.small_studies import run_here
from learners.network_cases import steps_of
from preftd import PTD, TD, InputError, Linear, Network, Study, evaluate, tasks
from preftd.experiments import run
from preftd.learners import Decreasing
from preftd.preferences import Observability, Signal
from preftd.torch import TorchModule
from pytorch.module_cases import tanh_units

CORRIDOR = tasks.make("corridor", length=3)


def with_dropout(size: int) -> nn.Module:
    return nn.Sequential(nn.Linear(size, 4), nn.Dropout(0.5), nn.Linear(4, 1))


def one_weight_each(size: int) -> nn.Module:
    """A linear function from 0, as `Linear` learns it."""
    layer = nn.Linear(size, 1, bias=False).double()
    nn.init.zeros_(layer.weight)
    return layer


@pytest.mark.parametrize("view", ["backward", "held"])
@pytest.mark.parametrize("rule", [TD(), PTD()])
def test_a_linear_module_has_the_errors_of_linear_learning(view: str, rule: Any) -> None:
    given = (CORRIDOR, rule, Observability(0.9, 0.2), [0.05, 0.2], 5, 2)
    one = evaluate(*given, learner=Linear(view))
    other = evaluate(*given, learner=TorchModule(one_weight_each, view))
    np.testing.assert_allclose(other.errors, one.errors, rtol=1e-10)


def test_threads_do_not_draw_each_others_random_numbers() -> None:
    given = CORRIDOR, PTD(), Observability(), [0.1], 5, 8
    alone, together = (
        evaluate(*given, learner=TorchModule(with_dropout), workers=workers) for workers in (1, 4)
    )
    np.testing.assert_array_equal(together.errors, alone.errors)


def study() -> Study:
    return Study(
        name="modules",
        tasks=CORRIDOR,
        rules=[PTD()],
        preferences=Observability(),
        learners=[Network(4, "held"), TorchModule(tanh_units, "held", name="tanh")],
        step_sizes=[0.01, 0.1],
        episodes=3,
        seeds=2,
    )


def test_a_study_with_modules_beside_networks(tmp_path: Path) -> None:
    found = [run_here(study(), tmp_path / str(i)).bars() for i in range(2)]
    assert found[0]["learner"].to_list() == ["4 units, held", "tanh, held"]
    assert found[0].equals(found[1])


@pytest.mark.slow  # a worker loads torch; docs/torch.md has one in every run
def test_a_worker_finds_the_same(tmp_path: Path) -> None:
    worker = run(study(), tmp_path / "worker", workers=1)
    assert worker.bars().equals(run_here(study(), tmp_path / "here").bars())


@pytest.mark.parametrize("factory", [tanh_units, with_dropout])
def test_a_seed_governs_everything(factory: Any) -> None:
    steps = steps_of(CORRIDOR.sampler(0).episodes(4), PTD(), Observability())
    found = []
    for seed, noise in ((1, 0), (1, 5), (2, 0)):
        torch.manual_seed(noise)
        before = torch.get_rng_state()
        batch = TorchModule(factory, "backward").start(3, [0.1, 0.1], seed)
        found.append(batch.learn(steps, CORRIDOR.scored))
        assert torch.equal(torch.get_rng_state(), before)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0][:, 0], found[0][:, 1])
    assert not np.array_equal(found[0], found[2])


def test_random_numbers_go_on_from_piece_to_piece() -> None:
    steps = steps_of(CORRIDOR.sampler(0).episodes(6), PTD(), Observability())
    cut = list(steps.episodes())[2].stop
    pieces = [steps.part(slice(0, cut)), steps.part(slice(cut, None))]
    whole, parted = (TorchModule(with_dropout, "held").start(3, [0.1], 0) for _ in range(2))
    found = np.concatenate([parted.learn(piece, CORRIDOR.scored) for piece in pieces])
    np.testing.assert_array_equal(found, whole.learn(steps, CORRIDOR.scored))


def test_what_diverges_has_infinite_errors_from_there_on() -> None:
    steps = steps_of(CORRIDOR.sampler(0).episodes(6), TD(), Observability())
    batch = TorchModule(tanh_units, "backward").start(3, [0.01, 1e12], 0)
    errors = batch.learn(steps, CORRIDOR.scored)
    assert np.isfinite(errors[:, 0]).all()
    assert np.isinf(errors[-1, 1])
    assert np.isinf(batch.learn(steps, CORRIDOR.scored)[:, 1]).all()


class Value(Signal):
    """Watches the learner."""

    watches_learner = True

    def at(self, visit: Any, memory: Any) -> tuple[float, Any]:
        return 1 / (1 + abs(visit.value)), memory


def test_a_signal_may_watch_a_module_in_a_study() -> None:
    given = (CORRIDOR, PTD(), Value(), [0.1], 3, 2)
    one = evaluate(*given, learner=Linear())
    other = evaluate(*given, learner=TorchModule(one_weight_each))
    np.testing.assert_allclose(other.errors, one.errors, rtol=1e-10)


def test_bad_specifications_are_refused() -> None:
    with pytest.raises(InputError, match="give a function of size"):
        TorchModule(tanh_units(3))
    with pytest.raises(InputError, match="view"):
        TorchModule(tanh_units, "forward")
    with pytest.raises(InputError, match="do not change"):
        TorchModule(tanh_units, "backward").start(3, [Decreasing(0.1)], 0)
    with pytest.raises(InputError, match=r"give a torch\.nn\.Module"):
        TorchModule(lambda size: size, "held").start(3, [0.1], 0)  # type: ignore[arg-type,return-value]
