"""A JAX function in a study: all step sizes of a seed at once, in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self, SupportsIndex, final

import jax
import jax.numpy as jnp
import numpy as np
import optax

from preftd._src.arrays import Dense, InputError, as_count, as_flag, short, whole
from preftd._src.jax.arrays import Array
from preftd._src.jax.learners import Step, following
from preftd._src.jax.transformations import Tree, bounded, held, trace
from preftd._src.learners.step_size import Decreasing, as_step_sizes
from preftd._src.learners.steps import Steps, check_steps, scored_features
from preftd._src.learners.transition import MOST_FEATURES
from preftd._src.learners.views import check_view, in_view_of, known_view
from preftd._src.names import is_text
from preftd._src.randomness import generator
from preftd._src.tasks.scored import Scored
from preftd.rules import Rule


@final
@dataclass(frozen=True)
class JaxModule:
    """The specification of a JAX function for studies.

    Parameters
    ----------
    init : callable
        init(key, size) gives the parameters for inputs of `size` features.
    apply : callable
        apply(params, features) gives the value of one input.
    view : {"held", "backward"}, optional
        When parameters move (default: that of the rule, held for PTD).
    bounded : bool
        Whether gains are at most ``1 / (α |∇v|²)``.
    name : str
        Its name in figures (default: the name of `apply`).

    Examples
    --------
    >>> def init(key, size):
    ...     return 0.1 * jax.random.normal(key, (size,))
    >>> JaxModule(init, jnp.dot, "held", name="linear").label
    'linear, held'

    """

    init: Callable[[Any, int], Tree]
    apply: Callable[[Tree, Array], Array]
    view: str | None = None
    bounded: bool = False
    name: str = ""

    takes_step_size: ClassVar[bool] = True
    watchable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name, given in (("init", self.init), ("apply", self.apply)):
            if not callable(given):
                raise InputError(f"{name} is {short(given)}: give a function.")
        check_view(self.view, ("held", "backward"))
        object.__setattr__(self, "bounded", as_flag("bounded", self.bounded))
        if not is_text(self.name):
            raise InputError(f"name is {short(self.name)}: give a name, as text.")

    @property
    def label(self) -> str:
        """Its name in figures, next to the rule's."""
        own = self.name or getattr(self.apply, "__name__", "function").strip("<>")
        return ", ".join(filter(None, (own, self.view, "bounded" if self.bounded else "")))

    def for_rule(self, rule: Rule) -> Self:
        """The specification, with the view of the rule if it names none."""
        return in_view_of(rule, self)

    def start(self, size: int, step_sizes: Any, seed: SupportsIndex) -> JaxBatch:
        """The learners of a seed, one for each step size; they start from the same weights."""
        known_view(self)
        count = as_count("size", size, 1, MOST_FEATURES)
        sizes = as_step_sizes(step_sizes)
        if any(isinstance(alpha, Decreasing) for alpha in sizes):
            raise InputError("the step size of a function does not change: give a number.")
        drawn = int(generator("jax", whole("seed", seed)).integers(2**63))
        return JaxBatch(self, count, np.array(sizes, dtype=np.float64), drawn)


def _optimiser(spec: JaxModule, alpha: Any) -> Any:
    before = bounded(alpha) if spec.bounded else optax.identity()
    if spec.view == "held":
        return held(before=before, after=optax.scale(alpha))
    return optax.chain(before, trace(), optax.scale(alpha))


@final
class JaxBatch:
    """Learners of one seed that learn from the same steps, each with its step size."""

    def __init__(self, spec: JaxModule, size: int, step_sizes: Dense, seed: int) -> None:
        self._spec, self._size, self._step_sizes = spec, size, step_sizes
        with jax.enable_x64(True):
            params = spec.init(jax.random.key(seed), size)
            self._state = jax.vmap(partial(_begin, spec, params))(step_sizes)

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors after each, episodes × step sizes.

        They are infinite once a learner diverges.
        """
        check_steps(steps, self._size, scored)
        episodes = sum(1 for _ in steps.episodes())
        every = slice(None)
        shapes = steps.features(every), steps.reward, steps.next_features(every)
        more = steps.discount_tp1, steps.discount_t, steps.beta, steps.decay, steps.gain
        given: tuple[Any, ...] = (*shapes, *more, steps.is_last, steps.final_beta)
        count = len(steps.reward)
        room = 1 << max(count - 1, 63).bit_length()  # few lengths, since each is compiled
        with jax.enable_x64(True):
            padded: list[Any] = [
                np.pad(one, [(0, room - count)] + [(0, 0)] * (one.ndim - 1)) for one in given
            ]
            shown = scored_features(scored), scored.values
            self._state, errors = _learned(
                self._spec, self._step_sizes, self._state, Step(*padded), count, shown
            )
            return np.array(errors)[:episodes]


def _begin(spec: JaxModule, params: Tree, alpha: Any) -> tuple[Tree, Tree]:
    own = jax.tree.map(lambda one: jnp.asarray(one, jnp.float64), params)
    return own, _optimiser(spec, alpha).init(own)


@partial(jax.jit, static_argnums=0)
def _learned(
    spec: JaxModule, step_sizes: Array, state: Any, steps: Step, count: Array, shown: Any
) -> tuple[Any, Array]:
    """All lanes after some steps, and their errors after each episode."""

    def lane(alpha: Array, state: tuple[Tree, Tree], step: Step) -> tuple[Tree, Tree]:
        params, memory, _ = following(spec.apply, _optimiser(spec, alpha))(*state, step)
        return params, memory

    def error(params: Tree) -> Array:
        values = jax.vmap(lambda x: jnp.asarray(spec.apply(params, x)).reshape(()))(shown[0])
        found = ((values - shown[1]) ** 2).mean()
        finite = [jnp.isfinite(one).all() for one in (found, *jax.tree.leaves(params))]
        return jnp.where(jnp.array(finite).all(), found, jnp.inf)

    def advance(t: Array, carry: Any) -> Any:
        state, errors, episode = carry
        step = jax.tree.map(lambda one: one[t], steps)
        state = jax.vmap(lane, (0, 0, None))(step_sizes, state, step)
        errors = jax.lax.cond(
            step.last, lambda: errors.at[episode].set(jax.vmap(error)(state[0])), lambda: errors
        )
        return state, errors, episode + step.last

    errors = jnp.full((len(steps.reward), len(step_sizes)), jnp.inf)
    state, errors, _ = jax.lax.fori_loop(0, count, advance, (state, errors, 0))
    return state, errors
