"""Exact theory of expected updates: whether a rule converges, to what, and why."""

from preftd.theory.diagnose import Diagnosis, compare, diagnose
from preftd.theory.errors import project, projected_bellman_error, value_error
from preftd.theory.expected_update import (
    KeyMatrix,
    NoFixedPointError,
    fixed_point,
    key_matrix,
)
from preftd.theory.explain import report
from preftd.theory.files import Problem, load_problem, save_problem
from preftd.theory.limit import limit, limits
from preftd.theory.noise import weight_noise
from preftd.theory.operator import Operator, operator
from preftd.theory.optimal import action_values, optimal
from preftd.theory.trajectory import key_matrices_over_time, mean_trajectory

__all__ = [
    "Diagnosis",
    "KeyMatrix",
    "NoFixedPointError",
    "Operator",
    "Problem",
    "action_values",
    "compare",
    "diagnose",
    "fixed_point",
    "key_matrices_over_time",
    "key_matrix",
    "limit",
    "limits",
    "load_problem",
    "mean_trajectory",
    "operator",
    "optimal",
    "project",
    "projected_bellman_error",
    "report",
    "save_problem",
    "value_error",
    "weight_noise",
]
