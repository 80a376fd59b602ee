"""How things look: one colour and line per method everywhere, legible in greyscale."""

from typing import Any

COLOURS = {"TD(λ)": "#D55E00", "ETD": "#0072B2", "PTD": "#111111"}
LINES = {"TD(λ)": (0, (5, 1.5)), "ETD": (0, (1.5, 1.2)), "PTD": "solid"}
HATCHES = {"TD(λ)": "////", "ETD": "....", "PTD": ""}

RC: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "savefig.dpi": 200,
    "svg.hashsalt": "preftd",
}
"""Settings of matplotlib for every figure."""
