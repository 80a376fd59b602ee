"""Advantages of the tokens that a policy wrote, among others that it did not.

A response of a language-model agent contains tokens of the policy, which are trained, and tokens of
tools, of the environment and of padding, which are not: *masked* ones. Time passes at trained
tokens only. With β = 0 and a discount of 1 into masked tokens, and β = 1 − λ and a discount of γ
into trained ones, the β-return skips masked tokens: nothing is bootstrapped from their values, and
crossing them costs no discount. The mask, not β, says which tokens are trained: at λ = 1, β is 0 at
trained tokens, too.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, NoReturn, Self, TypeAlias, TypeGuard, get_args

import torch
from torch import Tensor

from preftd._src.arrays import InputError, as_flag, number, short, unit
from preftd._src.torch.returns import FLOATS, PLAIN, beta_advantages
from preftd._src.torch.returns_autograd import is_traced
from preftd._src.torch.tokens_kernel import token_returns_by_rows

MaskedReward: TypeAlias = Literal["carry", "discount", "keep", "drop"]
PerToken: TypeAlias = Tensor | float
"""A number, or a tensor of shape (), (batch, 1), (1, tokens) or (batch, tokens)."""


class Turns(NamedTuple):
    """Turns of a response, and how returns cross from one to the next.

    Parameters
    ----------
    ids : tensor of int of shape (batch, tokens)
        Equal for tokens of one turn; ignored at masked tokens.
    gamma, lam : float, or tensor of shape (), (batch, 1), (1, tokens) or (batch, tokens)
        γ and λ at the first trained token of a turn, instead of those of other tokens. λ = 0 means
        β = 1: earlier turns are judged by the value with which the next one begins.
    two_level : bool
        Estimate in two levels: first over turns, each represented by its last trained token, with
        these γ and λ; then within each turn, which ends with the estimate of its last token.

    """

    ids: Tensor
    gamma: PerToken = 1.0
    lam: PerToken = 0.0
    two_level: bool = False


class TokenAdvantages(NamedTuple):
    """The result of `token_advantages`: each of shape (batch, tokens), except `dropped`.

    advantages     A of trained tokens, 0 elsewhere
    returns        what the critic should predict at trained tokens, 0 elsewhere
    policy_weight  weight of each token in the policy's loss: True (1) if it is trained
    value_weight   the same for the critic's loss
    dropped        how many rewards other than 0 reached no trained token, of shape (batch,)
    """

    advantages: Tensor
    returns: Tensor
    policy_weight: Tensor
    value_weight: Tensor
    dropped: Tensor


def token_advantages(  # noqa: PLR0913  (what a response may be made of)
    reward: Tensor,
    value: Tensor,
    mask: Tensor,
    *,
    gamma: PerToken,
    lam: PerToken,
    turn: Turns | Tensor | None = None,
    segment: Tensor | None = None,
    truncated: Tensor | bool = False,
    final_value: Tensor | None = None,
    masked_reward: MaskedReward = "carry",
) -> TokenAdvantages:
    """Generalised advantage estimates of trained tokens, whatever is between them.

    Parameters
    ----------
    reward : tensor of shape (batch, tokens)
    value : tensor of shape (batch, tokens)
        The critic's value of the state in which each token is written. Values of masked tokens are
        ignored and may be NaN.
    mask : tensor of shape (batch, tokens)
        True or 1 where a token is trained; False or 0 for tokens of tools, of the environment, and
        for padding on either side.
    gamma, lam : float, or tensor of shape (), (batch, 1), (1, tokens) or (batch, tokens)
        γ and λ at a token apply to earlier tokens. Those of masked tokens weight their rewards, if
        these are discounted or kept, and γ of a response's last token weights the value after it
        (in two levels, the γ of turns).
    turn : Turns, or tensor of int of shape (batch, tokens), optional
        Turns; a tensor means `Turns(tensor)`: γ = 1 and λ = 0 from one turn to the next.
    segment : tensor of int of shape (batch, tokens), optional
        Responses packed into one row: a new one begins where the number changes (default: one
        response in each row).
    truncated : bool, or tensor of bool of shape (batch,) or (batch, tokens)
        Whether responses were cut short, and their last token is followed by `final_value`. With
        tokens, it is read at the last token of each segment, and must be False elsewhere.
    final_value : tensor of shape (batch,) or (batch, tokens), optional
        Value after a truncated response (default: the value of its last trained token).
    masked_reward : {"carry", "discount", "keep", "drop"}
        How much of the reward of a masked token the previous trained token gets: all of it, γ of
        it, γλ of it (as one step of GAE would), or nothing.

    Returns
    -------
    TokenAdvantages

    Examples
    --------
    The model writes two tokens, a tool answers with two, the model writes one more and is paid:

    >>> mask = torch.tensor([[True, True, False, False, True]])
    >>> reward = torch.tensor([[0.0, 0.0, 0.0, 0.0, 1.0]])
    >>> value = torch.tensor([[0.2, 0.4, torch.nan, torch.nan, 0.8]])
    >>> token_advantages(reward, value, mask, gamma=1.0, lam=0.5).advantages
    tensor([[0.4500, 0.5000, 0.0000, 0.0000, 0.2000]])

    """
    if masked_reward not in get_args(MaskedReward):
        names = ", ".join(map(repr, get_args(MaskedReward)))
        raise InputError(f"masked_reward is {short(masked_reward)}: give one of {names}.")
    tokens = _Tokens.of(reward, value, mask, segment, truncated, final_value)
    within = tokens.shares("gamma", gamma), tokens.shares("lam", lam)
    if turn is None:
        return tokens.advantages(*within, masked_reward)
    turns = turn if isinstance(turn, Turns) else Turns(turn)
    between = tokens.shares("turn.gamma", turns.gamma), tokens.shares("turn.lam", turns.lam)
    starts = tokens.turn_starts(turns.ids)
    if as_flag("turn.two_level", turns.two_level):
        return tokens.in_two_levels(starts, within, between, masked_reward)
    gamma, lam = (torch.where(starts, *pair) for pair in zip(between, within, strict=True))
    return tokens.advantages(gamma, lam, masked_reward, gamma_after=within[0])


def token_returns(
    reward: Tensor,
    mask: Tensor,
    *,
    gamma: PerToken,
    segment: Tensor | None = None,
    masked_reward: MaskedReward = "carry",
) -> Tensor:
    """Rewards to come at trained tokens, discounted, for methods without a critic.

    Parameters
    ----------
    reward, mask, gamma, segment, masked_reward
        As for `token_advantages`.

    Returns
    -------
    tensor of shape (batch, tokens)
        0 at masked tokens.

    Examples
    --------
    >>> mask = torch.tensor([[True, True, False, False, True]])
    >>> token_returns(torch.tensor([[0.0, 0.0, 0.0, 0.0, 1.0]]), mask, gamma=0.5)
    tensor([[0.2500, 0.5000, 0.0000, 0.0000, 1.0000]])

    """
    _check_floats("reward", reward)
    found = token_advantages(
        *(reward, torch.zeros_like(reward), mask),
        gamma=gamma,
        lam=1.0,
        segment=segment,
        masked_reward=masked_reward,
    )
    return found.returns


def length_adaptive_lambda(
    mask: Tensor, alpha: float = 0.05, segment: Tensor | None = None
) -> Tensor:
    """λ = 1 − 1/(α l) of responses with l trained tokens, 0 if that is negative (as in VAPO).

    Parameters
    ----------
    mask, segment
        As for `token_advantages`.
    alpha : float

    Returns
    -------
    tensor of shape (batch, tokens)

    Examples
    --------
    >>> length_adaptive_lambda(torch.ones(1, 100))[0, 0]
    tensor(0.8000)

    """
    is_known = type(alpha) is float and 0 < alpha < math.inf  # torch cannot compile `number`
    scale = alpha if is_known else number("alpha", alpha)
    if scale <= 0:
        raise InputError(f"alpha is {scale:g}: give a number above 0.")
    trained = _flags("mask", mask)
    response = _response_numbers(_last_tokens(segment, trained)).expand(trained.shape)
    counts = torch.zeros(trained.shape, device=trained.device)
    counts = counts.scatter_add(1, response, trained.to(counts.dtype))
    return (1 - 1 / (scale * counts.gather(1, response).clamp(min=1))).clamp(min=0)


class _Tokens(NamedTuple):
    """A batch of responses; half-precision numbers as float32.

    last       whether each token is the last one of its response
    following  the value that follows the last token of a truncated response, 0 elsewhere
    kind       the dtype of results
    """

    reward: Tensor
    value: Tensor
    trained: Tensor
    last: Tensor
    following: Tensor
    kind: torch.dtype

    @classmethod
    def of(
        cls,
        reward: Any,
        value: Any,
        mask: Any,
        segment: Any,
        truncated: Any,
        final_value: Any,
    ) -> Self:
        for name, one in (("reward", reward), ("value", value)):
            _check_floats(name, one)
        if reward.ndim != 2 or value.shape != reward.shape:
            raise InputError(
                f"reward has shape {tuple(reward.shape)} and value {tuple(value.shape)}: give both "
                "as (batch, tokens)."
            )
        trained = _flags("mask", mask, reward.shape)
        kind = torch.promote_types(reward.dtype, value.dtype)
        wide = torch.promote_types(kind, torch.float32)
        last = _last_tokens(segment, trained)
        value, is_packed = value.to(wide), segment is not None
        cut = _cuts(truncated, last, is_packed, reward.shape)
        if final_value is not None:
            _check_floats("final_value", final_value)
            following = _per_response("final_value", final_value, is_packed, reward.shape).to(wide)
        elif truncated is False:
            following = torch.zeros_like(value[:1])
        else:
            following = value.gather(1, _last_trained(trained).clamp(min=0))
        following = torch.where(cut, following, 0.0)
        return cls(reward.to(wide), value, trained, last, following, kind)

    def shares(self, name: str, given: Any) -> Tensor:
        """γ or λ in [0, 1], of shape (1, tokens) or (batch, tokens)."""
        shape, like = self.reward.shape, self.reward
        if not isinstance(given, Tensor):
            is_known = (
                type(given) in (int, float) and 0 <= given <= 1
            )  # torch cannot compile `unit`
            share = given if is_known else unit(name, given)
            return torch.full((1, shape[1]), share, dtype=like.dtype, device=like.device)
        _check_floats(name, given)
        sizes = zip(given.shape, shape, strict=False)
        if given.ndim not in (0, 2) or any(one not in (1, size) for one, size in sizes):
            raise InputError(
                f"{name} has shape {tuple(given.shape)}: give one number, or a tensor of shape "
                f"{(shape[0], 1)}, {(1, shape[1])} or {tuple(shape)}."
            )
        whole = given.to(like.dtype).expand(shape)
        if not is_traced() and not whole.is_meta:
            wrong = ~((whole >= 0) & (whole <= 1))
            if wrong.any():
                i, t = wrong.nonzero()[0].tolist()
                raise InputError(
                    f"{name}[{i}, {t}] is {whole[i, t].item():g}: give numbers from 0 to 1."
                )
        return whole

    def turn_starts(self, ids: Tensor) -> Tensor:
        """Whether each token is the first trained one of a turn."""
        _check_ids("turn", ids, self.reward.shape)
        before = _last_trained(self.trained).roll(1, 1)
        before[:, :1] = -1
        number, at = _response_numbers(self.last).expand(ids.shape), before.clamp(min=0)
        same = (before >= 0) & (number.gather(1, at) == number) & (ids.gather(1, at) == ids)
        return self.trained & ~same

    def advantages(
        self,
        gamma: Tensor,
        lam: Tensor,
        masked_reward: MaskedReward,
        gamma_after: Tensor | None = None,
    ) -> TokenAdvantages:
        """One pass backward over each row.

        The value after a response is discounted by `gamma_after`, or γ.
        """
        if masked_reward == "drop":
            lost = (~self.trained & (self.reward != 0)).sum(1)
            kept = self._replace(reward=torch.where(self.trained, self.reward, 0.0))
            return kept.advantages(gamma, lam, "carry", gamma_after)._replace(dropped=lost)
        share = {"discount": gamma, "keep": gamma * lam}.get(masked_reward, torch.ones_like(gamma))
        after = gamma if gamma_after is None else gamma_after
        floats = (self.reward, self.value, gamma, lam, share, self.following, after)
        wants_gradients = torch.is_grad_enabled() and any(one.requires_grad for one in floats)
        is_plain = all(type(one) in PLAIN for one in floats) and not is_traced()
        is_compiled = self.reward.is_cpu and is_plain and not wants_gradients
        run = self._compiled if is_compiled else self._by_operations
        advantages, returns, dropped = run(gamma, lam, share, after)
        advantages, returns = advantages.to(self.kind), returns.to(self.kind)
        is_checked = is_compiled and self.kind == self.reward.dtype
        is_checked |= is_traced() or advantages.is_meta
        if not is_checked and not _are_finite(advantages, returns):
            self._refuse()
        return TokenAdvantages(advantages, returns, self.trained, self.trained, dropped)

    def _compiled(
        self, gamma: Tensor, lam: Tensor, share: Tensor, after: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        given = (self.reward, self.value, self.trained, gamma, lam, share)
        ends = (self.last, after * self.following)
        read = [one.detach().contiguous().numpy() for one in (*given, *ends)]
        shape, kind = self.reward.shape, self.reward.dtype
        found = torch.empty(shape, dtype=kind), torch.empty(shape, dtype=kind)
        dropped = torch.zeros(len(self.reward), dtype=torch.int64)
        written = (one.numpy() for one in (*found, dropped))
        if self.reward.numel() and not token_returns_by_rows(*read, *written):
            self._refuse()
        return *found, dropped

    def _by_operations(
        self, gamma: Tensor, lam: Tensor, share: Tensor, after: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The same for any device, with gradients, and while torch compiles."""
        masked, is_lost = ~self.trained, self._is_before_trained()
        reward, following = (torch.where(is_lost, 0.0, x) for x in (self.reward, self.following))
        value = torch.where(masked, 0.0, self.value)
        next_is_trained = _next(self.trained)  # at a last token, it does not matter
        try:
            found = beta_advantages(
                torch.where(masked, share * reward, reward) + after * following,
                *(value, _next(value)),
                torch.where(next_is_trained, 1 - _next(lam), 0.0),
                discount=torch.where(next_is_trained, _next(gamma), 1.0),
                terminated=self.last.expand(reward.shape),
                axis=1,
            )
        except InputError:
            self._refuse()
        advantages = torch.where(masked, 0.0, found)
        returns = torch.where(masked, 0.0, found + value)
        return advantages, returns, (is_lost & (self.reward != 0)).sum(1)

    def in_two_levels(
        self,
        starts: Tensor,
        within: tuple[Tensor, Tensor],
        between: tuple[Tensor, Tensor],
        masked_reward: MaskedReward,
    ) -> TokenAdvantages:
        """Over the last tokens of turns, then within turns, which end with the first results."""
        count = self.reward.shape[1]
        coming = _next(_next_trained(self.trained), count)
        turn_ends = (coming == count) | starts.gather(1, coming.clamp(max=count - 1))
        is_end = self.trained & turn_ends
        # What stands between tokens of one turn belongs to the turn, other masked ones to its end.
        upper = self._replace(
            reward=torch.where(turn_ends, self.reward, 0.0),
            trained=is_end,
            kind=self.reward.dtype,
        ).advantages(*between, masked_reward)
        within_turns = torch.where(turn_ends, 0.0, self.reward)
        lower = self._replace(
            reward=torch.where(is_end, upper.returns, within_turns),
            last=is_end | self.last,
            following=torch.zeros_like(self.following),
        ).advantages(*within, masked_reward)
        return lower._replace(dropped=upper.dropped + lower.dropped)

    def _is_before_trained(self) -> Tensor:
        """Whether no token of the response up to this one is trained."""
        number, at = _response_numbers(self.last), _last_trained(self.trained)
        number = number.expand(self.trained.shape)
        return (at < 0) | (number.gather(1, at.clamp(min=0)) != number)

    def _refuse(self) -> NoReturn:
        """Raise an error for the first number that is read and not finite."""
        shape, is_read = self.reward.shape, ~self._is_before_trained()
        for name, one, where, remedy in (
            ("reward", self.reward, is_read, ""),
            ("value", self.value, self.trained, ", or mask the token"),
            ("final_value", self.following, is_read, ""),
        ):
            wrong = where & ~one.isfinite().expand(shape)
            if wrong.any():
                i, t = wrong.nonzero()[0].tolist()
                raise InputError(
                    f"{name}[{i}, {t}] is {one.expand(shape)[i, t].item()}: give finite numbers"
                    f"{remedy}."
                )
        raise InputError(
            f"advantages or returns are too large for {self.kind}: give smaller rewards and "
            "values, or a wider dtype."
        )


def _last_tokens(segment: Any, trained: Tensor) -> Tensor:
    """Whether each token is the last one of its response, of shape (batch or 1, tokens)."""
    end = torch.ones((), dtype=torch.bool, device=trained.device)
    if segment is None:
        others = ~end.expand(1, max(trained.shape[1] - 1, 0))
    else:
        _check_ids("segment", segment, trained.shape)
        others = segment[:, 1:] != segment[:, :-1]
    return torch.cat([others, end.expand(len(others), 1)], 1)[:, : trained.shape[1]]


def _response_numbers(last: Tensor) -> Tensor:
    """The number of responses of the row that ended before each token."""
    return last.cumsum(1) - last.long()


def _last_trained(trained: Tensor) -> Tensor:
    """The index of the last trained token up to each token of a row, −1 if there is none."""
    at = torch.arange(trained.shape[1], device=trained.device)
    return torch.where(trained, at, -1).cummax(1).values


def _next_trained(trained: Tensor) -> Tensor:
    """The index of the next trained token, each token included, or the row's length."""
    count = trained.shape[1]
    at = torch.arange(count, device=trained.device)
    return torch.where(trained, at, count).flip(1).cummin(1).values.flip(1)


def _next(one: Tensor, end: float = 0) -> Tensor:
    """The entry of the next token; another value after the last."""
    return torch.cat([one[:, 1:], torch.full_like(one[:, :1], end)], 1)


def _per_response(name: str, given: Tensor, is_packed: bool, shape: torch.Size) -> Tensor:
    """An argument for each response, or for each token, as (batch, tokens)."""
    if given.shape == shape:
        return given
    if given.shape == shape[:1] and not is_packed:
        return given[:, None].expand(shape)
    raise InputError(
        f"{name} has shape {tuple(given.shape)}: give {tuple(shape)}, read at the last token of "
        f"each segment, or {tuple(shape[:1])} if there are no segments."
    )


def _cuts(truncated: Any, last: Tensor, is_packed: bool, shape: torch.Size) -> Tensor:
    """Whether each token is the last one of a truncated response."""
    if isinstance(truncated, bool):
        return last & truncated
    if not isinstance(truncated, Tensor) or truncated.dtype != torch.bool:
        raise InputError(f"truncated is {_said(truncated)}: give booleans.")
    cut = _per_response("truncated", truncated, is_packed, shape) & last
    if truncated.shape == shape and not is_traced() and not cut.is_meta:
        elsewhere = truncated & ~last
        if elsewhere.any():
            i, t = elsewhere.nonzero()[0].tolist()
            raise InputError(
                f"truncated[{i}, {t}] is True, but the response goes on: mark its last token, "
                "padding included."
            )
    return cut


def _flags(name: str, given: Any, shape: torch.Size | None = None) -> Tensor:
    """A mask of booleans, or of the numbers 0 and 1."""
    if not _is_dense(given) or given.ndim != 2 or given.shape != (shape or given.shape):
        wanted = "(batch, tokens)" if shape is None else f"{tuple(shape)}"
        raise InputError(f"{name} is {_said(given)}: give a dense tensor of shape {wanted}.")
    if given.dtype == torch.bool:
        return given
    flags = given != 0
    if not is_traced() and not given.is_meta and bool((flags & (given != 1)).any()):
        raise InputError(f"{name} holds other numbers than 0 and 1: give 1 for trained tokens.")
    return flags


def _check_floats(name: str, given: Any) -> None:
    if not _is_dense(given) or given.dtype not in FLOATS:
        raise InputError(
            f"{name} is {_said(given)}: give a dense tensor of floating-point numbers."
        )


def _check_ids(name: str, given: Any, shape: torch.Size) -> None:
    if not _is_dense(given) or given.is_floating_point() or given.shape != shape:
        raise InputError(f"{name} is {_said(given)}: give whole numbers, {tuple(shape)}.")


def _is_dense(given: Any) -> TypeGuard[Tensor]:
    return isinstance(given, Tensor) and given.layout is torch.strided and not given.is_nested


def _are_finite(one: Tensor, other: Tensor) -> bool:
    return bool((one.isfinite() & other.isfinite()).all())


def _said(given: Any) -> str:
    if not isinstance(given, Tensor):
        return short(given)
    if not _is_dense(given):
        return "a nested tensor" if given.is_nested else f"a tensor of {given.layout}"
    return f"a tensor of {given.dtype} of shape {tuple(given.shape)}"
