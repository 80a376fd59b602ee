"""Advantages of trained tokens: tokens between them change nothing."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from preftd.failures import InputError
from preftd.torch import (
    TokenAdvantages,
    Turns,
    beta_advantages,
    length_adaptive_lambda,
    token_advantages,
    token_returns,
)

MODES = ("carry", "discount", "keep", "drop")
NAN = torch.tensor(math.nan, dtype=torch.float64)


def batch(seed: int, rows: int = 5, tokens: int = 13, share: float = 0.6) -> dict[str, Any]:
    """Responses with rewards here and there, packed, some of them truncated."""
    random = torch.Generator().manual_seed(seed)

    def draw(kind: str) -> Tensor:
        one: Tensor = getattr(torch, kind)(rows, tokens, dtype=torch.float64, generator=random)
        return one

    mask = draw("rand") < share
    segment = (draw("rand") < 0.2).cumsum(1)
    last = torch.cat([segment[:, 1:] != segment[:, :-1], torch.ones(rows, 1).bool()], 1)
    return {
        "reward": draw("randn") * (draw("rand") < 0.5),
        "value": torch.where(mask, draw("randn"), NAN),
        "mask": mask,
        "gamma": draw("rand"),
        "lam": draw("rand"),
        "segment": segment,
        "truncated": last & (draw("rand") < 0.5),
        "final_value": draw("randn"),
    }


def responses(segment: Tensor) -> list[tuple[int, int]]:
    """First index of each response of a row, and the index after its last."""
    starts = [t for t in range(len(segment)) if t == 0 or segment[t] != segment[t - 1]]
    return list(zip(starts, [*starts[1:], len(segment)], strict=True))


def by_loop(  # noqa: PLR0913  (as token_advantages takes them)
    reward: Tensor,
    value: Tensor,
    mask: Tensor,
    *,
    gamma: Tensor,
    lam: Tensor,
    segment: Tensor,
    truncated: Tensor,
    final_value: Tensor | None,
    masked_reward: str,
) -> tuple[Tensor, Tensor]:
    """Advantages and what was dropped, on the trained tokens alone, one at a time."""
    found, dropped = torch.zeros_like(reward), torch.zeros(len(reward), dtype=torch.int64)
    for i in range(len(reward)):
        for begin, end in responses(segment[i]):
            paid: dict[int, float] = {}
            for t in range(begin, end):
                r, g, at = float(reward[i, t]), float(gamma[i, t]), float(lam[i, t])
                if mask[i, t]:
                    paid[t] = r
                elif paid and masked_reward != "drop":
                    paid[max(paid)] += (
                        r * {"carry": 1.0, "discount": g, "keep": g * at}[masked_reward]
                    )
                else:
                    dropped[i] += r != 0
            later = later_value = g = at = 0.0
            if truncated[i, end - 1] and paid:
                follows = value[i, max(paid)] if final_value is None else final_value[i, end - 1]
                later_value, g = float(follows), float(gamma[i, end - 1])
            for t in sorted(paid, reverse=True):
                v = float(value[i, t])
                later = paid[t] + g * later_value - v + g * at * later
                found[i, t] = later
                later_value, g, at = v, float(gamma[i, t]), float(lam[i, t])
    return found, dropped


def close(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("masked_reward", MODES)
@pytest.mark.parametrize("has_final", [True, False])
@pytest.mark.parametrize("differentiated", [False, True])
def test_it_equals_a_loop_over_trained_tokens(
    masked_reward: Any, has_final: bool, differentiated: bool
) -> None:
    """Compiled, and by operations of torch."""
    for seed in range(10):
        given = batch(seed)
        if not has_final:
            del given["final_value"]
        found = token_advantages(
            **given | {"reward": given["reward"].clone().requires_grad_(differentiated)},
            masked_reward=masked_reward,
        )
        wanted, dropped = by_loop(**{"final_value": None, **given}, masked_reward=masked_reward)
        assert close(found.advantages, wanted)
        value = torch.where(given["mask"], given["value"], 0)
        assert close(found.returns, wanted + value)
        assert torch.equal(found.dropped, dropped)
        assert torch.equal(found.policy_weight, given["mask"])
        assert torch.equal(found.value_weight, given["mask"])


@given(st.integers(0, 10**6), st.integers(0, 13), st.integers(1, 4))
def test_masked_tokens_without_reward_change_nothing(seed: int, at: int, count: int) -> None:
    given = batch(seed, rows=2)
    noise = torch.rand(2, count, dtype=torch.float64)

    def longer(name: str) -> Tensor:
        one = given[name]
        at_end = at == one.shape[1]
        filler: Tensor = {
            "reward": torch.zeros_like(noise),
            "value": noise / 0 if seed % 2 else noise,
            "mask": noise < 0,
            "segment": one[:, [at - at_end]].expand(2, count),
            "truncated": noise < 0,
        }.get(name, noise)
        return torch.cat([one[:, :at], filler, one[:, at:]], 1)

    plain = dict(given)
    if at == 13:  # behind the last token: what is read there moves
        for name in ("truncated", "final_value", "gamma"):
            tail = given[name][:, -1:].expand(2, count)
            given[name] = torch.cat([given[name], tail], 1)
        given["truncated"] = given["truncated"].clone()
        given["truncated"][:, 12:-1] = False
    names = [name for name in given if given[name].shape[1] == 13]
    wide = given | {name: longer(name) for name in names}
    kept = [t for t in range(13 + count) if not at <= t < at + count]
    assert close(token_advantages(**wide).advantages[:, kept], token_advantages(**plain).advantages)


def test_packed_responses_equal_separate_ones() -> None:
    given = batch(3)
    found = token_advantages(**given).advantages
    for i in range(5):
        for begin, end in responses(given["segment"][i]):
            alone = {name: one[i : i + 1, begin:end] for name, one in given.items()}
            assert close(token_advantages(**alone).advantages, found[i : i + 1, begin:end])


@pytest.mark.parametrize("differentiated", [False, True])
def test_what_reaches_no_trained_token_may_be_nan(differentiated: bool) -> None:
    """Rewards before the first one, and what follows a response without one."""
    segment = torch.tensor([[0, 1, 1, 1, 2, 2]])
    mask = torch.tensor([[1, 0, 1, 1, 0, 0]])
    reward = torch.tensor([[1.0, math.nan, 1.0, 1.0, math.inf, 0.0]]).requires_grad_(differentiated)
    gamma = torch.full((1, 6), 0.5, requires_grad=differentiated)
    found = token_advantages(
        *(reward, torch.zeros(1, 6), mask),
        gamma=gamma,
        lam=1.0,
        segment=segment,
        truncated=torch.eye(6).bool()[None, 5],
        final_value=torch.full((1, 6), math.nan),
        masked_reward="discount",
    )
    assert found.advantages.tolist() == [[1, 0, 1.5, 1, 0, 0]]
    assert found.dropped.tolist() == [2]
    if differentiated:
        (gradient,) = torch.autograd.grad(found.advantages.sum(), gamma)
        assert gradient.isfinite().all()


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_side_of_padding_does_not_matter(side: str) -> None:
    given = {name: batch(1)[name] for name in ("reward", "value", "mask")}
    pads = {
        "reward": torch.zeros(5, 4),
        "value": torch.full((5, 4), 7.0),
        "mask": torch.zeros(5, 4),
    }

    def padded(name: str) -> Tensor:
        parts = [pads[name].to(given[name].dtype), given[name]]
        return torch.cat(parts if side == "left" else parts[::-1], 1)

    options: dict[str, Any] = {
        "gamma": 0.9,
        "lam": 0.8,
        "truncated": torch.tensor([True, False] * 2 + [True]),
    }
    found = token_advantages(*map(padded, given), **options).advantages
    kept = found[:, 4:] if side == "left" else found[:, :-4]
    given["reward"].requires_grad_()  # by operations of torch, unlike the padded ones
    assert close(kept, token_advantages(*given.values(), **options).advantages)


def test_without_discounting_it_is_the_sum_of_rewards_less_the_value() -> None:
    given = {name: batch(2)[name] for name in ("reward", "value", "mask")}
    found = token_advantages(**given, gamma=1.0, lam=1.0).advantages
    to_come = given["reward"].flip(1).cumsum(1).flip(1)
    assert close(found, torch.where(given["mask"], to_come - given["value"], 0))


def test_dropped_rewards_are_the_rule_of_verl() -> None:
    """Its loop passes over observation tokens, with their rewards."""
    given = {name: batch(4)[name] for name in ("reward", "value", "mask")}
    last, next_value, found = torch.zeros(5), torch.zeros(5), []
    mask, value = given["mask"].double(), torch.where(given["mask"], given["value"], 0)
    for t in range(12, -1, -1):
        step = given["reward"][:, t] + 0.9 * next_value - value[:, t] + 0.9 * 0.8 * last
        next_value = value[:, t] * mask[:, t] + (1 - mask[:, t]) * next_value
        last = step * mask[:, t] + (1 - mask[:, t]) * last
        found.append(last)
    wanted = torch.where(given["mask"], torch.stack(found[::-1], 1), 0)
    ours = token_advantages(**given, gamma=0.9, lam=0.8, masked_reward="drop").advantages
    assert close(ours, wanted)


def test_it_is_a_beta_return() -> None:
    """β = (1 − λ) · mask, and a discount of 1 into masked tokens."""
    given = {name: batch(5)[name] for name in ("reward", "value", "mask")}
    reward, value, mask = given.values()
    value = torch.where(mask, value, 0)
    next_mask = torch.cat([mask[:, 1:], mask[:, :1] & False], 1)
    wanted = beta_advantages(
        *(reward, value, value.roll(-1, 1), (1 - 0.8) * next_mask.double()),
        discount=1 - (1 - 0.9) * next_mask.double(),
        terminated=torch.arange(13).eq(12).expand(5, 13),
        axis=1,
    )
    ours = token_advantages(reward, value, mask, gamma=0.9, lam=0.8).advantages
    assert close(ours, torch.where(mask, wanted, 0))


class TestTurns:
    """Three turns, a reward after the first on a token of a tool."""

    mask = torch.tensor([[1, 1, 0, 1, 1, 0, 0, 1]])
    turn = torch.tensor([[0, 0, 7, 1, 1, 7, 7, 2]])
    reward = torch.tensor([[0.0, 1.0, 0.5, 0.0, 2.0, 0.0, 0.0, 4.0]])
    value = torch.tensor([[1.0, 2.0, math.nan, 3.0, 4.0, math.nan, math.nan, 5.0]])

    def advantages(self, turn: Any, gamma: float = 1.0, lam: float = 1.0) -> list[float]:
        found = token_advantages(
            self.reward, self.value, self.mask, gamma=gamma, lam=lam, turn=turn
        )
        return list(found.advantages[0, self.mask[0].bool()].tolist())

    def test_credit_stays_in_its_turn(self) -> None:
        """β = 1 where a turn begins: the value there stands for all that follows."""
        assert self.advantages(self.turn) == [1.5 + 3 - 1, 1.5 + 3 - 2, 2 + 5 - 3, 2 + 5 - 4, 4 - 5]

    def test_turns_have_their_own_discount_and_lambda(self) -> None:
        """With γ = λ = 1 within turns, they are the steps of a turn-level GAE."""
        got = self.advantages(Turns(self.turn, gamma=0.5, lam=0.5))
        last = 4 - 5
        second = 2 + 0.5 * 5 - 3 + 0.25 * last
        first = 1.5 + 0.5 * 3 - 1 + 0.25 * second
        assert got == [first, first - 1, second, second - 1, last]

    def test_two_levels(self) -> None:
        """First the last tokens of turns, then the tokens before them."""
        got = self.advantages(Turns(self.turn, 0.5, 0.5, two_level=True), gamma=0.9, lam=0.8)
        third = 4 - 5
        second = 2 + 0.5 * 5 - 4 + 0.25 * third
        first = 1.5 + 0.5 * 4 - 2 + 0.25 * second
        step = 0.9 * 0.8
        wanted = [0.9 * 2 - 1 + step * first, first, 0.9 * 4 - 3 + step * second, second, third]
        assert got == pytest.approx(wanted)

    def test_a_reward_between_tokens_of_one_turn_stays_in_it(self) -> None:
        turn = torch.zeros_like(self.turn)
        turn[0, -1] = 1
        got = self.advantages(Turns(turn, two_level=True), gamma=0.0)
        assert got[:2] == [0 - 1, 1.5 - 2]

    def test_a_reward_within_a_turn_stays_with_the_tokens_before_it(self) -> None:
        turns = Turns(self.turn, 0.5, 0.5, two_level=True)
        plain = self.advantages(turns)
        reward = self.reward + torch.eye(8)[3]
        found = token_advantages(reward, self.value, self.mask, gamma=1.0, lam=1.0, turn=turns)
        more = found.advantages[0, self.mask[0].bool()] - torch.tensor(plain)
        assert more.tolist() == [0, 0, 1, 0, 0]

    def test_padding_behind_a_truncated_turn_changes_nothing(self) -> None:
        """What follows costs γ, not the γ with which the last turn begins."""
        turns = Turns(torch.tensor([[0, 1, 1]]), gamma=0.5, lam=1.0)
        for tokens in (2, 3):
            found = token_advantages(
                *(torch.zeros(1, tokens), torch.zeros(1, tokens), torch.arange(tokens)[None] < 2),
                gamma=1.0,
                lam=1.0,
                turn=turns._replace(ids=turns.ids[:, :tokens]),
                truncated=True,
                final_value=torch.ones(1),
            )
            assert found.advantages[0, :2].tolist() == [0.5, 1]

    @pytest.mark.parametrize("masked_reward", MODES)
    def test_inserted_tokens_change_nothing(self, masked_reward: Any) -> None:
        """In one level and in two, wherever they stand."""
        for two_level, at in itertools.product((False, True), range(9)):
            kept = [t for t in range(9) if t != at]
            wide = torch.full((4, 9), math.nan)
            wide[:, kept] = torch.cat([self.reward, self.value, self.mask, self.turn])
            found = [
                token_advantages(
                    *(reward.nan_to_num(0), value, mask.nan_to_num(0)),
                    gamma=0.9,
                    lam=0.8,
                    turn=Turns(ids.nan_to_num(5).long(), 0.7, 0.6, two_level),
                    truncated=True,
                    masked_reward=masked_reward,
                ).advantages
                for reward, value, mask, ids in (wide[:, kept][:, None], wide[:, None])
            ]
            assert torch.allclose(found[0], found[1][:, kept])

    def test_all_dropped_rewards_are_counted(self) -> None:
        turn = torch.tensor([[0, 0, 0, 0, 0, 1, 1, 1]])
        found = token_advantages(
            *(torch.ones(1, 8), self.value, self.mask),
            gamma=1.0,
            lam=1.0,
            turn=Turns(turn, two_level=True),
            masked_reward="drop",
        )
        assert found.dropped.tolist() == [3]

    def test_turns_end_with_their_response(self) -> None:
        segment = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1]])
        given = (self.reward, self.value, self.mask)
        cut, following = torch.eye(8)[None, 2] == 1, torch.full((1, 8), 3.0)
        options: dict[str, Any] = {"gamma": 0.9, "lam": 0.8}
        turns = Turns(torch.zeros_like(self.turn), 0.5, 0.5, two_level=True)
        both = token_advantages(
            *given,
            **options,
            turn=turns,
            segment=segment,
            truncated=cut,
            final_value=following,
        )
        for part in (slice(0, 3), slice(3, 8)):
            one = token_advantages(
                *(x[:, part] for x in given),
                **options,
                turn=turns._replace(ids=turns.ids[:, part]),
                truncated=cut[:, part],
                final_value=following[:, part],
            )
            assert torch.allclose(one.advantages, both.advantages[:, part])


def test_returns_without_a_critic_cross_tool_output() -> None:
    mask = torch.tensor([[1.0, 0.0, 1.0]])
    assert token_returns(torch.tensor([[0.0, 0.0, 1.0]]), mask, gamma=0.5).tolist() == [[0.5, 0, 1]]


def test_lambda_adapts_to_the_number_of_trained_tokens() -> None:
    mask = torch.ones(2, 100)
    mask[1, 50:] = 0
    found = length_adaptive_lambda(mask)
    assert found[:, 0].tolist() == pytest.approx([0.8, 0.6])
    assert length_adaptive_lambda(mask[:, :10])[0, 0] == 0  # not −1
    packed = length_adaptive_lambda(
        torch.ones(1, 140), segment=torch.arange(140)[None].ge(100).long()
    )
    assert packed[0, [0, 99, 100, 139]].tolist() == pytest.approx([0.8, 0.8, 0.5, 0.5])
    assert length_adaptive_lambda(torch.zeros(1, 2), alpha=1e300).isfinite().all()


@pytest.mark.parametrize("masked_reward", MODES)
def test_gradients(masked_reward: Any) -> None:
    given = batch(6, rows=2, tokens=6)
    given["value"] = torch.nan_to_num(given["value"])
    names = ["reward", "value", "gamma", "lam", "final_value"]

    def both(*some: Tensor) -> tuple[Tensor, Tensor]:
        changed = given | dict(zip(names, some, strict=True))
        return token_advantages(**changed, masked_reward=masked_reward)[:2]

    assert torch.autograd.gradcheck(both, [given[name].requires_grad_() for name in names])


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float32])
def test_half_precision_is_computed_in_single_precision(kind: torch.dtype) -> None:
    torch.manual_seed(0)
    reward, value = torch.randn(2, 3, 400).to(kind)
    mask = torch.rand(3, 400) < 0.5
    found = token_advantages(reward, value, mask, gamma=0.99, lam=0.95)
    exact = token_advantages(reward.double(), value.double(), mask, gamma=0.99, lam=0.95)
    assert found.advantages.dtype == found.returns.dtype == kind
    assert torch.allclose(
        found.advantages.double(), exact.advantages, atol=1e-5, rtol=torch.finfo(kind).eps
    )


def test_two_levels_round_once() -> None:
    torch.manual_seed(0)
    reward, value = torch.randn(2, 3, 400).bfloat16()
    mask, turn = torch.rand(3, 400) < 0.5, torch.arange(400).expand(3, -1) // 50
    options: dict[str, Any] = {"gamma": 1.0, "lam": 0.9, "turn": Turns(turn, 1.0, 0.9, True)}
    found = token_advantages(reward, value, mask, **options)
    wide = token_advantages(reward.float(), value.float(), mask, **options)
    assert torch.equal(found.advantages, wide.advantages.bfloat16())


def test_results_have_the_wider_dtype() -> None:
    narrow, wide, mask = torch.zeros(1, 2).bfloat16(), torch.ones(1, 2), torch.ones(1, 2)
    for reward, value in ((narrow, wide), (wide, narrow)):
        found = token_advantages(reward, value, mask, gamma=1.0, lam=1.0)
        assert found.advantages.dtype == found.returns.dtype == torch.float32


@pytest.mark.parametrize("kind", [torch.float16, torch.float32])
@pytest.mark.parametrize("differentiated", [False, True])
def test_numbers_that_do_not_fit_are_refused(kind: torch.dtype, differentiated: bool) -> None:
    large = torch.full((1, 3), torch.finfo(kind).max / 2, dtype=kind)
    with pytest.raises(InputError, match="too large for torch"):
        token_advantages(
            *(large.requires_grad_(differentiated), torch.zeros(1, 3, dtype=kind)),
            torch.ones(1, 3),
            gamma=1.0,
            lam=1.0,
        )


def test_other_devices_get_the_formula() -> None:
    given = {name: one.to("meta") for name, one in batch(0).items()}
    assert token_advantages(**given).advantages.shape == (5, 13)


@pytest.mark.slow
def test_it_compiles() -> None:
    given = batch(7)
    compiled = torch.compile(token_advantages, backend="aot_eager", fullgraph=True)
    assert close(compiled(**given).advantages, token_advantages(**given).advantages)
    turns = Turns(torch.arange(13).expand(5, 13) // 4, 0.9, 0.8, two_level=True)
    given |= {"gamma": 0.9, "lam": 1, "turn": turns}
    assert close(compiled(**given).advantages, token_advantages(**given).advantages)
    mask = given["mask"]
    adaptive = torch.compile(length_adaptive_lambda, backend="aot_eager", fullgraph=True)
    assert torch.equal(adaptive(mask, 0.5), length_adaptive_lambda(mask, 0.5))


def test_it_can_be_mapped_over_batches() -> None:
    given = batch(7)
    names = ["reward", "value", "mask", "segment", "truncated"]
    many = [torch.stack([given[name], batch(8)[name]]) for name in names]

    def advantages(*some: Tensor) -> Tensor:
        return token_advantages(**given | dict(zip(names, some, strict=True))).advantages

    found = torch.func.vmap(advantages)(*many)
    assert close(found[1], advantages(*(one[1] for one in many)))


def test_nothing_to_do() -> None:
    empty = torch.zeros(0, 5), torch.zeros(0, 5), torch.zeros(0, 5)
    assert token_advantages(*empty, gamma=1.0, lam=1.0).advantages.shape == (0, 5)
    masked = torch.ones(2, 3), torch.full((2, 3), math.nan), torch.zeros(2, 3)
    found = token_advantages(*masked, gamma=1.0, lam=1.0)
    assert isinstance(found, TokenAdvantages)
    assert found.advantages.tolist() == [[0, 0, 0]] * 2
    assert found.dropped.tolist() == [3, 3]


PLAIN: dict[str, Any] = {
    "reward": torch.zeros(2, 3),
    "value": torch.zeros(2, 3),
    "mask": torch.ones(2, 3),
    "gamma": 0.9,
    "lam": 0.9,
}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a NaN value of a trained token": (
        {"value": torch.tensor([[0, 0, 0], [0, math.nan, 0]])},
        "value[1, 1] is nan: give finite numbers, or mask the token.",
    ),
    "shapes": (
        {"value": torch.zeros(3, 2)},
        "reward has shape (2, 3) and value (3, 2): give both as (batch, tokens).",
    ),
    "whole numbers": (
        {"reward": torch.zeros(2, 3, dtype=torch.int64)},
        "reward is a tensor of torch.int64 of shape (2, 3): give a dense tensor of floating-point "
        "numbers.",
    ),
    "a mask of other numbers": (
        {"mask": torch.full((2, 3), 0.5)},
        "mask holds other numbers than 0 and 1: give 1 for trained tokens.",
    ),
    "lambda": ({"lam": 1.5}, "lam is 1.5: every entry must lie in [0, 1]."),
    "gamma of a token": (
        {"gamma": torch.tensor([[0.5], [2.0]])},
        "gamma[1, 0] is 2: give numbers from 0 to 1.",
    ),
    "one lambda for each sample, or for each token": (
        {"lam": torch.ones(3)},
        "lam has shape (3,): give one number, or a tensor of shape (2, 1), (1, 3) or (2, 3).",
    ),
    "a NaN reward of a masked token": (
        {
            "reward": torch.tensor([[0, 0, math.nan], [0, 0, 0]]),
            "mask": torch.tensor([1, 1, 0]).expand(2, 3),
        },
        "reward[0, 2] is nan: give finite numbers.",
    ),
    "truncated in the middle": (
        {"truncated": torch.eye(2, 3).bool()},
        "truncated[0, 0] is True, but the response goes on: mark its last token, padding included.",
    ),
    "one flag for packed responses": (
        {"truncated": torch.ones(2).bool(), "segment": torch.arange(6).reshape(2, 3)},
        "truncated has shape (2,): give (2, 3), read at the last token of each segment, or (2,) if "
        "there are no segments.",
    ),
    "one flag for a row of packed responses": (
        {name: torch.zeros(1, 3) for name in ("reward", "value", "mask")}
        | {"truncated": torch.ones(1).bool(), "segment": torch.arange(3)[None]},
        "truncated has shape (1,): give (1, 3), read at the last token of each segment, or (1,) if "
        "there are no segments.",
    ),
    "segments": (
        {"segment": torch.full((2, 3), math.nan)},
        "segment is a tensor of torch.float32 of shape (2, 3): give whole numbers, (2, 3).",
    ),
    "a sparse tensor": (
        {"mask": torch.ones(2, 3).to_sparse()},
        "mask is a tensor of torch.sparse_coo: give a dense tensor of shape (2, 3).",
    ),
    "a word": (
        {"masked_reward": "lose"},
        "masked_reward is 'lose': give one of 'carry', 'discount', 'keep', 'drop'.",
    ),
    "turns": ({"turn": torch.zeros(2, 3)}, "turn is a tensor of torch.float32 of shape (2, 3): "
              "give whole numbers, (2, 3)."),
    "levels": (
        {"turn": Turns(torch.zeros(2, 3, dtype=torch.int64), two_level="no")},  # type: ignore[arg-type]
        "turn.two_level is 'no': give True or False.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_one_sentence(case: str) -> None:
    changed, sentence = WRONG[case]
    given = PLAIN | changed
    wants_gradients = torch.ones(1, requires_grad=True)
    for value in (given["value"], given["value"] * wants_gradients):
        with pytest.raises(InputError) as raised:
            token_advantages(**given | {"value": value})
        assert str(raised.value) == sentence
