"""Exact theory of expected updates: whether a rule converges, to what, and why."""

from preftd._src.theory.bootstrapping import Operator, operator
from preftd._src.theory.crossing import Crossing, crossing
from preftd._src.theory.diagnose import Diagnosis, compare, diagnose, report
from preftd._src.theory.errors import project, projected_bellman_error, value_error
from preftd._src.theory.expected_update import (
    KeyMatrix,
    NoFixedPointError,
    fixed_point,
    key_matrix,
)
from preftd._src.theory.files import Problem, load_problem, save_problem
from preftd._src.theory.limit import limit, limits, weight_noise
from preftd._src.theory.optimal import action_values, optimal
from preftd._src.theory.steady_state import SteadyState, steady_state
from preftd._src.theory.trajectory import key_matrices_over_time, mean_trajectory

__all__ = [
    "Crossing",
    "Diagnosis",
    "KeyMatrix",
    "NoFixedPointError",
    "Operator",
    "Problem",
    "SteadyState",
    "action_values",
    "compare",
    "crossing",
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
    "steady_state",
    "value_error",
    "weight_noise",
]
