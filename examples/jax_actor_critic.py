"""An actor-critic with preferences on CartPole whose observations drop out, in one `jax.jit`.

Thousands of agents, each with weights, a seed and step sizes of its own, learn side by side at each
step. Where an observation was dropped, noise is seen instead. Preferential TD with β = 0 there
neither bootstraps from it nor updates it; TD(λ) has the same λ everywhere.

    python examples/jax_actor_critic.py --agents 2048 --steps 20000
"""

import argparse
import time
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from preftd import PTD, TD, Rule
from preftd.jax import Transition, bounded, coefficients, linear, trace

DISCOUNT, LIMIT = 0.99, 500
DROPPED = 0.3
SPREAD = jnp.array([1.0, 1.0, 0.1, 1.0])
"""About how far each number of an observation spreads: noise that looks like an observation."""
METHODS: dict[str, tuple[Rule, float, float]] = {
    "TD(λ)": (TD(), 0.05, 0.05),
    "Preferential TD": (PTD(), 1.0, 0.0),
    "Preferential TD, β = 0.1": (PTD(), 0.1, 0.0),
}
"""The rule, β of real observations, and β of dropped ones."""


class Agent(NamedTuple):
    """All that changes while an agent learns."""

    key: Any
    state: Any
    steps: Any
    seen: Any
    beta: Any
    discount_t: Any
    actor: Any
    actor_memory: Any
    critic: Any


def cartpole(state: Any, action: Any) -> tuple[Any, Any]:
    """Gymnasium's CartPole: the next state, and whether the pole has fallen."""
    _, x_dot, theta, theta_dot = state
    force, cosine, sine = jnp.where(action == 1, 10.0, -10.0), jnp.cos(theta), jnp.sin(theta)
    push = (force + 0.05 * theta_dot**2 * sine) / 1.1
    theta_acc = (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3.0 - 0.1 * cosine**2 / 1.1))
    x_acc = push - 0.05 * theta_acc * cosine / 1.1
    change = jnp.array([x_dot, x_acc, theta_dot, theta_acc])
    state = state + 0.02 * change
    return state, (jnp.abs(state[0]) > 2.4) | (jnp.abs(state[2]) > 12 * 2 * jnp.pi / 360)


def features(seen: Any) -> Any:
    """Return 1, the scaled observation and its products, shape (15,)."""
    scaled = jnp.append(jnp.clip(seen / (2 * SPREAD), -2, 2), 1.0)
    return (scaled[:, None] * scaled)[jnp.triu_indices(5)]


def policy(weights: Any, seen: Any) -> Any:
    """Return log-probabilities of pushing left and right."""
    return jax.nn.log_softmax(jnp.append(seen / SPREAD, 1.0) @ weights)


def look(key: Any, state: Any, real: float, hidden: float) -> tuple[Any, Any]:
    """Return what is seen of a state, and its preference."""
    of_drop, of_noise = jax.random.split(key)
    is_dropped = jax.random.bernoulli(of_drop, DROPPED)
    noise = SPREAD * jax.random.normal(of_noise, (4,))
    return jnp.where(is_dropped, noise, state), jnp.where(is_dropped, hidden, real)


def train(key: Any, sizes: Any, *, method: tuple[Rule, float, float], steps: int) -> Any:
    """Let an agent learn; returns how long its last episodes were, on average."""
    rule, real, hidden = method
    critic = linear(15, rule, sizes[1], view="backward", bounded=True)
    move = optax.chain(bounded(sizes[0]), trace(), optax.scale(sizes[0]))

    def fresh(key: Any) -> tuple[Any, Any, Any]:
        state = jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)
        return state, *look(jax.random.fold_in(key, 1), state, real, hidden)

    def step(now: Agent, _: Any) -> tuple[Agent, Any]:
        key, *keys = jax.random.split(now.key, 4)
        action = jax.random.categorical(keys[0], policy(now.actor, now.seen))
        state, terminated = cartpole(now.state, action)
        truncated = (now.steps + 1 >= LIMIT) & ~terminated
        seen, beta = look(keys[1], state, real, hidden)
        discount = jnp.where(terminated, 0.0, DISCOUNT)
        transition = Transition(
            features(now.seen), 1.0, features(seen), discount, now.beta, truncated=truncated
        )
        (decay, gain), _ = coefficients(rule, beta=now.beta, discount_t=now.discount_t, axis=None)
        learned, td_error = critic.step(now.critic, transition)
        slope = jax.grad(lambda weights: policy(weights, now.seen)[action])(now.actor)
        updates, memory = move.update(
            slope, now.actor_memory, td_error=td_error, decay=decay, gain=gain
        )
        actor = optax.apply_updates(now.actor, updates)
        over = terminated | truncated
        follows = (state, seen, beta)
        state, seen, beta = jax.tree.map(partial(jnp.where, over), fresh(keys[2]), follows)
        count, into = jnp.where(over, 0, now.steps + 1), jnp.where(over, 0.0, discount)
        return Agent(key, state, count, seen, beta, into, actor, memory, learned), over

    state, seen, beta = fresh(key)
    actor = jnp.zeros((5, 2))
    start = Agent(key, state, 0, seen, beta, 0.0, actor, move.init(actor), critic.init())
    _, over = jax.lax.scan(step, start, length=steps)
    late = over[-(steps // 5) :]
    return late.size / jnp.maximum(late.sum(), 1)


def main() -> None:
    """Train agents by each method; the step sizes are chosen on other seeds than are reported."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--agents", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    grid = jnp.array([(a, c) for a in (0.001, 0.003, 0.01, 0.03) for c in (0.003, 0.01, 0.03, 0.1)])
    seeds = max(given.agents // len(grid), 2)
    keys = jax.random.split(jax.random.key(given.seed), seeds)
    for name, method in METHODS.items():
        one = partial(train, method=method, steps=given.steps)
        every = jax.jit(jax.vmap(jax.vmap(one, (None, 0)), (0, None)))
        began = time.perf_counter()
        found = jax.block_until_ready(every(keys, grid))  # shape (seeds, pairs of step sizes)
        seconds = time.perf_counter() - began
        best = found[: seeds // 2].mean(0).argmax()
        reported = found[seeds // 2 :, best]
        error = reported.std() / len(reported) ** 0.5
        rate = found.size * given.steps / seconds / 1e6
        print(
            f"{name:26}{reported.mean():6.1f} ± {error:.1f} steps per episode"
            f"   {found.size} agents, {seconds:.1f} s, {rate:.1f} million steps/s"
        )


if __name__ == "__main__":
    main()
