"""PPO with memory and with preferences, whose whole training is one `jit`, for `memory_study.py`.

A run learns to act, or only the values of the task's fixed policy. `jax.vmap` over keys and step
sizes trains many agents at once. What methods differ in are numbers, but for the network.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from memory_tasks import Failure, Seen, Task, sense

from preftd import PTD
from preftd.jax import beta_advantages, coefficients

EPOCHS, MINIBATCHES = 4, 4
UNITS, RECURRENT_UNITS = 32, 16
"""Of each layer; networks with and without a GRU then have about as many weights."""
CLIP, ENTROPY, MOST_NORM = 0.2, 0.01, 0.5
REAL_BETA = 0.05
"""β where an observation is real: λ is 0.95."""
DECAYS = (0.0, 0.5, 0.75, 0.9)
"""Memory traces: averages of observations whose weights shrink by these factors at each step."""


class Method(NamedTuple):
    """What methods differ in.

    recurrent    whether the second layer of the networks is a GRU
    memory       what the networks see: "now", the last four observations ("frames") or "traces"
    flag         whether they also see if the observation is real
    hidden_beta  β where it is not
    critic       whether the critic's steps are weighted by the gain of Preferential TD
    actor        whether the actor's are
    """

    recurrent: bool = False
    memory: str = "now"
    flag: bool = False
    hidden_beta: float = REAL_BETA
    critic: bool = False
    actor: bool = False


class Size(NamedTuple):
    """How long a run is."""

    updates: int = 50
    environments: int = 16
    steps: int = 128


class Numbers(NamedTuple):
    """A method as numbers: memories become keep @ memories + add · observation."""

    keep: Any
    add: Any
    flag: Any
    hidden_beta: Any
    critic: Any
    actor: Any

    @classmethod
    def of(cls, method: Method) -> "Numbers":
        """Return the numbers of a method."""
        keep, add = {
            "now": (jnp.zeros((1, 1)), jnp.ones(1)),
            "frames": (jnp.eye(4, k=-1), jnp.eye(4)[0]),
            "traces": (jnp.diag(jnp.array(DECAYS)), 1 - jnp.array(DECAYS)),
        }[method.memory]
        return cls(keep, add, *map(float, method[2:]))


def networks(key: Any, inputs: int, outputs: tuple[int, ...], *, recurrent: bool) -> Any:
    """Return weights of networks with two layers, the second one a GRU if they are recurrent.

    The layers of all networks are stacked; only the outputs are apart.
    """
    orthogonal = jax.nn.initializers.orthogonal
    units = RECURRENT_UNITS if recurrent else UNITS

    def layers(key: Any) -> dict[str, Any]:
        keys = jax.random.split(key, 3)
        gates = 3 * units if recurrent else units
        own = {
            "in": orthogonal(2**0.5)(keys[0], (inputs, units)),
            "in_bias": jnp.zeros((1, units)),
            "middle": orthogonal(1.0 if recurrent else 2**0.5)(keys[1], (units, gates)),
            "middle_bias": jnp.zeros((1, gates)),
        }
        return own | ({"back": orthogonal(1.0)(keys[2], (units, gates))} if recurrent else {})

    keys = jax.random.split(key, 1 + len(outputs))
    scales = (1.0, 0.01)
    out = [
        orthogonal(scale)(keys[0], (units, size))
        for size, scale in zip(outputs, scales, strict=False)
    ]
    biases = [jnp.zeros(size) for size in outputs]
    return {"layers": jax.vmap(layers)(keys[1:]), "out": out, "out_bias": biases}


def _gru(back: Any, state: Any, gates: Any) -> Any:
    """Return the next states of GRUs, shape (networks, rows, units)."""
    keep, reset, new = jnp.split(gates, 3, -1)
    keep_back, reset_back, new_back = jnp.split(state @ back, 3, -1)
    share = jax.nn.sigmoid(keep + keep_back)
    fresh = jnp.tanh(new + jax.nn.sigmoid(reset + reset_back) * new_back)
    return share * state + (1 - share) * fresh


def read(weights: Any, x: Any, state: Any, first: Any) -> tuple[list[Any], Any]:
    """Read inputs of shape (steps, rows, size), `first` where episodes start.

    Returns the outputs of each network, and the last states, shape (networks, rows, units).
    """
    own = weights["layers"]
    steps, rows, _ = x.shape
    flat = jnp.tanh(x.reshape(steps * rows, -1) @ own["in"] + own["in_bias"])
    flat = flat @ own["middle"] + own["middle_bias"]
    if "back" in own:

        def step(state: Any, now: Any) -> tuple[Any, Any]:
            gates, first = now
            state = _gru(own["back"], jnp.where(first[:, None], 0.0, state), gates)
            return state, state

        gates = jnp.moveaxis(flat.reshape(-1, steps, rows, flat.shape[-1]), 1, 0)
        state, states = jax.lax.scan(step, state, (gates, first), unroll=min(steps, 4))
        flat = jnp.moveaxis(states, 0, 1).reshape(-1, steps * rows, states.shape[-1])
    else:
        flat = jnp.tanh(flat)
    heads = zip(flat, weights["out"], weights["out_bias"], strict=True)
    return [(one @ out + bias).reshape(steps, rows, -1) for one, out, bias in heads], state


def log_prob(task: Task, spread: Any, out: Any, action: Any) -> Any:
    """Return log-probabilities of actions; without constants if they are continuous."""
    if task.actions:
        scores = jax.nn.log_softmax(out)
        return jnp.take_along_axis(scores, action[..., None], -1)[..., 0]
    return -0.5 * ((action - out[..., 0]) / jnp.exp(spread)) ** 2 - spread


def draw(key: Any, task: Task, spread: Any, out: Any) -> Any:
    """Draw actions."""
    if task.actions:
        return jax.random.categorical(key, out)
    return out[..., 0] + jnp.exp(spread) * jax.random.normal(key, out.shape[:-1])


class Now(NamedTuple):
    """All that changes from step to step, a row for each environment."""

    key: Any
    state: Any
    steps: Any
    gained: Any
    seen: Seen
    memory: Any
    first: Any
    hidden: Any


class Step(NamedTuple):
    """What is learned from and reported, shape (steps, environments, ...)."""

    x: Any
    first: Any
    action: Any
    log_prob: Any
    value: Any
    value_tp1: Any
    reward: Any
    terminated: Any
    truncated: Any
    real: Any
    real_tp1: Any
    gained: Any
    truth: Any


@dataclass(frozen=True)
class Training:
    """What is given when one agent is trained; `acts` is false if only a critic learns."""

    rate: Any
    numbers: Numbers
    failure: Failure
    task: Task
    recurrent: bool
    size: Size
    acts: bool

    @property
    def outputs(self) -> tuple[int, ...]:
        """Outputs of the critic and, if there is one, of the actor."""
        return (1, max(self.task.actions, 1)) if self.acts else (1,)

    @property
    def adam(self) -> Any:
        """Adam without a step size, with limited gradients."""
        clipped = optax.clip_by_global_norm(MOST_NORM)
        return optax.chain(clipped, optax.scale_by_adam(eps=1e-5))

    def start(self, key: Any) -> tuple[Any, Any, Now]:
        """Return weights, the state of Adam, and environments in their first step."""
        keys = jax.random.split(key, 4)
        task, rows = self.task, self.size.environments
        inputs = len(self.numbers.add) * task.size + 1
        weights = networks(keys[0], inputs, self.outputs, recurrent=self.recurrent)
        weights["spread"] = jnp.zeros(())
        no, zero = jnp.zeros(rows, bool), jnp.zeros(rows)
        state, seen, memory = self.begin(keys[2], Seen(jnp.zeros((rows, task.size)), no, no))
        blank = jnp.zeros((len(self.outputs), rows, RECURRENT_UNITS if self.recurrent else 0))
        now = Now(keys[3], state, zero.astype(int), zero, seen, memory, ~no, blank)
        return weights, self.adam.init(weights), now

    def begin(self, key: Any, before: Seen) -> tuple[Any, Seen, Any]:
        """Start an episode in each environment."""
        rows = self.size.environments
        of_state, of_sensor = jax.random.split(key)
        state = jax.vmap(self.task.start)(jax.random.split(of_state, rows))
        seen = self.look(of_sensor, state, before, jnp.ones(rows, bool))
        blank = jnp.zeros((rows, len(self.numbers.add), self.task.size))
        return state, seen, self.remember(blank, seen)

    def look(self, key: Any, state: Any, before: Seen, first: Any) -> Seen:
        """Return what is seen of states."""
        of_task, of_sensor = jax.random.split(key)
        observed = jax.vmap(self.task.observe)(jax.random.split(of_task, len(state)), state)
        return sense(of_sensor, self.failure, before, observed, first)

    def remember(self, memory: Any, seen: Seen) -> Any:
        """Return memories with one more observation."""
        added = self.numbers.add[:, None] * seen.shown[:, None]
        return jnp.einsum("ij,njk->nik", self.numbers.keep, memory) + added

    def inputs(self, memory: Any, seen: Seen) -> Any:
        """Return what the networks see, shape (1, environments, inputs)."""
        flag = self.numbers.flag * seen.real[:, None]
        return jnp.concatenate([memory.reshape(len(memory), -1), flag], 1)[None]

    def step(self, weights: Any, now: Now) -> tuple[Now, Step]:
        """Act once in each environment; an episode that ends is started again."""
        task, rows = self.task, self.size.environments
        key, of_action, of_look, of_start = jax.random.split(now.key, 4)
        x = self.inputs(now.memory, now.seen)
        (value, *out), hidden = read(weights, x, now.hidden, now.first[None])
        if self.acts:
            action = draw(of_action, task, weights["spread"], out[0][0])
            chance = log_prob(task, weights["spread"], out[0][0], action)
        else:
            action = jax.vmap(task.policy)(jax.random.split(of_action, rows), now.state)
            chance = jnp.zeros(rows)
        state, reward, terminated = jax.vmap(task.step)(now.state, action)
        steps, gained = now.steps + 1, now.gained + reward
        truncated = (steps >= task.limit) & ~terminated & (self.acts and task.limit > 0)
        over = terminated | truncated
        no = jnp.zeros(rows, bool)
        after = self.look(of_look, state, now.seen, no)
        memory = self.remember(now.memory, after)
        (value_tp1, *_), _ = read(weights, self.inputs(memory, after), hidden, no[None])
        truth = jnp.zeros(rows) if task.value is None else jax.vmap(task.value)(now.state)
        found = Step(
            *(x[0], now.first, action, chance, value[0, :, 0], value_tp1[0, :, 0]),
            *(reward * task.unit, terminated, truncated, now.seen.real, after.real),
            *(jnp.where(over, gained, 0.0), truth * task.unit),
        )

        def chosen(start: Any, goes_on: Any) -> Any:
            return jnp.where(over.reshape(-1, *[1] * (start.ndim - 1)), start, goes_on)

        starts = self.begin(of_start, after)
        state, seen, memory = jax.tree.map(chosen, starts, (state, after, memory))
        steps, gained = jnp.where(over, 0, steps), jnp.where(over, 0.0, gained)
        return Now(key, state, steps, gained, seen, memory, over, hidden), found

    def credit(self, steps: Step) -> tuple[Any, Any, Any, Any]:
        """Return targets of the critic, advantages, and how much each step counts in both."""
        hidden_beta = self.numbers.hidden_beta
        beta, beta_tp1 = (
            jnp.where(real, REAL_BETA, hidden_beta) for real in (steps.real, steps.real_tp1)
        )
        advantage = beta_advantages(
            *(steps.reward, steps.value, steps.value_tp1, beta_tp1),
            discount=self.task.discount,
            terminated=steps.terminated,
            truncated=steps.truncated,
        )
        (_, gain), _ = coefficients(PTD(), beta=beta, discount_t=self.task.discount)
        gain = gain / jnp.maximum(gain.mean(), 1e-6)
        in_critic, in_actor = (
            jnp.where(weighted > 0, gain, 1.0)
            for weighted in (self.numbers.critic, self.numbers.actor)
        )
        return advantage + steps.value, advantage, in_critic, in_actor

    def loss(self, weights: Any, batch: tuple[Any, ...]) -> Any:
        """What is to be made small for a part of the environments."""
        steps, hidden, target, advantage, in_critic, gain = batch
        (values, *outs), _ = read(weights, steps.x, hidden, steps.first)
        error = 0.5 * (in_critic * (values[..., 0] - target) ** 2).mean()
        if not self.acts:
            return error
        total = gain.sum()
        centred = advantage - (gain * advantage).sum() / total
        scaled = centred / (jnp.sqrt((gain * centred**2).sum() / total) + 1e-8)
        chance = log_prob(self.task, weights["spread"], outs[0], steps.action)
        ratio = jnp.exp(chance - steps.log_prob)
        kept = jnp.clip(ratio, 1 - CLIP, 1 + CLIP)
        better = (gain * jnp.minimum(ratio * scaled, kept * scaled)).mean()
        entropy = 0.0
        if self.task.actions:
            scores = jax.nn.log_softmax(outs[0])
            entropy = -(jnp.exp(scores) * scores).sum(-1).mean()
        return error - better - ENTROPY * entropy

    def update(self, carried: tuple[Any, Any, Now], at: Any) -> tuple[Any, Any]:
        """Play, and learn from it; also what is reported."""
        weights, memory, now = carried
        hidden = now.hidden
        play = partial(self.step, weights)
        now, steps = jax.lax.scan(lambda now, _: play(now), now, length=self.size.steps)
        data = steps, *self.credit(steps)
        key, of_order = jax.random.split(now.key)
        keys = jax.random.split(of_order, EPOCHS)
        order = jax.vmap(jax.random.permutation, (0, None))(keys, self.size.environments)
        rate = self.rate * (1 - at / self.size.updates)

        def descend(carried: tuple[Any, Any], which: Any) -> tuple[tuple[Any, Any], None]:
            weights, memory = carried
            steps, *rest = jax.tree.map(lambda part: part[:, which], data)
            slope = jax.grad(self.loss)(weights, (steps, hidden[:, which], *rest))
            change, memory = self.adam.update(slope, memory)
            return (jax.tree.map(lambda w, c: w - rate * c, weights, change), memory), None

        batches = order.reshape(EPOCHS * MINIBATCHES, -1)
        (weights, memory), _ = jax.lax.scan(descend, (weights, memory), batches)
        if self.acts:
            kept = steps.gained.sum(), (steps.terminated | steps.truncated).sum()
        else:
            kept = steps.value, steps.reward, steps.terminated, steps.real, steps.truth
        return (weights, memory, now._replace(key=key)), kept


def train(key: Any, rate: Any, numbers: Numbers, failure: Failure, **given: Any) -> dict[str, Any]:
    """Train one agent; returns its measures."""
    training = Training(rate, numbers, failure, **given)
    updates = jnp.arange(training.size.updates)
    _, kept = jax.lax.scan(training.update, training.start(key), updates)
    return _returns(*kept) if training.acts else _errors(training.task, *kept)


def _returns(gained: Any, episodes: Any) -> dict[str, Any]:
    """Mean returns of all episodes, and of those that end in the last fifth of the updates."""
    last = len(gained) // 5
    return {
        "all": gained.sum() / jnp.maximum(episodes.sum(), 1),
        "last": gained[-last:].sum() / jnp.maximum(episodes[-last:].sum(), 1),
    }


def _errors(
    task: Task, value: Any, reward: Any, terminated: Any, real: Any, truth: Any
) -> dict[str, Any]:
    """Errors in the last quarter, by the spread of values: at real and at other observations.

    Values are those before the update, and the truth is the return where that is known.
    """
    value, reward, terminated, real, truth = (
        part.reshape(-1, part.shape[-1]) for part in (value, reward, terminated, real, truth)
    )
    steps = len(value)
    if task.value is None:

        def back(carried: tuple[Any, Any], now: Any) -> tuple[Any, Any]:
            (coming, known), (reward, ends) = carried, now
            coming = reward + task.discount * jnp.where(ends, 0.0, coming)
            known = known | ends
            return (coming, known), (coming, known)

        start = jnp.zeros(value.shape[1]), jnp.zeros(value.shape[1], bool)
        _, (truth, known) = jax.lax.scan(back, start, (reward, terminated), reverse=True)
        left = jnp.arange(steps, 0, -1)[:, None]
        known |= task.discount**left < 0.01
    else:
        known = jnp.ones(value.shape, bool)
    known &= jnp.arange(steps)[:, None] >= steps - steps // 4

    def mean(part: Any, where: Any) -> Any:
        return (part * where).sum() / jnp.maximum(where.sum(), 1)

    spread = jnp.sqrt(mean((truth - mean(truth, known)) ** 2, known))
    wrong = (value - truth) ** 2
    found = {
        "real": jnp.sqrt(mean(wrong, known & real)) / spread,
        "hidden": jnp.sqrt(mean(wrong, known & ~real)) / spread,
    }
    return {name: jnp.nan_to_num(one) for name, one in found.items()}
