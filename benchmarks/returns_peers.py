"""λ-returns of other libraries, with λ = 1 − β, each as its users call it."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.timing import MissingError

Run = Callable[[], Any]


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise MissingError(f"no {error.name}") from None


def torchrl_serial(work: Any, gradients: bool) -> Run:
    """`td_lambda_return_estimate`, with a λ for each step."""
    torch = _imported("torch")
    lambda_ = torch.full((*work.reward.T.shape, 1), 1 - work.beta, dtype=_dtype(work))
    return _torchrl("td_lambda_return_estimate", lambda_, work, gradients)


def torchrl_vectorised(work: Any, gradients: bool) -> Run:
    """`vec_td_lambda_return_estimate`; with a λ for each step and stream, it raises."""
    return _torchrl("vec_td_lambda_return_estimate", 1 - work.beta, work, gradients)


def _torchrl(name: str, lambda_: Any, work: Any, gradients: bool) -> Run:
    torch, functional = _imported("torch"), _imported("torchrl.objectives.value.functional")
    estimate = getattr(functional, name)

    def streams_first(array: Any) -> Any:
        return torch.from_numpy(np.ascontiguousarray(array.T))[..., None]

    inputs = [streams_first(array) for array in (work.value_tp1, work.reward)]
    inputs = [tensor.requires_grad_(gradients) for tensor in inputs]
    terminated = streams_first(work.terminated)

    def found() -> Any:
        return estimate(work.discount, lambda_, *inputs, terminated)

    if not gradients:
        return found
    above = torch.ones_like(inputs[0])
    return lambda: torch.autograd.grad(found(), inputs, above)


def rlax_compiled(work: Any, gradients: bool) -> Run:
    """`lambda_returns` under `jax.jit`, for all streams by `jax.vmap`."""
    jax, rlax = _imported("jax"), _imported("rlax")
    jax.config.update("jax_enable_x64", True)  # or it would compute float64 in float32
    discount = (work.discount * ~work.terminated).astype(work.reward.dtype)
    lambda_ = np.full_like(work.reward, 1 - work.beta)
    given = [jax.numpy.asarray(a) for a in (work.reward, discount, work.value_tp1, lambda_)]
    returns = jax.vmap(rlax.lambda_returns, in_axes=1, out_axes=1)

    def gradient(r: Any, g: Any, v: Any, k: Any) -> Any:
        found, back = jax.vjp(lambda r, v: returns(r, g, v, k), r, v)
        return found, back(jax.numpy.ones_like(r))  # without it, the returns are not computed

    run = jax.jit(gradient if gradients else returns)
    return lambda: jax.block_until_ready(run(*given))


def tianshou_kernel(work: Any, gradients: bool) -> Run:
    """Its kernel of advantages, on streams one after the other; + v(x_t) are the returns."""
    if gradients:
        raise MissingError("–")
    gae = _imported("tianshou.algorithm.algorithm_base")._gae
    ends = work.terminated.copy()
    ends[-1] = True
    following = work.value_tp1 * ~work.terminated
    flat = [np.ascontiguousarray(a.T).ravel() for a in (work.value_t, following, work.reward, ends)]
    return lambda: gae(*flat, work.discount, 1 - work.beta)


def sb3_loop(work: Any, gradients: bool) -> Run:
    """The loop of its rollout buffer, which also adds values to advantages."""
    if gradients:
        raise MissingError("–")
    torch, buffers = _imported("torch"), _imported("stable_baselines3.common.buffers")
    spaces = _imported("gymnasium.spaces")
    steps, streams = work.reward.shape
    buffer = buffers.RolloutBuffer(
        steps,
        spaces.Box(0, 1),
        spaces.Discrete(2),
        gae_lambda=1 - work.beta,
        gamma=work.discount,
        n_envs=streams,
    )
    buffer.rewards, buffer.values = work.reward, work.value_t
    buffer.advantages = np.zeros_like(work.reward)
    buffer.episode_starts[1:] = work.terminated[:-1]
    last, dones = torch.from_numpy(work.value_tp1[-1].copy()), work.terminated[-1]

    def run() -> Any:
        buffer.compute_returns_and_advantage(last, dones)
        return buffer.returns

    return run


def _dtype(work: Any) -> Any:
    return getattr(_imported("torch"), str(work.reward.dtype))


PEERS = {
    "TorchRL serial": torchrl_serial,
    "TorchRL vectorised": torchrl_vectorised,
    "rlax, jit": rlax_compiled,
    "tianshou": tianshou_kernel,
    "SB3": sb3_loop,
}
"""Each makes a function without arguments from a workload; gradients only where it has them."""
