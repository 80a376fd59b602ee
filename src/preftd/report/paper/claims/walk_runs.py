"""Runs of the random walk by method, and the two identities that explain its figures."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import polars as pl

from preftd.report.paper.claims.claim import Found
from preftd.report.paper.claims.measures import error_of_zero
from preftd.report.paper.claims.samples import rows
from preftd.report.paper.walk import INTERESTS, STEP_SIZES, VALUES
from preftd.tasks import make

BY_LAMBDA, BY_BETA = "walk by lambda", "walk by beta"
NEAR_0 = tuple(v for v in VALUES if v <= 0.1)
NEAR_1 = tuple(v for v in VALUES if v >= 0.9)
BETWEEN = tuple(v for v in VALUES if 0.1 < v < 0.9)
"""What "close to 0", "close to 1" and "intermediate" mean."""
LOW = tuple(float(size) for size in STEP_SIZES if size <= 0.1)
ETD = {interest: f"ETD, interest {interest:g}" for interest in INTERESTS}

SAME_AS_TD = (
    "With constant β, PTD(β, α) is exactly TD(λ = 1 − β) with step size αβ: its curves are those "
    "of TD(λ), each moved along the axis by the factor 1/β."
)
ONE_AXIS = (
    "With constant interest, ETD depends on α and the interest only through their product: another "
    "interest is the same curve, moved along the axis of step sizes."
)


def td(found: Found, *lambdas: float) -> pl.DataFrame:
    """Runs of TD(λ) with these λ."""
    return _of(found, BY_LAMBDA, "TD(λ)", "λ", lambdas)


def etd(found: Found, interest: float, *lambdas: float) -> pl.DataFrame:
    """Runs of ETD with this interest."""
    return _of(found, BY_LAMBDA, ETD[interest], "λ", lambdas)


def ptd(found: Found, *betas: float) -> pl.DataFrame:
    """Runs of PTD with these β."""
    return _of(found, BY_BETA, "PTD", "β", betas)


def _of(
    found: Found, study: str, rule: str, parameter: str, values: Sequence[float]
) -> pl.DataFrame:
    labels = [f"{parameter} = {value:g}" for value in values or VALUES]
    return rows(found[study].scored, rule=rule, preference=labels)


@cache
def rmse_of_zero() -> float:
    """Where every curve begins, at step size 0."""
    return float(np.sqrt(error_of_zero(make("random_walk"))))
