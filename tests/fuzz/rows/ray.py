"""Valid calls of what computes on a Ray cluster; nothing is started."""

from __future__ import annotations

from fuzz.row import Row
from fuzz.rows.experiments import MANY

ROWS = [
    Row(
        "ray.RayCluster",
        lambda: {"workers": 1, "say": print, "address": "localhost:6379", "mixed": True},
        look=lambda _, made: made.workers,
        free={"workers": MANY, "address": "word, long word, line, nothing, half of a pair"},
    ),
]
UNCHECKED = {"ray.RayCluster.run": "as Here.run, on a cluster"}
