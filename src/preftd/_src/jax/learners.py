"""Learners as pairs (init, step) for `jax.lax.scan`: linear ones, and functions moved by optax.

A step takes the state and a `Transition`, and returns the state and the TD error. Make a learner
inside the function that you `jax.vmap` to give each lane its own step size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from preftd._src.arrays import InputError, as_count, as_flag, short
from preftd._src.jax.arrays import Array, alike, flags, floats
from preftd._src.jax.coefficients import coefficients
from preftd._src.jax.transformations import Held, Tree, _positive
from preftd._src.learners.views import view_of
from preftd._src.names import nearest
from preftd._src.rules.rule import Rule, as_rule


class Transition(NamedTuple):
    """One step as it is observed, or arrays of them with time along the first axis.

    features       x_t, of any shape
    reward         r_{t+1}
    next_features  x_{t+1}; at a truncated step, the last observation of the episode
    discount       γ_{t+1}; 0 where the episode terminates
    beta           β_t, the preference of x_t
    interest       i_t (default: that of the rule)
    rho            ρ_t, the importance ratio (default: 1)
    truncated      whether the episode is cut short here (default: False)
    next_beta      β of x_{t+1} where it is truncated, in the held view (default: 1)
    """

    features: Any
    reward: Any
    next_features: Any
    discount: Any
    beta: Any
    interest: Any = None
    rho: Any = None
    truncated: Any = None
    next_beta: Any = None


class LearnerState(NamedTuple):
    """The state of a learner: parameters, memory, γ_t and the state of the rule."""

    params: Tree
    memory: Tree
    discount_t: Array
    carried: Array


class Learner(NamedTuple):
    """Two pure functions."""

    init: Callable[..., LearnerState]
    """init(params): the state at the start of a stream."""
    step: Callable[[LearnerState, Transition], tuple[LearnerState, Array]]
    """step(state, transition): the next state, and the TD error δ_t."""


class Step(NamedTuple):
    """One step with the coefficients of a rule, as views read it."""

    x: Array
    reward: Array
    x_next: Array
    discount: Array
    discount_t: Array
    beta: Array
    decay: Array
    gain: Array
    last: Array
    """Whether the episode ends with this step."""
    end: Array
    """β of the last observation of an episode; 1 if it terminates."""

    def shown(self) -> tuple[Step, Array]:
        """The step with features that are safe in the held view, and whether its δ is known.

        There x is read where β or gain is not 0, and x' at the end of an episode; other features
        may be NaN, and then only δ is NaN.
        """
        goes_on = self.discount != 0
        x, known = _safe(self.x, (self.beta != 0) | (self.gain != 0))
        x_next, known_next = _safe(self.x_next, goes_on & self.last & (self.end != 0))
        return self._replace(x=x, x_next=x_next), known & (known_next | ~goes_on)


def _safe(x: Array, is_read: Array) -> tuple[Array, Array]:
    """Features where they are read or finite, else 0; and whether they are."""
    known = is_read | jnp.isfinite(x).all()
    return jnp.where(known, x, 0), known


def _real(name: str, given: Any) -> Array:
    """Features as an array; integers are allowed."""
    try:
        found = jnp.asarray(given)
    except (TypeError, ValueError):
        found = jnp.zeros(0, complex)
    if jnp.iscomplexobj(found):
        raise InputError(f"{name} is {short(given)}: give an array of real numbers.")
    return found


Advance = Callable[[Tree, Tree, Step], tuple[Tree, Tree, Array]]
"""advance(params, memory, step): both after the step, and δ; views differ only in this function."""


def _learner(rule: Rule, init: Callable[[Tree], tuple[Tree, Tree]], advance: Advance) -> Learner:
    as_rule(rule)

    def begin(params: Tree = None) -> LearnerState:
        started, memory = init(params)
        kind = jnp.result_type(float, *jax.tree.leaves(started))
        return LearnerState(started, memory, jnp.zeros((), kind), jnp.zeros((), kind))

    def step(state: LearnerState, transition: Transition) -> tuple[LearnerState, Array]:
        if not isinstance(transition, Transition):
            raise InputError(f"transition is {short(transition)}: give a Transition.")
        if not isinstance(state, LearnerState):
            raise InputError(
                f"state is {short(state)}: give the state that init or the last step returned."
            )
        given = {"reward": transition.reward, "discount": transition.discount}
        given |= {"beta": transition.beta, "next_beta": _or(transition.next_beta, 1.0)}
        given |= {"rho": _or(transition.rho, 1.0)}
        if transition.interest is not None:
            given["interest"] = transition.interest
        now = alike({name: floats(name, one) for name, one in given.items()}, ())
        now = {name: one.astype(state.discount_t.dtype) for name, one in now.items()}
        beta: Any = now["beta"]
        (decay, gain), carried = coefficients(
            rule,
            beta=beta,
            discount_t=state.discount_t,
            interest=now.get("interest"),
            rho=now["rho"],
            carried=state.carried,
            axis=None,
        )
        terminated = now["discount"] == 0
        last = terminated | jnp.asarray(flags("truncated", _or(transition.truncated, False)))
        read = Step(
            _real("features", transition.features),
            now["reward"],
            _real("next_features", transition.next_features),
            now["discount"],
            state.discount_t,
            rule.bootstrap(beta),
            decay,
            gain,
            last,
            jnp.where(terminated, 1, now["next_beta"]),
        )
        params, memory, delta = advance(state.params, state.memory, read)
        into = jnp.where(last, 0, now["discount"])
        return LearnerState(params, memory, into, carried.astype(state.carried.dtype)), delta

    return Learner(begin, step)


def _or(given: Any, default: Any) -> Any:
    return default if given is None else given


def value_learner(
    apply: Callable[[Tree, Array], Array],
    rule: Rule,
    optimiser: optax.GradientTransformation | Held,
) -> Learner:
    """A learner of any value function, in the backward or the held view.

    Parameters
    ----------
    apply : callable
        apply(params, features) gives v(x) of one input, as `apply` of a flax module does.
    rule : Rule
        TD(), PTD(), ETD(...) or your own.
    optimiser : optax.GradientTransformationExtraArgs or Held
        ``optax.chain(trace(), optax.scale(0.1))`` and the like for the backward view;
        ``held(after=optax.scale(0.1))`` for the held one.

    Returns
    -------
    Learner
        ``init(params)`` and ``step(state, transition)``; `state.params` are learned.

    Examples
    --------
    >>> from preftd import PTD
    >>> from preftd.jax import held
    >>> learner = value_learner(jnp.dot, PTD(), held(after=optax.scale(0.5)))
    >>> one = Transition(jnp.array([1.0, 0.0]), 1.0, jnp.zeros(2), discount=0.0, beta=1.0)
    >>> state, td_error = learner.step(learner.init(jnp.zeros(2)), one)
    >>> state.params
    Array([0.5, 0. ], dtype=float32)

    """
    if not callable(apply):
        raise InputError(f"apply is {short(apply)}: give a function of params and features.")
    if not isinstance(optimiser, optax.GradientTransformation | Held):
        raise InputError(
            f"optimiser is {short(optimiser)}: give optax.chain(trace(), optax.scale(0.1)) or "
            "held(after=optax.scale(0.1))."
        )
    return _learner(rule, lambda p: (p, optimiser.init(p)), following(apply, optimiser))


def following(
    apply: Callable[[Tree, Array], Array], optimiser: optax.GradientTransformation | Held
) -> Advance:
    """Steps of a value function, in the view of its optimiser."""

    def value(params: Tree, x: Array) -> Array:
        v = jnp.asarray(apply(params, x))
        if v.size != 1:
            raise InputError(f"apply returned shape {v.shape}: let it return one value per input.")
        return v.reshape(())

    def ahead(params: Tree, step: Step) -> Array:
        x_next = jnp.where(step.discount == 0, 0, step.x_next)
        return jnp.where(step.discount == 0, 0, step.discount * value(params, x_next))

    if not isinstance(optimiser, Held):
        moving = optax.with_extra_args_support(optimiser)

        def backward(params: Tree, memory: Tree, step: Step) -> tuple[Tree, Tree, Array]:
            v, slope = jax.value_and_grad(value)(params, step.x)
            delta = step.reward + ahead(params, step) - v
            numbers = {"td_error": delta, "decay": step.decay, "gain": step.gain}
            updates, memory = moving.update(slope, memory, params, **numbers)
            return optax.apply_updates(params, updates), memory, delta

        return backward
    holding = optimiser

    def release(
        params: Tree, memory: Tree, beta: Array, last: Array | bool = False
    ) -> tuple[Tree, Tree]:
        updates, memory = holding.release(memory, beta, last, params)
        return optax.apply_updates(params, updates), memory

    def hold(params: Tree, memory: Tree, step: Step) -> tuple[Tree, Tree, Array]:
        """See `preftd._src.torch.stepping`."""
        step, known = step.shown()
        used = (step.beta != 0) | (step.gain != 0)
        v = jnp.where(used, value(params, step.x), 0)
        memory = holding.amend(memory, step.discount_t * v)
        params, memory = release(params, memory, step.beta)
        memory = holding.amend(memory, (step.decay - step.discount_t * (1 - step.beta)) * v)
        v, slope = jax.value_and_grad(value)(params, step.x)
        target = step.reward - jnp.where(used, v, 0)
        numbers = {"td_error": target, "decay": step.decay, "gain": step.gain}
        memory = holding.hold(slope, memory, **numbers)
        following = ahead(params, step)
        delta = jnp.where(known, step.reward + following - v, jnp.nan)
        share = jnp.where(step.last, step.end, 0)
        memory = holding.amend(memory, jnp.where(share == 0, 0, following))
        params, memory = release(params, memory, share, step.last)
        return params, memory, delta

    return hold


class Dots(NamedTuple):
    """Products of x and x' with weights w, pending updates p and the trace e."""

    w: Array
    p: Array
    e: Array
    w_next: Array
    p_next: Array
    e_next: Array


class Map(NamedTuple):
    """A step of a view: scalars of one affine map, and δ; unused scalars are 0.

    ::

        e' = kept e + entering x
        w  ← w + a p + b e + b_new e' + c x          p ← d p + f e + f_new e' + g x
    """

    delta: Array
    kept: Any
    entering: Any
    a: Any = 0
    b: Any = 0
    b_new: Any = 0
    c: Any = 0
    d: Any = 0
    f: Any = 0
    f_new: Any = 0
    g: Any = 0


def _backward(alpha: Any, s: Step, dots: Dots, _: Array) -> Map:
    delta = s.reward + s.discount * dots.w_next - dots.w
    return Map(delta, s.decay, s.gain, b_new=alpha * delta)


def _true_online(alpha: Any, s: Step, dots: Dots, old_value: Array) -> Map:
    before = jnp.where(s.discount_t == 0, dots.w, old_value)
    delta = s.reward + s.discount * dots.w_next - before
    step = alpha * s.gain
    return Map(
        delta, s.decay, step * (1 - s.decay * dots.e), b_new=delta, c=step * (before - dots.w)
    )


def _held(alpha: Any, s: Step, dots: Dots, _: Array) -> Map:
    used = (s.beta != 0) | (s.gain != 0)
    a = alpha * s.beta
    b = jnp.where(used, a * s.discount_t * dots.w, 0)
    moved = jnp.where(used, a * dots.p + b * dots.e, 0)
    v = dots.w + moved
    ahead = s.discount * (dots.w_next + a * dots.p_next + b * dots.e_next)
    g = jnp.where(used, -s.gain * v, 0)
    return Map(
        s.reward + ahead - v, s.decay, s.gain, a, b, d=1 - s.beta, f=-s.decay * moved,
        f_new=s.reward, g=g,
    )  # fmt: skip


def _combined(scalars: tuple[Any, ...], vectors: tuple[Array, ...]) -> Array:
    """The sum of multiples; values multiplied by a constant 0 are not read."""
    pairs = zip(scalars, vectors, strict=True)
    read = (s * vector for s, vector in pairs if isinstance(s, jax.Array))
    return sum(read, jnp.zeros_like(vectors[0]))


VIEWS = {"backward": _backward, "true_online": _true_online, "held": _held}
"""Online views of linear learning, the same as in `preftd._src.learners.linear.online_kernel`."""


def linear(
    size: int, rule: Rule, step_size: Any, *, view: str | None = None, bounded: bool = False
) -> Learner:
    """A linear learner, v(x) = w·x, as `LinearLearner` is one.

    Parameters
    ----------
    size : int
        The number of features.
    rule : Rule
        TD(), PTD(), ETD(...) or your own.
    step_size : float
        It may be traced, so `jax.vmap` can try many.
    view : {"held", "backward", "true_online"}, optional
        When weights move (default: that of the rule, held for PTD).
    bounded : bool
        Whether gains are at most ``1 / (α |x|²)``.

    Returns
    -------
    Learner
        ``init(weights)``, zeros by default, and ``step(state, transition)``; `state.params` are
        the weights, shape (size,).

    Examples
    --------
    >>> from preftd import TD
    >>> learner = linear(2, TD(), 0.5, view="true_online")
    >>> stream = Transition(
    ...     features=jnp.eye(2),
    ...     reward=jnp.array([0.0, 1.0]),
    ...     next_features=jnp.array([[0.0, 1.0], [0.0, 0.0]]),
    ...     discount=jnp.array([1.0, 0.0]),
    ...     beta=jnp.zeros(2),
    ... )
    >>> state, td_errors = jax.lax.scan(learner.step, learner.init(), stream)
    >>> state.params
    Array([0.5, 0.5], dtype=float32)

    """
    count = as_count("size", size)
    view = view_of(rule, view)
    nearest("view", view, VIEWS)
    alpha = _positive("step_size", step_size)
    factors, is_held = VIEWS[view], view == "held"
    bounds = as_flag("bounded", bounded)

    def init(weights: Any) -> tuple[Array, Any]:
        w = jnp.zeros(count) if weights is None else jnp.asarray(floats("weights", weights))
        if w.shape != (count,):
            raise InputError(f"weights have shape {w.shape}: give {count} of them.")
        return w, (jnp.zeros_like(w), jnp.zeros_like(w), jnp.zeros((), w.dtype))

    def advance(w: Array, memory: Any, step: Step) -> tuple[Array, Any, Array]:
        if step.x.shape != w.shape or step.x_next.shape != w.shape:
            raise InputError(
                f"features have shape {step.x.shape}, next_features {step.x_next.shape}: give "
                f"{w.shape}."
            )
        step, known = step.shown() if is_held else (step, True)
        began, (e, p, old_value) = w, memory
        x, x_next = step.x, jnp.where(step.discount == 0, 0, step.x_next)
        if bounds:
            reach = alpha * (x @ x)
            over = step.gain * reach > 1
            step = step._replace(gain=jnp.where(over, 1 / jnp.where(over, reach, 1), step.gain))
        dots = Dots(*(one @ other for other in (x, x_next) for one in (w, p, e)))
        m = factors(alpha, step, dots, old_value)
        new = m.kept * e + m.entering * x
        vectors = (p, e, new, x)
        w = w + _combined((m.a, m.b, m.b_new, m.c), vectors)
        p = _combined((m.d, m.f, m.f_new, m.g), vectors)
        if is_held:
            share = jnp.where(step.last, alpha * step.end, 0)
            w = w + share * (p + step.discount * (w @ x_next) * new)
            new, p = (jnp.where(step.last, 0, one) for one in (new, p))
        delta = jnp.where(known, m.delta, jnp.nan) if is_held else m.delta
        w, *memory = (one.astype(began.dtype) for one in (w, new, p, dots.w_next))
        return w, tuple(memory), delta

    return _learner(rule, init, advance)
