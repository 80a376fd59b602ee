"""The table of all public callables, one file for each package."""

from __future__ import annotations

from fuzz.row import Row
from fuzz.rows import (
    experience,
    experiments,
    jax,
    learners,
    logs,
    preferences,
    ray,
    registration,
    report,
    rules,
    sb3,
    sklearn,
    specifications,
    tasks,
    theory,
    torch,
    torch_learners,
    torchrl,
)

PACKAGES = (
    rules,
    preferences,
    theory,
    tasks,
    experience,
    learners,
    specifications,
    experiments,
    logs,
    report,
    ray,
    torch,
    jax,
    sb3,
    sklearn,
    torchrl,
    registration,
    torch_learners,
)
ROWS: list[Row] = [row for package in PACKAGES for row in package.ROWS]
UNCHECKED: dict[str, str] = {
    name: reason for package in PACKAGES for name, reason in package.UNCHECKED.items()
}
"""Callables without a row, and why."""
