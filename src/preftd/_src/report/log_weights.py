"""Weights of a log's features: what they do, and how methods and fills differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from preftd._src.arrays import Vector


def with_weights(summary: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """Return the arms of least squares: others have no weights of features."""
    return [arm for arm in summary["arms"] if arm["key"] in summary["questions"][0]["weights"]]


def weights_table(
    summary: Mapping[str, Any], question: Mapping[str, Any], most: int
) -> Sequence[tuple[str, list[float]]]:
    """Return the features whose weights differ most between first and last arm, by their effect.

    The effect is the weight times the standard deviation of the feature, where that is known.
    """
    scale, arms = _scales(summary), with_weights(summary)
    weights = [question["weights"][arm["key"]] for arm in arms]
    effects = [
        (name, [w[i] * scale[i] for w in weights]) for i, name in enumerate(summary["features"])
    ]
    effects.sort(key=lambda one: -abs(one[1][-1] - one[1][0]))
    return effects[:most]


def weights_change(
    summary: Mapping[str, Any], own: Mapping[str, Any], other: Mapping[str, Any]
) -> float | None:
    """Return the size of a change of effects, as a share of their size; None if they are 0.

    The constant feature does not count.
    """
    scale = _scales(summary)
    counts = np.array([name != "1" for name in summary["features"]])
    before, after = (np.array(one["weights"])[counts] * scale[counts] for one in (own, other))
    size = float(np.linalg.norm(before))
    return float(np.linalg.norm(after - before)) / size if size else None


def _scales(summary: Mapping[str, Any]) -> Vector:
    """Standard deviations of features, where they are known; otherwise 1."""
    scale = {one["name"]: one.get("scale") or 1.0 for one in summary["inputs"]}
    return np.array([scale.get(name, 1.0) for name in summary["features"]])
