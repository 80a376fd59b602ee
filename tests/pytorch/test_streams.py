"""Several streams with shared weights: what each adds is what it would add alone."""

from typing import Any

import pytest
import torch
from torch import nn

from learners.network_cases import RULES, SMOOTH, logged
from preftd import InputError
from preftd.torch import HeldSGD, TraceSGD, stream_values
from pytorch.module_cases import LOOPS, Step, flat, steps_along, two_layers

N, STEPS = 2, 12
OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "backward": ("backward", {}),
    "bounded": ("backward", {"bounded": True}),
    "held": ("held", {}),
    "held, bounded": ("held", {"bounded": True}),
}


def together(module: nn.Module, optimiser: Any, steps: list[Step]) -> None:
    """One step of each stream."""
    column: Any = Step(*zip(*steps, strict=True))  # type: ignore[arg-type]
    numbers = {
        name: torch.tensor(part, dtype=torch.float64)
        for name, part in column._asdict().items()
        if "x" not in name
    }
    if isinstance(optimiser, HeldSGD):
        optimiser.release(numbers["beta"])
    values, gradients = stream_values(module, torch.stack(column.x))
    with torch.no_grad():
        ahead = module(torch.stack(column.x_next))[:, 0]
    delta = numbers["reward"] + numbers["discount"] * ahead - values
    optimiser.step(delta, numbers["decay"], numbers["gain"], gradients)
    if isinstance(optimiser, HeldSGD):
        last = numbers["is_last"]
        optimiser.release(last, last)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("rule", RULES)
def test_streams_add_up_what_each_adds_alone(name: str, rule: str) -> None:
    view, options = OPTIONS[name]
    make, loop = LOOPS[view]
    module, lr = two_layers(7), 0.5 if "bounded" in name else 0.1  # so that the bound binds
    alone = [two_layers(7) for _ in range(N)]
    streams = [list(steps_along(logged(i, 12), SMOOTH, rule))[:STEPS] for i in range(N)]
    many = make(module.parameters(), lr=lr, streams=N, **options)
    single = [make(one.parameters(), lr=lr, **options) for one in alone]
    for steps in zip(*streams, strict=True):
        before = flat(module)
        changes = torch.zeros_like(before)
        # All compute with the same weights; the held view also moves them before gradients.
        if view == "held":
            many.release([step.beta for step in steps])
        after = module.state_dict()
        for one, optimiser, step in zip(alone, single, steps, strict=True):
            one.load_state_dict(dict(zip(one.state_dict(), _unflat(one, before), strict=True)))
            if view == "held":
                optimiser.release(step.beta)
                changes += flat(one) - before
                one.load_state_dict(after)
                step = step._replace(beta=0.0)  # noqa: PLW2901  (it is released)
            start = flat(one)
            loop(one, optimiser, step)
            changes += flat(one) - start
        together(module, many, [step._replace(beta=0.0) for step in steps])
        torch.testing.assert_close(flat(module), before + changes, rtol=1e-10, atol=1e-12)
    assert flat(module).isfinite().all()


def _unflat(module: nn.Module, row: torch.Tensor) -> list[torch.Tensor]:
    parts = torch.split_with_sizes(row, [p.numel() for p in module.parameters()])
    return [part.reshape(p.shape) for part, p in zip(parts, module.parameters(), strict=True)]


@pytest.mark.parametrize("name", [*OPTIONS, "kappa"])
def test_one_stream_is_the_single_optimiser(name: str) -> None:
    view, options = OPTIONS.get(name, ("backward", {"kappa": 2.0}))
    make, loop = LOOPS[view]
    one, other = two_layers(7), two_layers(7)
    other.load_state_dict(one.state_dict())
    single = make(one.parameters(), lr=0.4, **options)
    many = make(other.parameters(), lr=0.4, streams=1, **options)
    for step in steps_along(logged(4)[:16], SMOOTH, "ETD"):
        loop(one, single, step)
        together(other, many, [step])
    torch.testing.assert_close(flat(other), flat(one), rtol=1e-10, atol=1e-12)


def test_streams_need_their_own_gradients() -> None:
    module = two_layers(7)
    optimiser = TraceSGD(module.parameters(), lr=0.1, streams=2)
    with pytest.raises(InputError, match="gradients is missing"):
        optimiser.step(1.0, 0.0, 1.0)
    with pytest.raises(InputError, match=r"gradients\[0\] is not a tensor of shape"):
        optimiser.step(1.0, 0.0, 1.0, [p.detach() for p in module.parameters()])
    with pytest.raises(InputError, match="td_error has shape"):
        optimiser.step(
            [1.0, 2.0, 3.0], 0.0, 1.0, stream_values(module, torch.zeros(2, 7).double())[1]
        )


def test_a_module_that_gives_more_than_a_value_is_refused() -> None:
    with pytest.raises(InputError, match="let it return one for each"):
        stream_values(nn.Linear(2, 2), torch.zeros(3, 2))


def test_frozen_parameters_have_no_gradient() -> None:
    module = two_layers(2)
    module[0].requires_grad_(False)
    _, gradients = stream_values(module, torch.ones(3, 2).double())
    assert [g is None for g in gradients] == [True, True, False, False]
