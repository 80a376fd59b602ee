"""Makes tokens.png: a response with the output of a tool, its β, and the advantages it gives."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from torch import Tensor

from preftd._src.style import OTHERS, RC, save_figure
from preftd.torch import token_advantages

WORDS = (
    "let me look it up: lookup ( 'Bern' ) | { city : Bern , temp : 11 , ok : true } | "
    "It is 11 degrees . | ✓ | pad pad"
)
LAMBDA = 0.9
TRAINED, MASKED, PADDED = "#CBE3F5", "#DDDDDD", "#F5F5F5"


def draw() -> None:
    """Draw and save."""
    parts = [part.split() for part in WORDS.split("|")]
    words = [word for part in parts for word in part]
    whose = [number for number, part in enumerate(parts) for _ in part]
    mask = torch.tensor([[number in (0, 2) for number in whose]])
    reward = torch.tensor([[float(word == "✓") for word in words]])
    value = torch.where(mask, 0.6, 0.0)
    value[0, [number == 1 for number in whose]] = 1.5  # nobody trained the critic there
    ours = token_advantages(reward, value, mask, gamma=1.0, lam=LAMBDA).advantages
    ways = {
        "every token is a step": _steps(reward, value),
        "masked values and rewards are 0, still steps": _steps(reward * mask, value * mask),
        "token_advantages": ours,
    }
    with mpl.rc_context(RC):
        figure, (top, bottom) = plt.subplots(
            2, 1, figsize=(7.2, 3.6), sharex=True, height_ratios=(1, 2), layout="constrained"
        )
        _draw_tokens(top, words, whose, mask)
        at = mask[0].nonzero()[:, 0]
        for (name, found), look in zip(ways.items(), OTHERS, strict=False):
            bottom.plot(
                *(at, found[0, at]),
                color="#111111" if found is ours else look.colour,
                linestyle="none",
                marker="o" if found is ours else look.marker,
                markersize=4,
                label=name,
            )
        bottom.axhline(0, color="#999999", linewidth=0.6)
        notes = {
            "the value of a tool's token\nis bootstrapped": (8.4, 0.72, 10, 0.62),
            "a reward on a masked token\nis lost": (21.6, -0.4, 11, -0.5),
            "credit crosses the tool's tokens\nat no cost": (8.4, 0.24, 10, 0.1),
        }
        for text, (x, y, *there) in notes.items():
            bottom.annotate(
                text,
                (x, y),
                (there[0], there[1]),
                fontsize=7.5,
                arrowprops={"arrowstyle": "-", "color": "#999999", "linewidth": 0.6},
            )
        bottom.set_ylabel("advantage")
        bottom.legend(loc="upper center", ncols=3, bbox_to_anchor=(0.5, -0.02), frameon=False)
        bottom.set_xticks([])
        for axes in (top, bottom):
            for side in ("top", "right", "bottom"):
                axes.spines[side].set_visible(False)
        save_figure(figure, Path(__file__).with_suffix(".png"))


def _steps(reward: Tensor, value: Tensor) -> Tensor:
    """GAE in which every token is a step."""
    return token_advantages(
        reward, value, torch.ones_like(reward), gamma=1.0, lam=LAMBDA
    ).advantages


def _draw_tokens(axes: Axes, words: list[str], whose: list[int], mask: Tensor) -> None:
    """The tokens, and their β below."""
    colours = {0: TRAINED, 1: MASKED, 2: TRAINED, 3: MASKED, 4: PADDED}
    for t, (word, number) in enumerate(zip(words, whose, strict=True)):
        axes.bar(t, 1, bottom=0.6, width=0.94, color=colours[number])
        axes.text(t, 1.1, word, ha="center", va="center", fontsize=6.5, rotation=90)
    beta = (1 - LAMBDA) * mask[0]
    axes.bar(range(len(words)), 4 * beta, width=0.94, color="#111111")
    axes.set_ylim(0, 1.9)
    axes.set_yticks([0, 4 * (1 - LAMBDA)], labels=["β = 0", f"{1 - LAMBDA:.1f}"])
    for number, text in enumerate(["the model writes", "a tool answers", "the model", "paid", ""]):
        at = [t for t, one in enumerate(whose) if one == number]
        axes.text(sum(at) / len(at), 1.72, text, ha="center", fontsize=8)


if __name__ in ("__main__", "<run_path>"):
    draw()
