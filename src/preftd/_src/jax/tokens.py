"""Advantages of the tokens that a policy wrote, in responses that contain other tokens.

Time passes at trained tokens only. With β = 0 and a discount of 1 into masked tokens, and β = 1 − λ
and a discount of γ into trained ones, the β-return skips masked tokens. See
`preftd._src.torch.tokens`.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import jax.numpy as jnp
from jax import lax

from preftd._src.arrays import InputError, short
from preftd._src.jax.arrays import Array, Number, alike, flags, floats, is_array
from preftd._src.jax.returns import beta_advantages

MaskedReward: TypeAlias = Literal["carry", "discount", "keep", "drop"]


class Turns(NamedTuple):
    """Turns of a response, and how returns cross from one to the next.

    ids        array of int of shape (batch, tokens): equal for tokens of one turn
    gamma, lam γ and λ at the first trained token of a turn, instead of those of other tokens
    two_level  estimate over turns, each represented by its last trained token, then within them
    """

    ids: Array
    gamma: Number = 1.0
    lam: Number = 0.0
    two_level: bool = False


class TokenAdvantages(NamedTuple):
    """The result of `token_advantages`: each of shape (batch, tokens), except `dropped`.

    advantages     A of trained tokens, 0 elsewhere
    returns        what the critic should predict at trained tokens, 0 elsewhere
    policy_weight  weight of each token in the policy's loss: True (1) if it is trained
    value_weight   the same for the critic's loss
    dropped        how many rewards other than 0 reached no trained token, of shape (batch,)
    """

    advantages: Array
    returns: Array
    policy_weight: Array
    value_weight: Array
    dropped: Array


def token_advantages(  # noqa: PLR0913  (what a response may be made of)
    reward: Array,
    value: Array,
    mask: Array,
    *,
    gamma: Number,
    lam: Number,
    turn: Turns | Array | None = None,
    segment: Array | None = None,
    truncated: Array | bool = False,
    final_value: Array | None = None,
    masked_reward: MaskedReward = "carry",
) -> TokenAdvantages:
    """Generalised advantage estimates of trained tokens, whatever is between them.

    Parameters
    ----------
    reward, value : array of shape (batch, tokens)
        Values of masked tokens are ignored and may be NaN.
    mask : array of bool of shape (batch, tokens)
        True where a token is trained.
    gamma, lam : float, or array of shape (), (batch, 1), (1, tokens) or (batch, tokens)
        γ and λ at a token apply to earlier tokens.
    turn : Turns, or array of int of shape (batch, tokens), optional
        Turns; an array means `Turns(array)`: γ = 1 and λ = 0 from one turn to the next.
    segment : array of int of shape (batch, tokens), optional
        Responses packed into one row: a new one begins where the number changes.
    truncated : bool, or array of bool of shape (batch,) or (batch, tokens)
        Whether responses were cut short; with tokens, it is read at the last one of each segment.
    final_value : array of shape (batch,) or (batch, tokens), optional
        Value after a truncated response (default: the value of its last trained token).
    masked_reward : {"carry", "discount", "keep", "drop"}
        How much of the reward of a masked token the previous trained token gets: all of it, γ of
        it, γλ of it, or nothing.

    Returns
    -------
    TokenAdvantages

    Examples
    --------
    >>> mask = jnp.array([[True, True, False, False, True]])
    >>> reward = jnp.array([[0.0, 0.0, 0.0, 0.0, 1.0]])
    >>> value = jnp.array([[0.25, 0.5, jnp.nan, jnp.nan, 0.75]])
    >>> token_advantages(reward, value, mask, gamma=1.0, lam=0.5).advantages
    Array([[0.4375, 0.375 , 0.    , 0.    , 0.25  ]], dtype=float32)

    """
    if masked_reward not in get_args(MaskedReward):
        names = ", ".join(map(repr, get_args(MaskedReward)))
        raise InputError(f"masked_reward is {short(masked_reward)}: give one of {names}.")
    tokens = _Tokens.of(reward, value, mask, segment, truncated, final_value)
    within = tokens.share("gamma", gamma), tokens.share("lam", lam)
    if turn is None:
        return tokens.advantages(*within, within[0], masked_reward)
    turns = turn if isinstance(turn, Turns) else Turns(turn)
    between = tokens.share("gamma", turns.gamma), tokens.share("lam", turns.lam)
    starts = tokens.turn_starts(_ids("turn", turns.ids, tokens.reward.shape))
    if turns.two_level:
        return tokens.in_two_levels(starts, within, between, masked_reward)
    gamma, lam = (jnp.where(starts, *pair) for pair in zip(between, within, strict=True))
    return tokens.advantages(gamma, lam, within[0], masked_reward)


class _Tokens(NamedTuple):
    """A batch of responses.

    last       whether each token is the last one of its response
    following  the value that follows the last token of a truncated response, 0 elsewhere
    """

    reward: Array
    value: Array
    trained: Array
    last: Array
    following: Array

    @classmethod
    def of(
        cls, reward: Any, value: Any, mask: Any, segment: Any, truncated: Any, final_value: Any
    ) -> _Tokens:
        numbers = {"reward": floats("reward", reward), "value": floats("value", value)}
        numbers["mask"] = flags("mask", mask)
        shape = jnp.shape(reward)
        if len(shape) != 2 or any(jnp.shape(one) != shape for one in numbers.values()):
            raise InputError(
                f"reward has shape {shape}, value {jnp.shape(value)} and mask {jnp.shape(mask)}: "
                "give all as (batch, tokens)."
            )
        is_packed = segment is not None
        last = jnp.ones(shape, bool)
        if is_packed:
            number = _ids("segment", segment, shape)
            last = last.at[:, :-1].set(number[:, 1:] != number[:, :-1])
        else:
            last = last.at[:, :-1].set(False)
        cut = _per_response("truncated", flags("truncated", truncated), is_packed, shape) & last
        if final_value is not None:
            final = floats("final_value", final_value)
            numbers["final"] = _per_response("final_value", final, is_packed, shape)
        ready = alike(numbers, shape)
        reward, value, trained = ready["reward"], ready["value"], ready["mask"]
        known = jnp.where(trained, value, 0)
        following = ready.get("final", _at(known, _last_trained(trained).clip(0)))
        return cls(reward, known, trained, last, jnp.where(cut, following, 0))

    def share(self, name: str, given: Any) -> Array:
        """γ or λ of shape (batch, tokens)."""
        return alike({name: floats(name, given)}, self.reward.shape)[name].astype(self.reward.dtype)

    @property
    def before_trained(self) -> Array:
        """Whether no token of the response up to this one is trained."""
        number, at = self.number, _last_trained(self.trained)
        return (at < 0) | (_at(number, at.clip(0)) != number)

    @property
    def number(self) -> Array:
        """The number of responses of the row that ended before each token."""
        return self.last.cumsum(1) - self.last

    def turn_starts(self, ids: Array) -> Array:
        """Whether each token is the first trained one of a turn."""
        at = jnp.roll(_last_trained(self.trained), 1, 1).at[:, :1].set(-1)
        same = [_at(one, at.clip(0)) == one for one in (self.number, ids)]
        return self.trained & ~((at >= 0) & same[0] & same[1])

    def advantages(
        self, gamma: Array, lam: Array, after: Array, masked_reward: MaskedReward
    ) -> TokenAdvantages:
        """One pass backward over each row; the value after a response is discounted by `after`."""
        trained, paid = self.trained, self.reward != 0
        shares: dict[str, Any] = {"discount": gamma, "keep": gamma * lam}
        share = shares.get(masked_reward, 1.0)
        lost = ~trained if masked_reward == "drop" else self.before_trained
        reward = jnp.where(lost, 0, jnp.where(trained, 1, share) * self.reward)
        ahead = jnp.where(self.before_trained, 0, after * self.following)
        into = _next(trained)  # at a last token, it does not matter
        found = beta_advantages(
            reward + ahead,
            *(self.value, _next(self.value)),
            jnp.where(into, 1 - _next(lam), 0),
            discount=jnp.where(into, _next(gamma), 1),
            terminated=self.last,
            axis=1,
        )
        advantages = jnp.where(trained, found, 0)
        returns = jnp.where(trained, found + self.value, 0)
        return TokenAdvantages(advantages, returns, trained, trained, (lost & paid).sum(1))

    def in_two_levels(
        self,
        starts: Array,
        within: tuple[Array, Array],
        between: tuple[Array, Array],
        masked_reward: MaskedReward,
    ) -> TokenAdvantages:
        """Over the last tokens of turns, then within turns, which end with the first results."""
        count = self.trained.shape[1]
        coming = lax.cummin(jnp.where(self.trained, jnp.arange(count), count), 1, reverse=True)
        coming = _next(coming, count)
        turn_ends = (coming == count) | _at(starts, coming.clip(0, count - 1))
        is_end = self.trained & turn_ends
        # What stands between tokens of one turn belongs to the turn, other masked ones to its end.
        above = self._replace(reward=jnp.where(turn_ends, self.reward, 0), trained=is_end)
        upper = above.advantages(*between, between[0], masked_reward)
        below = self._replace(
            reward=jnp.where(is_end, upper.returns, jnp.where(turn_ends, 0, self.reward)),
            last=is_end | self.last,
            following=jnp.zeros_like(self.following),
        )
        lower = below.advantages(*within, within[0], masked_reward)
        return lower._replace(dropped=upper.dropped + lower.dropped)


def _last_trained(trained: Array) -> Array:
    """The index of the last trained token up to each token of a row, −1 if there is none."""
    return lax.cummax(jnp.where(trained, jnp.arange(trained.shape[1]), -1), 1)


def _at(one: Array, index: Array) -> Array:
    return jnp.take_along_axis(one, index, 1)


def _next(one: Array, end: float = 0) -> Array:
    """The entry of the next token; another value after the last."""
    return jnp.concatenate([one[:, 1:], jnp.full_like(one[:, :1], end)], 1)


def _per_response(name: str, given: Any, is_packed: bool, shape: tuple[int, ...]) -> Any:
    """An argument for each response, or for each token, as (batch, tokens)."""
    own = jnp.shape(given)
    if own == shape or isinstance(given, bool):
        return jnp.asarray(given)
    if own == shape[:1] and not is_packed:
        return jnp.broadcast_to(jnp.asarray(given)[:, None], shape)
    raise InputError(
        f"{name} has shape {own}: give {shape}, read at the last token of each segment, or "
        f"{shape[:1]} if there are no segments."
    )


def _ids(name: str, given: Any, shape: tuple[int, ...]) -> Array:
    if not is_array(given) or given.shape != shape or not jnp.issubdtype(given.dtype, jnp.integer):
        raise InputError(f"{name} is {short(given)}: give whole numbers of shape {shape}.")
    return jnp.asarray(given)
