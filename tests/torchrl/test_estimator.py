"""TorchRL with preferences: equal to its own functions where these take one λ, and right beyond."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import pytest
import torch
from tensordict import TensorDict
from tensordict.nn import (
    ProbabilisticTensorDictModule,
    ProbabilisticTensorDictSequential,
    TensorDictModule,
)
from torchrl.objectives import A2CLoss
from torchrl.objectives.value import GAE
from torchrl.objectives.value.functional import (
    generalized_advantage_estimate,
    td_lambda_return_estimate,
    vec_td_lambda_return_estimate,
)

from preftd._src.arrays import InputError
from preftd.torchrl import PreferenceEstimator

BATCH, STEPS = 3, 20


def data(seed: int = 0) -> Any:
    """Random data of several streams with terminated and truncated episodes, in float64."""
    rng = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(BATCH, STEPS, *shape, generator=rng, dtype=torch.float64)

    drawn = torch.rand(BATCH, STEPS, 1, generator=rng)
    beta = torch.rand(BATCH, STEPS, 2, generator=rng, dtype=torch.float64)
    after = {
        "observation": normal(2),
        "reward": normal(1),
        "done": drawn < 0.3,
        "terminated": drawn < 0.15,
        "beta": beta[..., 1:],
        "state_value": normal(1),
    }
    now = {"observation": normal(2), "state_value": normal(1), "beta": beta[..., :1]}
    for key in ("observation", "state_value", "beta"):
        goes_on = ~after["done"][:, :-1].expand_as(now[key][:, 1:])
        now[key][:, 1:] = torch.where(goes_on, after[key][:, :-1], now[key][:, 1:])
    return TensorDict({**now, "next": after}, [BATCH, STEPS])


def network() -> TensorDictModule:
    torch.manual_seed(1)
    linear = torch.nn.Linear(2, 1, dtype=torch.float64)
    return TensorDictModule(linear, in_keys=["observation"], out_keys=["state_value"])


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("lambda_", [0.0, 0.7, 1.0])
def test_one_beta_gives_the_serial_functions_of_torchrl(lambda_: float) -> None:
    given = data()
    given["next", "beta"] = torch.full_like(given["next", "reward"], 1 - lambda_)
    after = given["next"]
    flags = {"done": after["done"], "terminated": after["terminated"]}
    values = given["state_value"].clone(), after["state_value"].clone()
    made = PreferenceEstimator(gamma=0.9, value_network=None)(given)
    gamma = torch.tensor(0.9, dtype=torch.float64)  # as a number it would be of single precision
    advantage, target = generalized_advantage_estimate(
        gamma, lambda_, *values, after["reward"], **flags
    )
    close(made["advantage"], advantage)
    close(made["value_target"], target)
    close(target, td_lambda_return_estimate(gamma, lambda_, values[1], after["reward"], **flags))


def written_out(given: Any, gamma: Any) -> torch.Tensor:
    """G = r + γ (β V' + (1 − β) G'), with β, V' and G' of the next state; a loop."""
    after = given["next"]
    returns = torch.zeros(BATCH, STEPS, 1, dtype=torch.float64)
    gamma = torch.as_tensor(gamma, dtype=torch.float64).expand(returns.shape)
    for i in range(BATCH):
        for t in reversed(range(STEPS)):
            value, beta = after["state_value"][i, t], after["beta"][i, t]
            if after["terminated"][i, t]:
                value = torch.zeros(1, dtype=torch.float64)
            elif not after["done"][i, t] and t < STEPS - 1:
                value = beta * value + (1 - beta) * returns[i, t + 1]
            returns[i, t] = after["reward"][i, t] + gamma[i, t] * value
    return returns


def test_a_beta_for_each_state_gives_beta_returns() -> None:
    given = data()
    expected = written_out(given, 0.9)
    estimator = PreferenceEstimator(gamma=0.9, value_network=None)
    close(estimator.value_estimate(given), expected)
    assert "advantage" not in given
    close(estimator(given)["value_target"], expected)
    close(given["advantage"], expected - given["state_value"])


def timed(elapsed: torch.Tensor) -> tuple[Any, PreferenceEstimator]:
    """Data whose steps took some time, and an estimator that reads it."""
    given = data()
    given["next", "minutes"] = elapsed
    estimator = PreferenceEstimator(gamma=0.9, value_network=None)
    estimator.set_keys(elapsed="minutes")
    return given, estimator


def test_gamma_is_raised_to_the_time_that_each_step_took() -> None:
    """Also where an episode is truncated, which bootstraps in full."""
    elapsed = torch.tensor([0.0, 0.25, 1.0, 7.0], dtype=torch.float64)[torch.arange(STEPS) % 4]
    given, estimator = timed(elapsed.expand(BATCH, STEPS))
    assert ("next", "minutes") in estimator.in_keys
    expected = written_out(given, 0.9 ** elapsed[:, None])
    close(estimator(given)["value_target"], expected)
    given["next", "minutes"] = torch.ones(BATCH, STEPS, 1)
    plain = PreferenceEstimator(gamma=0.9, value_network=None)(given.copy())["advantage"]
    assert torch.equal(estimator(given)["advantage"], plain)


@pytest.mark.parametrize("wrong", [-1.0, torch.nan, torch.inf])
def test_a_time_that_cannot_be_is_refused(wrong: float) -> None:
    given, estimator = timed(torch.full((BATCH, STEPS, 1), wrong))
    with pytest.raises(InputError, match=r"^'minutes' has a number that is negative or not finite"):
        estimator(given)


def test_the_numbers_that_torchrl_gets_wrong_are_right() -> None:
    """γ = 1 as a tensor, λ = 1, 0, 1 and no rewards: 2, 2, 3 is right."""
    value, shape = torch.tensor([1.0, 2.0, 3.0]).reshape(1, 3, 1), (1, 3, 1)
    lambda_, never = torch.tensor([1.0, 0.0, 1.0]).reshape(shape), torch.zeros(shape).bool()
    after = {"reward": torch.zeros(shape), "done": never, "terminated": never}
    after |= {"state_value": value, "beta": 1 - lambda_}
    given = TensorDict({"state_value": torch.zeros(shape), "next": after}, [1, 3])
    made = PreferenceEstimator(gamma=1.0, value_network=None)(given)
    assert made["value_target"].flatten().tolist() == [2, 2, 3]
    theirs = vec_td_lambda_return_estimate(
        torch.ones(shape), lambda_, value, after["reward"], never, never
    )
    assert theirs.flatten().tolist() == [2, 5, 3]  # if this fails, they have corrected it


def test_the_gain_weights_advantages_and_targets() -> None:
    given = data()
    plain = PreferenceEstimator(gamma=0.9, value_network=None)(given.copy())
    estimator = PreferenceEstimator(gamma=0.9, value_network=None)
    estimator.set_keys(gain="beta", advantage="own")
    made = estimator(given)
    close(made["own"], given["beta"] * plain["advantage"])
    close(made["value_target"], given["state_value"] + made["own"])


def test_values_are_those_of_the_network_and_its_weights_get_no_gradient() -> None:
    given, net = data(), network()
    gamma, lmbda = torch.tensor([0.9, 0.6], dtype=torch.float64)
    before = GAE(gamma=gamma, lmbda=lmbda, value_network=net)(given.copy())
    given["next", "beta"] = torch.full_like(given["next", "reward"], 0.4)
    close(
        PreferenceEstimator(gamma=0.9, value_network=net)(given)["advantage"], before["advantage"]
    )
    close(given["next", "state_value"], net.module(given["next", "observation"]))
    assert not given["advantage"].requires_grad
    given["observation"].requires_grad_()
    made = PreferenceEstimator(gamma=0.9, value_network=net, differentiable=True)(given)
    made["advantage"].sum().backward()
    assert given["observation"].grad is not None
    assert all(weight.grad is None for weight in net.parameters())


@pytest.mark.parametrize("lambda_", [0.7, 1.0])  # smaller ones are rounded there
@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("vectorised", [False, True])
def test_target_weights_give_what_gae_gives(
    lambda_: float, gradients: bool, vectorised: bool
) -> None:
    """δ bootstraps from target values, and what follows is compared with the network's own."""
    net, made = network(), []
    params = TensorDict.from_module(net).apply(lambda weight: 2 * weight.detach())
    weights = {"params": params, "target_params": params.apply(lambda weight: 1 - weight)}
    gamma, lmbda = torch.tensor([0.9, lambda_], dtype=torch.float64)
    own = PreferenceEstimator(gamma=0.9, value_network=net, differentiable=gradients)
    theirs = GAE(
        gamma=gamma,
        lmbda=lmbda,
        value_network=net,
        differentiable=gradients,
        vectorized=vectorised,
    )
    for estimator in (own, theirs):
        given = data()
        given["next", "beta"] = torch.full_like(given["next", "reward"], 1 - lambda_)
        given["observation"] += 0.1  # next observations need not be those that follow
        given["observation"].requires_grad_(gradients)
        found = estimator(given, **weights)
        made.append([found["advantage"], found["value_target"]])
        made[-1] += [found["state_value"], found["next", "state_value"]]
        made[-1].append(estimator.value_estimate(data_like(given), **weights))
        if gradients:
            found["advantage"].square().sum().backward()
            made[-1].append(given["observation"].grad)
    for one, other in zip(*made, strict=True):
        close(one, other)


def data_like(given: Any) -> Any:
    """The data alone, without what an estimator wrote."""
    return given.exclude("advantage", "value_target", "state_value", ("next", "state_value"))


def test_weights_may_be_given() -> None:
    given, net = data(), network()
    params = TensorDict.from_module(net).apply(lambda weight: 2 * weight.detach())
    target = params.apply(lambda weight: -weight)
    made = PreferenceEstimator(gamma=0.9, value_network=net)(
        given, params=params, target_params=target
    )
    close(made["state_value"], 2 * net.module(given["observation"]))
    close(made["next", "state_value"], -2 * net.module(given["next", "observation"]))


def test_time_may_be_another_axis_and_beta_have_no_axis_of_its_own() -> None:
    given = data()
    expected = written_out(given, 0.9)
    turned = given.transpose(0, 1).contiguous()
    turned["next", "trust"] = turned["next", "beta"].squeeze(-1)
    for axis in (0, None):
        estimator = PreferenceEstimator(gamma=0.9, value_network=None, time_dim=axis)
        estimator.set_keys(beta="trust")
        named = turned if axis == 0 else turned.refine_names("time", None)
        close(estimator(named.copy())["value_target"].transpose(0, 1), expected)


def test_tensors_may_be_given_by_name() -> None:
    given, net = data(), network()
    estimator = PreferenceEstimator(gamma=0.9, value_network=net)
    after = {f"next_{key}": given["next", key] for key in list(given["next"].keys())}
    after.pop("next_state_value")
    advantage, target = estimator(observation=given["observation"], **after)
    made = estimator(given)
    close(advantage, made["advantage"])
    close(target, made["value_target"])


def test_a_loss_of_torchrl_calls_it() -> None:
    given = data()
    given["action"] = torch.zeros(BATCH, STEPS, dtype=torch.int64)
    actor = ProbabilisticTensorDictSequential(
        TensorDictModule(torch.nn.Linear(2, 2).double(), ["observation"], ["logits"]),
        ProbabilisticTensorDictModule(
            ["logits"],
            ["action"],
            distribution_class=torch.distributions.Categorical,
            return_log_prob=True,
        ),
    )
    critic = network()
    estimator = PreferenceEstimator(gamma=0.9, value_network=critic)
    before = A2CLoss(actor, critic)(estimator(given.copy()))
    loss = A2CLoss(actor, critic)
    loss.make_value_estimator(estimator)
    close(loss(given)["loss_objective"], before["loss_objective"])


@pytest.mark.parametrize("name", ["beta", "reward", "done", "state_value", "next"])
def test_what_is_missing_is_named(name: str) -> None:
    given = data()
    del given["next" if name == "next" else ("next", name)]
    with pytest.raises(InputError, match=rf"^the data have no '{name}': let the environment"):
        PreferenceEstimator(gamma=0.9, value_network=None)(given)


def test_what_does_not_fit_is_refused() -> None:
    given = data()
    given["next", "beta"] = torch.ones(BATCH, STEPS, 2)
    with pytest.raises(
        InputError, match=r"^'beta' has shape \(3, 20, 2\) but rewards have .*: give"
    ):
        PreferenceEstimator(gamma=0.9, value_network=None)(given)
    given["steps_to_next_obs"] = torch.ones(BATCH, STEPS, 1)
    with pytest.raises(InputError, match=r"^the data have rewards of several steps"):
        PreferenceEstimator(gamma=0.9, value_network=None)(given)
    with pytest.raises(InputError, match=r"^gamma is 1.5"):
        PreferenceEstimator(gamma=1.5, value_network=None)


@pytest.mark.parametrize("name", ["done", "terminated"])
@pytest.mark.parametrize("kind", [torch.float32, torch.uint8])
def test_flags_that_are_numbers_are_refused(name: str, kind: torch.dtype) -> None:
    given = data()
    given["next", name] = given["next", name].to(kind)
    with pytest.raises(InputError, match=rf"^'{name}' is a tensor of {kind}: give booleans, such"):
        PreferenceEstimator(gamma=0.9, value_network=None)(given)


@pytest.mark.parametrize("name", ["done", "terminated", "state_value"])
def test_entries_may_lack_the_last_axis_and_do_not_spread_over_another(name: str) -> None:
    given = data()
    expected = PreferenceEstimator(gamma=0.9, value_network=None)(given.copy())["advantage"]
    flat = given.copy()
    flat["next", name] = given["next", name].squeeze(-1)
    close(PreferenceEstimator(gamma=0.9, value_network=None)(flat)["advantage"], expected)
    given["next", name] = given["next", name].expand(BATCH, STEPS, 2).clone()
    with pytest.raises(InputError, match=rf"^'{name}' has shape \(3, 20, 2\) but rewards have "):
        PreferenceEstimator(gamma=0.9, value_network=None)(given)


def test_what_the_network_makes_of_an_observation_with_a_beta_of_0_is_not_read() -> None:
    given, net = data(), network()
    estimator = PreferenceEstimator(gamma=0.9, value_network=net)
    at = (0, 3)  # within an episode
    given["next", "done"][0, 2:5] = given["next", "terminated"][0, 2:5] = False
    given["next", "beta"][at] = 0.0
    given["observation"][0, 4] = given["next", "observation"][at]
    params = TensorDict.from_module(net).apply(lambda weight: weight.detach().clone())
    for weights in ({}, {"params": params, "target_params": params}):
        expected = estimator(given.copy(), **weights)["advantage"]
        wild = given.clone()
        wild["next", "observation"][at] = wild["observation"][0, 4] = torch.nan
        found = estimator(wild, **weights)["advantage"]
        assert found[0, 4].isnan()  # V is not known there
        found[0, 4] = expected[0, 4]
        close(found, expected)


def test_an_estimator_made_again_around_a_network_that_was_loaded_gives_the_same() -> None:
    """It has no state of its own: the network's is all there is."""
    one, other = network(), network()
    with torch.no_grad():
        one.module.weight.mul_(3.0)
    first = PreferenceEstimator(gamma=0.9, value_network=one)
    other.load_state_dict(one.state_dict())
    second = PreferenceEstimator(gamma=0.9, value_network=other)
    second.load_state_dict(first.state_dict())
    assert torch.equal(second(data())["advantage"], first(data())["advantage"])


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("preftd.torchrl")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torchrl", None)
    with pytest.raises(ModuleNotFoundError, match=r"^TorchRL is not installed: install it with"):
        import_module("preftd.torchrl")
