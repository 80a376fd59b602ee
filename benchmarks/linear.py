"""Linear learning with 24 step sizes in one pass, compared with C and NumPy loops that take one.

Features are random vectors that fit into the cache; β is 1 at 30 % of the steps and 0 at the
others. All contenders compute the same weights. A second table compares the held view with the
paper's algorithm for several β.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.peers import linear_in_c, linear_in_numpy
from benchmarks.timing import Contender, Times, compete, head, row
from preftd._src.arrays import Dense
from preftd._src.learners.linear.batch import Linear, LinearBatch
from preftd._src.learners.steps import Steps
from preftd._src.tasks.scored import Scored
from preftd.experiments import evaluate
from preftd.preferences import Constant
from preftd.rules import PTD, TD, Rule
from preftd.tasks import make

SECONDS = 3.0
"""How long all contenders of a row run together."""
FEATURES = (3, 19, 32)
STEPS, VECTORS, EPISODES = 20_000, 1_000, 400
STEP_SIZES = tuple(np.geomspace(1e-4, 1e-2, 24).tolist())
COLUMNS = ("ours, 24", "ours, 1", "C", "NumPy")
BETAS = {
    "β = 1 at 30 %, else 0": ([1.0, 0.0], [0.3, 0.7]),
    "β = 1 at 5 %, else 0": ([1.0, 0.0], [0.05, 0.95]),
    "β = 1": ([1.0], [1.0]),
    "β of 0.3, 0.6 or 0.9": ([0.3, 0.6, 0.9], [1 / 3] * 3),
}
"""The values of β in the second table, and how often they occur."""


def table(seconds: float = SECONDS, steps: int = STEPS) -> Iterator[str]:
    """Yield the lines of a Markdown table: ns per update, and ratios."""
    ratios = ("C / ours, 24", "NumPy / ours, 24", "ours, 1 / C")
    yield from head(["ns per update", *COLUMNS, *ratios])
    for features in FEATURES:
        yield _row(
            f"PTD, {features} features", compete(vector_contenders(features, steps), seconds)
        )
    for features in FEATURES:
        contenders = ours(stream(features, steps), "true_online")
        yield _row(f"true online PTD, {features} features", compete(contenders, seconds))
    for rule in (TD(), PTD()):
        times = compete(walk_contenders(rule, max(1, steps * EPISODES // STEPS)), seconds)
        yield _row(f"{rule.name}, random walk of 19 states, drawn and scored", times)
    yield ""
    names = [
        f"{view}, {count}" for count in (24, 1) for view in ("backward", "held", "held / backward")
    ]
    yield from head(["ns per update of PTD", *names])
    for kind in BETAS:
        for features in FEATURES:
            yield _held_row(kind, features, steps, seconds)


def _held_row(kind: str, features: int, steps: int, seconds: float) -> str:
    taken, contenders = stream(features, steps, kind), {}
    for view in ("backward", "held"):
        for name, contender in ours(taken, view).items():
            contenders[name.replace("ours", view)] = contender
    times, cells = compete(contenders, seconds), [f"{kind}, {features} features"]
    for count in (24, 1):
        one, other = f"backward, {count}", f"held, {count}"
        cells += [times.cell(one), times.cell(other), times.ratio(other, one)]
    return row(cells)


def _row(name: str, times: Times) -> str:
    ratios = [("C", "ours, 24"), ("NumPy", "ours, 24"), ("ours, 1", "C")]
    return row([name, *map(times.cell, COLUMNS), *(times.ratio(*pair) for pair in ratios)])


def vector_contenders(features: int, steps: int) -> dict[str, Contender]:
    """Return contenders that learn from the same vectors and return their weights."""
    taken, alpha = stream(features, steps), STEP_SIZES[-1]
    return ours(taken, "backward") | {
        "C": Contender(lambda _: linear_in_c(taken, alpha), steps),
        "NumPy": Contender(lambda _: linear_in_numpy(taken, alpha), steps),
    }


def ours(steps: Steps, view: str) -> dict[str, Contender]:
    """Return contenders of this library: all 24 step sizes, and the last; both score once.

    `run` returns weights of shape (features, step sizes).
    """

    def learn(learners: LinearBatch) -> Dense:
        learners.learn(steps, Scored(np.zeros(1, np.int32), steps.dense[:0], np.zeros(1)))
        return learners.weights

    def contender(step_sizes: Sequence[float]) -> Contender:
        features, count = steps.dense.shape[1], steps.code_t.size * len(step_sizes)
        return Contender(learn, count, lambda: Linear(view).start(features, step_sizes, seed=0))

    return {"ours, 24": contender(STEP_SIZES), "ours, 1": contender(STEP_SIZES[-1:])}


def walk_contenders(rule: Rule, episodes: int) -> dict[str, Contender]:
    """Return contenders that evaluate on the random walk: draw, learn and score each episode."""
    task = make("random_walk")
    count = len(task.sampler(seed=0).episodes(episodes))

    def errors(step_sizes: Sequence[float]) -> Dense:
        return evaluate(
            task, rule, Constant(0.5), step_sizes, episodes=episodes, seeds=1, workers=1
        ).errors

    return {
        "ours, 24": Contender(lambda _: errors(STEP_SIZES), count * len(STEP_SIZES)),
        "ours, 1": Contender(lambda _: errors(STEP_SIZES[-1:]), count),
    }


def stream(features: int, steps: int, kind: str = "β = 1 at 30 %, else 0") -> Steps:
    """Return one long episode in which VECTORS random vectors recur in turn."""
    draw = np.random.default_rng(features)
    dense = 0.3 * draw.standard_normal((VECTORS, features))
    codes = (-1 - np.arange(steps + 1) % VECTORS).astype(np.int32)
    values, chances = BETAS[kind]
    beta = np.array(values)[np.searchsorted(np.cumsum(chances)[:-1], draw.random(steps))]
    discount_tp1, is_last = np.full(steps, 0.99), np.arange(steps) == steps - 1
    discount_t = np.append(0.0, discount_tp1[1:])
    decay, gain = PTD().coefficients(discount_t=discount_t, beta=beta)
    indices = np.arange(features, dtype=np.int32)[:, None]
    reward = draw.standard_normal(steps)
    code_t, code_tp1 = codes[:-1].copy(), codes[1:].copy()
    return Steps(
        code_t, code_tp1, dense, indices, reward, discount_tp1, discount_t, is_last, beta,
        np.array(decay), np.array(gain), np.ones(steps),
    )  # fmt: skip
