"""Does it matter how advantages treat the tokens that tools wrote? A study with a small network.

A recurrent network looks up two facts with a tool and answers with the second one. The tool
answers with many tokens, one of which matters. Compared are ways to treat these tokens in
generalised advantage estimation: how well a critic learns the values of a fixed policy, which are
known, and how well PPO learns the task.

About three hours of one core; it resumes where it was stopped:

    python examples/tokens_study.py              # runs that examples/tokens_study.csv lacks
    python examples/tokens_study.py --table      # tables from the stored runs
    python examples/tokens_study.py --picture    # docs/pictures/tokens_study.png
"""

from __future__ import annotations

import argparse
import csv
import runpy
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from preftd.torch import token_advantages

STORED = Path(__file__).with_suffix(".csv")
REPORT = Path(__file__).parents[1] / "docs" / "pictures" / "tokens_study.py"
SYMBOLS = 3
"""Symbols that the model writes, and of which facts consist."""
DISTRACTORS = 8
INPUTS = 3 * SYMBOLS + 1 + DISTRACTORS
"""A token is a symbol of the model, a fact (two symbols), "not found" or a distractor. Inputs are
vectors of zeros and ones, with two ones for a fact."""
PAY = torch.tensor([0.125, 0.125, 0.125, 0.125, 0.25, 0.25])
"""Pay for each symbol that is right: 1 in all."""
SKILL = torch.tensor([0.5, 0.75, 1.0])
"""How often the fixed policy is right if it can be, given the first symbol of the prompt."""
LAMBDA = 0.95


class Task(NamedTuple):
    """Two queries of two symbols, each answered by a tool, and an answer of two symbols.

    The prompt shows the first query, the tool's first fact is the second query, and its second fact
    is the answer. The tool finds nothing if a query, or an earlier one, is wrong.

    Parameters
    ----------
    span : int
        Tokens of each answer of the tool: the fact at a random place, the rest distractors. With 0,
        the fact is read together with the last symbol of the query.
    pay : {"end", "tool"}
        When queries are paid: with the last token of all, or when the tool is done, with the last
        token of its answer.

    """

    span: int
    pay: str

    @property
    def mask(self) -> Tensor:
        """Which tokens the model writes, of shape (tokens,)."""
        query, tool = torch.ones(2).bool(), torch.zeros(self.span).bool()
        return torch.cat([query, tool, query, tool, query])

    @property
    def turns(self) -> Tensor:
        """The turn of each token, of shape (tokens,)."""
        sizes = torch.tensor([2 + self.span, 2 + self.span, 2])
        return torch.arange(3).repeat_interleave(sizes)


class Episodes(NamedTuple):
    """A batch of episodes; the model writes its 6 symbols at the same places in all.

    inputs   what is read before each token is written, of shape (batch, tokens, INPUTS)
    reward   of shape (batch, tokens)
    written  symbols of the model, of shape (batch, 6)
    hits     whether they are right, of shape (batch, 6)
    skill    how often the fixed policy is right, of shape (batch,)
    """

    inputs: Tensor
    reward: Tensor
    written: Tensor
    hits: Tensor
    skill: Tensor


class Writer(Protocol):
    """Whatever writes the symbols of the model."""

    def read(self, inputs: Tensor) -> None:
        """Read tokens, of shape (batch, tokens, INPUTS)."""

    def write(self, right: Tensor, chance: Tensor) -> Tensor:
        """Return a symbol for each episode.

        Parameters
        ----------
        right : tensor of int of shape (batch,)
            The right symbols, for writers that do not learn.
        chance : tensor of shape (batch,)
            How often they should write it.

        """


class FixedPolicy:
    """Writes the right symbol with a given probability, otherwise one of the others."""

    def read(self, inputs: Tensor) -> None:
        """Ignore what is read."""

    def write(self, right: Tensor, chance: Tensor) -> Tensor:
        """Draw symbols."""
        shift = torch.randint(1, SYMBOLS, right.shape)
        return torch.where(torch.rand(right.shape) < chance, right, (right + shift) % SYMBOLS)


class Network(nn.Module):
    """A recurrent network with a head for the policy and one for values."""

    def __init__(self, hidden: int, memory: int) -> None:
        super().__init__()
        self.body = nn.GRU(INPUTS, hidden, batch_first=True)
        self.policy, self.value = nn.Linear(hidden, SYMBOLS), nn.Linear(hidden, 1)
        with torch.no_grad():  # units begin with memories of 1 to 1 + `memory` tokens
            own, keeping = dict(self.body.named_parameters()), slice(hidden, 2 * hidden)
            nn.init.normal_(own["weight_ih_l0"])
            own["bias_ih_l0"][keeping] = (1 + torch.rand(hidden) * memory).log()
            own["bias_hh_l0"][keeping] = 0
            self.value.weight *= 0.1


class NetworkWriter:
    """Samples symbols from the policy of a network."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.state: Tensor | None = None

    def read(self, inputs: Tensor) -> None:
        """Advance the state of the network."""
        with torch.no_grad():
            self.state = self.network.body(inputs, self.state)[1]

    def write(self, right: Tensor, chance: Tensor) -> Tensor:
        """Sample symbols."""
        assert self.state is not None
        with torch.no_grad():
            return torch.multinomial(self.network.policy(self.state[0]).softmax(-1), 1)[:, 0]


def play(task: Task, writer: Writer, batch: int) -> Episodes:
    """Play a batch of episodes."""
    facts = torch.randint(SYMBOLS, (3, batch, 2))  # the prompt, and what the tool finds
    skill = SKILL[facts[0, :, 0]]
    found = torch.ones(batch).bool()
    reading, inputs, written, hits = _fact(facts[0])[:, None], [], [], []
    for turn, fact in enumerate(facts):
        for right in fact.T:
            inputs.append(reading)
            writer.read(reading)
            written.append(writer.write(right, torch.where(found, skill, 1 / SYMBOLS)))
            hits.append(written[-1] == right)
            reading = functional.one_hot(written[-1], INPUTS).float()[:, None]
        found = found & hits[-1] & hits[-2]
        if turn == 2:
            continue
        answer = torch.where(found[:, None], _fact(facts[turn + 1]), NOT_FOUND)
        if task.span == 0:
            reading = reading + answer[:, None]
            continue
        whole = torch.cat([reading, _span(answer, task.span)], 1)
        reading = whole[:, -1:]  # read with the first symbol of the next turn
        inputs.append(whole[:, :-1])
        writer.read(whole[:, :-1])
    right_ones = torch.stack(hits, 1)
    reward = _rewards(task, right_ones * PAY)
    return Episodes(torch.cat(inputs, 1), reward, torch.stack(written, 1), right_ones, skill)


def _rewards(task: Task, earned: Tensor) -> Tensor:
    """When what symbols earned, of shape (batch, 6), is paid: (batch, tokens)."""
    length = 6 + 2 * task.span
    reward = torch.zeros(len(earned), length)
    ends = [length - 1] * 3 if task.pay == "end" else [1 + task.span, 3 + 2 * task.span, length - 1]
    for turn, end in enumerate(ends):
        reward[:, end] += earned[:, 2 * turn : 2 * turn + 2].sum(1)
    return reward


NOT_FOUND = functional.one_hot(torch.tensor(3 * SYMBOLS), INPUTS).float()


def _fact(pair: Tensor) -> Tensor:
    places = pair + torch.tensor([SYMBOLS, 2 * SYMBOLS])
    return functional.one_hot(places, INPUTS).sum(-2).float()


def _span(answer: Tensor, length: int) -> Tensor:
    """An answer at a random place among distractors, of shape (batch, length, INPUTS)."""
    noise = torch.randint(INPUTS - DISTRACTORS, INPUTS, (len(answer), length))
    span = functional.one_hot(noise, INPUTS).float()
    span[torch.arange(len(answer)), torch.randint(length, (len(answer),))] = answer
    return span


def true_values(task: Task, episodes: Episodes) -> Tensor:
    """Values of the fixed policy at the symbols of the model, of shape (batch, 6)."""
    hits, skill = episodes.hits, episodes.skill
    lost = [PAY[2 * turn :].sum() / SYMBOLS for turn in range(4)]  # guesses from a turn on
    start = [torch.zeros_like(skill)]  # values of turns to which the tool's facts are known
    for turn in (2, 1, 0):
        pay = PAY[2 * turn : 2 * turn + 2].sum()
        start.insert(0, skill * pay + skill**2 * start[0] + (1 - skill**2) * lost[turn + 1])
    coming, found = [], torch.ones(len(hits)).bool()
    for turn in range(3):
        chance = torch.where(found, skill, 1 / SYMBOLS)
        coming.append(torch.where(found, start[turn], lost[turn]))
        goes_on = torch.where(found & hits[:, 2 * turn], chance, 0.0)
        after = goes_on * start[turn + 1] + (1 - goes_on) * lost[turn + 1]
        coming.append(chance * PAY[2 * turn + 1] + after)
        found = found & hits[:, 2 * turn] & hits[:, 2 * turn + 1]
    earned, paid = hits * PAY, episodes.reward
    before = earned.cumsum(1) - earned - (paid.cumsum(1) - paid)[:, task.mask]
    return torch.stack(coming, 1) + before


ARMS = ("steps", "fitted", "zeros", "drop", "turns", "ones", "carry")
"""How tokens of tools are treated:

steps   they are steps of GAE like others, but the critic learns at tokens of the model only
fitted  the same, but the critic learns at tokens of tools too
zeros   they are steps of GAE, and their values are 0
drop    they are skipped, and so are their rewards
turns   they are skipped, their rewards are carried, and λ is 0 from one turn to the next
ones    λ is 1 everywhere: nothing is bootstrapped, and it does not matter whether they are skipped
carry   they are skipped, and their rewards are carried to the token before
"""


def targets(arm: str, task: Task, reward: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Advantages, targets of the critic and where it learns them, each of shape (batch, tokens)."""
    mask = task.mask.expand(reward.shape)
    steps = torch.ones_like(mask) if arm in ("steps", "fitted", "zeros") else mask
    found = token_advantages(
        *(reward, torch.where(mask, value, 0.0) if arm == "zeros" else value, steps),
        gamma=1.0,
        lam=1.0 if arm == "ones" else LAMBDA,
        turn=task.turns.expand(mask.shape).contiguous() if arm == "turns" else None,
        masked_reward="drop" if arm == "drop" else "carry",
    )
    return found.advantages, found.returns, steps if arm == "fitted" else mask


class Run(NamedTuple):
    """What identifies a run; the step size is Adam's."""

    study: str
    pay: str
    span: int
    arm: str
    rate: float
    seed: int


class Size(NamedTuple):
    """How long runs are."""

    updates: int = 100
    batch: int = 64
    epochs: int = 4
    hidden: int = 32
    tested: int = 512
    points: int = 20


def learn_policy(run: Run, size: Size) -> list[float]:
    """Train by PPO; return the mean return of episodes in each part of the training."""
    torch.manual_seed(run.seed)
    task = Task(run.span, run.pay)
    network = Network(size.hidden, 1 + 2 * run.span)
    optimiser = torch.optim.Adam(network.parameters(), lr=run.rate, fused=True)
    returns = torch.zeros(size.updates)
    for update in range(size.updates):
        episodes = play(task, NetworkWriter(network), size.batch)
        returns[update] = episodes.reward.sum(1).mean()
        advantages = old = target = learned = torch.empty(0)
        for epoch in range(size.epochs):
            states = network.body(episodes.inputs)[0]
            values = network.value(states)[..., 0]
            log_probs = network.policy(states[:, task.mask]).log_softmax(-1)
            log_prob = log_probs.gather(-1, episodes.written[..., None])[..., 0]
            entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
            if epoch == 0:
                found = targets(run.arm, task, episodes.reward, values.detach())
                advantages, target, learned = found[0][:, task.mask], *found[1:]
                advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
                old = log_prob.detach()
            ratio = (log_prob - old).exp()
            gain = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
            error = ((values - target)[learned] ** 2).mean()
            _step(optimiser, network, 0.5 * error - gain - 0.01 * entropy)
    return returns.view(size.points, -1).mean(1).tolist()


def learn_values(run: Run, size: Size) -> list[float]:
    """Train a critic; return its mean squared errors, divided by the variance of true values."""
    torch.manual_seed(run.seed)
    task = Task(run.span, run.pay)
    network = Network(size.hidden, 1 + 2 * run.span)
    optimiser = torch.optim.Adam(network.parameters(), lr=run.rate, fused=True)
    test = play(task, FixedPolicy(), size.tested)
    truth, errors = true_values(task, test), []
    for update in range(1, 1 + 2 * size.updates):
        episodes = play(task, FixedPolicy(), size.batch)
        values = network.value(network.body(episodes.inputs)[0])[..., 0]
        _, target, learned = targets(run.arm, task, episodes.reward, values.detach())
        _step(optimiser, network, ((values - target)[learned] ** 2).mean())
        if update % (2 * size.updates // size.points) == 0:
            with torch.no_grad():
                found = network.value(network.body(test.inputs)[0][:, task.mask])[..., 0]
            errors.append((((found - truth) ** 2).mean() / truth.var()).item())
    return errors


def _step(optimiser: torch.optim.Optimizer, network: Network, loss: Tensor) -> None:
    optimiser.zero_grad()
    torch.autograd.backward(loss)
    nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimiser.step()


STUDIES = {"values": learn_values, "policy": learn_policy}
RATES = {"values": (0.003, 0.01, 0.03), "policy": (0.01, 0.02, 0.04)}
SEEDS, CHOOSING = range(10), range(1000, 1003)
"""Seeds of what is reported, and of runs by which step sizes are chosen."""
BLOCKS = (
    *(("values", "tool", 20), ("policy", "tool", 20), ("values", "tool", 0), ("policy", "tool", 0)),
    *(("values", "end", 20), ("policy", "end", 20), ("policy", "tool", 50), ("values", "tool", 50)),
    *(("policy", "tool", 100), ("values", "tool", 100)),
    *(("policy", "tool", 200), ("values", "tool", 200)),
)
"""What is learned, when queries are paid, and how many tokens the tool answers with."""
COMMON = 0.02
"""A step size with which PPO is run in any case: that chosen on a few seeds may be a bad one."""
NAMES = (*Run._fields, "seconds", "curve")
Curves = dict[Run, list[float]]


def arms_of(pay: str, span: int) -> list[str]:
    """Arms that differ: without tokens of tools, only turns and λ matter."""
    if span == 0:
        return ["turns", "ones", "carry"]
    return [arm for arm in ARMS if arm != "drop" or pay == "tool"]


def score(study: str, curve: list[float]) -> float:
    """What a run is judged by, the larger the better: its mean return, or minus its last errors."""
    last = curve[-5:]
    return sum(curve) / len(curve) if study == "policy" else -sum(last) / len(last)


def chosen_rate(curves: Curves, run: Run) -> float:
    """The step size that is best for an arm on the seeds that are for choosing."""

    def total(rate: float) -> float:
        tried = (run._replace(rate=rate, seed=seed) for seed in CHOOSING)
        return sum(score(run.study, curves[one]) for one in tried)

    return max(RATES[run.study], key=total)


def planned(curves: Curves) -> Iterator[Run]:
    """All runs; those with chosen step sizes once the others of a block are there."""
    for study, pay, span in BLOCKS:
        arms = arms_of(pay, span)
        for arm, rate, seed in product(arms, RATES[study], CHOOSING):
            yield Run(study, pay, span, arm, rate, seed)
        for seed, arm in product(SEEDS, arms):
            run = Run(study, pay, span, arm, COMMON, seed)
            yield run._replace(rate=chosen_rate(curves, run))
            if study == "policy":
                yield run


def stored_curves(file: Path) -> Curves:
    """Runs in a file."""
    if not file.exists():
        return {}
    with file.open(newline="", encoding="utf-8") as stream:
        return {
            Run(
                *(row["study"], row["pay"], int(row["span"]), row["arm"]),
                *(float(row["rate"]), int(row["seed"])),
            ): [float(x) for x in row["curve"].split()]
            for row in csv.DictReader(stream)
        }


def compute(file: Path, size: Size) -> None:
    """Compute the runs that a file lacks, and append them."""
    curves = stored_curves(file)
    if not file.exists():
        file.write_text(",".join(NAMES) + "\n", encoding="utf-8")
    for run in planned(curves):
        if run in curves:
            continue
        began = time.process_time()
        curve = [float(f"{x:.4g}") for x in STUDIES[run.study](run, size)]
        curves[run] = curve
        row = (*run, f"{time.process_time() - began:.1f}", " ".join(map(str, curve)))
        with file.open("a", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerow(row)
        print(*row[:-1], f"{score(run.study, curve):.3f}", flush=True)


def main() -> None:
    """Compute runs, or show what they gave."""
    parser = argparse.ArgumentParser(description="How advantages treat tokens of tools")
    parser.add_argument("file", nargs="?", type=Path, default=STORED)
    parser.add_argument("--table", action="store_true", help="print tables of the stored runs")
    parser.add_argument(
        "--picture", action="store_true", help="draw docs/pictures/tokens_study.png"
    )
    given = parser.parse_args()
    if given.table or given.picture:
        report = runpy.run_path(str(REPORT), run_name="report")
        if given.picture:
            report["draw"](report["read_runs"](given.file))
        if given.table:
            print("\n\n".join(report["tables"](given.file)))
        return
    torch.set_num_threads(1)
    compute(given.file, Size())


if __name__ == "__main__":
    main()
