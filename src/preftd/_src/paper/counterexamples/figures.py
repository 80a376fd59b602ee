"""Both counterexamples: computed, simulated, drawn and explained, in a file and on the page."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter
from numpy.typing import ArrayLike

from preftd._src.arrays import Dense, Vector
from preftd._src.files import refuse_others, write_output
from preftd._src.paper.claim import Verdict
from preftd._src.report.figures.layout import mark_decades, write_note
from preftd._src.report.figures.lines import Shown, attach
from preftd._src.style import (
    DARK_SHADE,
    PAGE,
    PAPER_RC,
    SMALL_SIZE,
    THICK,
    THIN,
    Band,
    look_of,
    number_text,
    save_figure,
)
from preftd._src.tasks.chains import LAMBDAS
from preftd.rules import RULES, Rule
from preftd.tasks import make
from preftd.theory import Diagnosis, compare, mean_trajectory, report

STEP_SIZES = {"TD(λ)": 0.001, "ETD": 0.001, "PTD": 0.01}
"""Small, so that sampled updates go the way of expected ones; PTD's factor β is small already."""

INCHES = (PAGE, 6.4)
FILES = ("counterexamples.png", "counterexamples.svg", "convergence.md")
STEPS = 50_000
SEEDS = 20
FAR = 1e12
"""Stands for anything larger: far outside the figure, near enough to be drawn."""
RANGE = (1e-2, 1e3)
"""Sizes of the values that the figure shows."""
CLAIMED = {"td_diverges": ("TD(λ)", False), "ptd_converges": ("PTD", True)}
"""Claims about each chain: the rule, and whether its expected update should converge."""


def write_counterexamples(folder: Path, figure: Figure, seeds: int = SEEDS) -> list[Path]:
    """Write the figure, which simulated some seeds, and a page into a folder."""
    paths = [folder / name for name in FILES]
    refuse_others(*paths)
    *pictures, page = paths
    with mpl.rc_context(PAPER_RC):
        save_figure(figure.axes[0], *pictures)
    write_output(page, lambda file: file.write(_page(diagnoses(), seeds).encode()))
    return paths


def diagnoses() -> dict[str, list[Diagnosis]]:
    """The theory of each rule, by the name of the chain."""
    rules = [make_rule(1.0) for make_rule in RULES.values()]
    found = {}
    for name, lambda_ in LAMBDAS.items():
        task = make(name)
        found[name] = compare(task.process, task.features, rules, lambda_=lambda_)
    return found


def draw_counterexamples(
    seeds: int = SEEDS, say: Callable[[str], object] = lambda _: None
) -> Figure:
    """Simulate and draw both chains. `say` receives progress messages."""
    say(f"simulating and drawing both counterexamples: {STEPS:,} steps, {seeds} seeds …")
    every = diagnoses()
    with mpl.rc_context(PAPER_RC):
        figure = Figure(figsize=INCHES, layout="constrained")
        axes = figure.subplots(3, len(every), gridspec_kw={"height_ratios": [1.6, 3, 2]})
        for column, (name, found) in enumerate(every.items()):
            make(name).plot(axes=axes[0, column], lambda_=LAMBDAS[name])
            axes[0, column].set_title(_title(name), loc="left")
            _draw_weights(axes[1, column], name, found, seeds)
            _draw_column_sums(axes[2, column], found)
        write_note(figure, _note(seeds))
    return figure


def _draw_weights(axis: Axes, name: str, diagnoses: Sequence[Diagnosis], seeds: int) -> None:
    features = make(name).features.columns(slice(None))
    names = [d.rule.name for d in diagnoses]
    alphas = [STEP_SIZES.get(name, 0.001) for name in names]
    times = np.unique(np.linspace(0, STEPS - 1, 400).astype(int))
    runs = simulate(name, [d.rule for d in diagnoses], alphas, STEPS, seeds)[times]
    runs = np.where(np.isfinite(runs), runs, FAR)
    for i, d in enumerate(diagnoses):
        low, middle, high = np.minimum(np.quantile(runs[:, i], [0.1, 0.5, 0.9], axis=1), FAR)
        mean = mean_trajectory(d.key, alphas[i], STEPS - 1, np.ones(d.key.b.size))[times]
        expected = np.nan_to_num(size_of_values(mean, features), nan=FAR, posinf=FAR)
        colour, line, *_ = look_of(names[i])
        label = f"{names[i]}, α = {alphas[i]:g}"
        shade: Any = {"color": colour, "alpha": DARK_SHADE, "linewidth": 0}
        drawn: list[Artist] = [axis.fill_between(times, low, high, **shade)]
        drawn += axis.plot(
            times, middle, color=colour, linestyle=line, linewidth=THICK, label=label
        )
        drawn += axis.plot(times, expected, color=colour, linewidth=THIN)
        attach(drawn, Shown(label, names[i], Band(times, middle, low, high), "step"))
    axis.set(yscale="log", ylim=RANGE, xlim=(0, STEPS))
    axis.set_xlabel("step")
    axis.set_ylabel("size of the values (right: 0)")
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    mark_decades(axis.yaxis)
    axis.legend()


def _draw_column_sums(axis: Axes, diagnoses: Sequence[Diagnosis]) -> None:
    """Column sums over update weights: below 0, more is bootstrapped from than is updated."""
    width = 0.8 / len(diagnoses)
    for i, d in enumerate(diagnoses):
        share = d.column_sums / d.weights
        positions: Vector = np.arange(float(share.size)) + (i - (len(diagnoses) - 1) / 2) * width
        colour, _, hatch, _ = look_of(d.rule.name)
        inside = "white" if hatch else colour
        bars = axis.bar(
            positions,
            share,
            width,
            label=d.rule.name,
            hatch=hatch,
            facecolor=inside,
            edgecolor=colour,
        )
        attach(bars, Shown(d.rule.name, d.rule.name, Band.exact(positions, share)))
        for position, height in zip(positions, share, strict=True):
            offset = 3 if height >= 0 else -3
            number = axis.annotate(
                number_text(height, ".2f"),
                (position, height),
                (0, offset),
                textcoords="offset points",
                ha="center",
                va="bottom" if height >= 0 else "top",
                fontsize=SMALL_SIZE,
            )
            attach([number], d.rule.name)
    axis.axhline(0, color="black", linewidth=THIN)
    axis.margins(y=0.2)
    axis.set_xticks(range(diagnoses[0].weights.size), [f"state {s}" for s in range(2)])
    axis.set_ylabel("column sum / weight")
    axis.legend()


def _note(seeds: int) -> str:
    """The data of the figure."""
    return (
        "Top: both chains; rewards are 0. Middle: root-mean-square values from weights of 1; "
        f"thick, the median of {seeds} simulated runs with the band of the middle 80 %; thin, the "
        "expected update. Bottom: column sums of diag(d∘ḡ)(I − P^β) as a share of the weight of "
        "updates at the state. Below 0, more is bootstrapped from the state than is updated there."
    )


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _page(diagnoses: Mapping[str, list[Diagnosis]], seeds: int) -> str:
    parts = [
        "# Where the rules go, and why",
        "Two chains on which TD(λ) diverges although it learns on-policy. A rule's expected update "
        "is b − A w; it converges if the eigenvalues of A have positive real parts. Everything "
        "below is computed exactly from the chains, except the thick lines and bands of the "
        "figure, which are simulated.",
        "![Both chains, the size of the values over time, and column sums](counterexamples.png)",
        _note(seeds),
    ]
    for name, found in diagnoses.items():
        parts.append(f"## {_title(name)}")
        for d in found:
            rows = "; ".join(", ".join(number_text(x, ".5g") for x in row) for row in d.key.A)
            parts.append(f"A of {d.rule.name}: [{rows}]")
        parts.append(f"```text\n{report(found)}\n```")
    return "\n\n".join(parts) + "\n"


def simulate(
    name: str, rules: Sequence[Rule], step_sizes: ArrayLike, steps: int, seeds: int
) -> Dense:
    """Sizes of values, steps × rules × seeds, of rules learning online from weights of 1.

    All rules see the same states. Values that overflow are infinite or NaN: divergence is a result.
    """
    task, lambda_ = make(name), np.array(LAMBDAS[name])
    features = task.features.columns(slice(None))
    runs = [task.sampler(seed).steps(steps + 1) for seed in range(seeds)]
    states = np.stack([run.state for run in runs if run.state is not None], axis=1)
    discount_t = np.stack([run.discount_t for run in runs], axis=1)
    of_rules = [rule.coefficients(lambda_=lambda_[states], discount_t=discount_t) for rule in rules]
    decay = np.stack([c.decay for c in of_rules], axis=1)[..., None]
    gain = np.stack([c.gain for c in of_rules], axis=1)[..., None]
    alpha = np.asarray(step_sizes)[:, None, None]
    weights = np.ones((len(rules), seeds, features.shape[1]))
    trace = np.zeros_like(weights)
    sizes = np.empty((steps, len(rules), seeds))
    with np.errstate(over="ignore", invalid="ignore"):
        for t in range(steps):
            sizes[t] = size_of_values(weights, features)
            x_t, x_tp1 = features[states[t]], features[states[t + 1]]
            trace = decay[t] * trace + gain[t] * x_t
            # Rewards are 0.
            delta = (weights * (task.discount * x_tp1 - x_t)).sum(axis=-1)
            weights = weights + alpha * delta[..., None] * trace
    return sizes


def size_of_values(weights: Dense, features: Dense) -> Dense:
    """Root mean square over states of the values that weights (last axis) give."""
    return np.asarray(np.sqrt(((weights @ features.T) ** 2).mean(axis=-1)))


class Chain(NamedTuple):
    """A chain of two states.

    title          such as "Counterexample 1"
    discount       γ
    probabilities  of the next state, by state
    features       of each state, as text
    lambdas        of each state
    told           of each rule, whether it converges, A, and its eigenvalues
    report         what theory says, as text
    """

    title: str
    discount: str
    probabilities: list[list[str]]
    features: list[str]
    lambdas: list[str]
    told: list[tuple[str, str, str, str]]
    report: str


def chains() -> list[Chain]:
    """Both chains."""
    return [_chain(name, found) for name, found in diagnoses().items()]


def chain_verdicts() -> Mapping[str, Verdict]:
    """Verdicts on the claims that exact theory decides, by name."""
    held, failed = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED
    return {
        f"{chain}_{claim}": held if found.stable is expected else failed
        for chain, every in diagnoses().items()
        for claim, (rule, expected) in CLAIMED.items()
        for found in every
        if found.rule.name == rule
    }


def chain_effect() -> tuple[str, str]:
    """The deciding numbers of the theory, as text, for each chain and rule."""
    told = {
        rule: " and ".join(
            number_text(float(d.eigenvalues.real.min()), ".2g")
            for every in diagnoses().values()
            for d in every
            if d.rule.name == rule
        )
        for rule, _ in CLAIMED.values()
    }
    effect = "; ".join(f"{rule} {numbers}" for rule, numbers in told.items())
    what = "least real part of the eigenvalues of A on the two chains (below 0: diverges); exact."
    return effect, what


def _chain(name: str, found: list[Diagnosis]) -> Chain:
    task = make(name)
    features = task.features.columns(slice(None))
    moves = np.zeros((task.states, task.states))
    outcomes = task.outcomes
    np.add.at(moves, (outcomes.state, outcomes.next_state), outcomes.probability)
    return Chain(
        _title(name),
        f"{task.discount:g}",
        [[f"{p:g}" if p else "" for p in row] for row in moves.tolist()],
        [", ".join(number_text(x, "g") for x in row) for row in features.tolist()],
        [f"{x:g}" for x in LAMBDAS[name]],
        [
            (
                d.rule.name,
                "converges" if d.stable else "diverges",
                "; ".join(", ".join(_number(x) for x in row) for row in d.key.A.tolist()),
                ", ".join(_complex(x) for x in d.eigenvalues.tolist()),
            )
            for d in found
        ],
        report(found),
    )


def _number(x: float) -> str:
    return number_text(x, ".4g")


def _complex(x: complex) -> str:
    if abs(x.imag) < 1e-12:
        return _number(x.real)
    return f"{_number(x.real)} {'+' if x.imag > 0 else '−'} {_number(abs(x.imag))}i"
