"""The same algorithms as plain loops in C and NumPy, with one step size at a time."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.timing import MissingError
from preftd._src.arrays import Vector
from preftd._src.learners.network.layers import Parameters
from preftd._src.learners.steps import Steps

FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")


def linear_in_c(steps: Steps, alpha: float) -> Vector:
    """Return the weights after all steps, of shape (features,); features are vectors."""
    w, e = np.zeros((2, steps.dense.shape[1]))
    _c_loop("linear_loop.c")(*_for_c(steps), alpha, w, e)
    return w


def linear_in_numpy(steps: Steps, alpha: float) -> Vector:
    """Return the weights after all steps, of shape (features,); features are vectors."""
    w, e = np.zeros((2, steps.dense.shape[1]))
    x, x_next = steps.dense[-1 - steps.code_t], steps.dense[-1 - steps.code_tp1]
    reward, discount, decay, gain = steps.reward, steps.discount_tp1, steps.decay, steps.gain
    for t in range(steps.code_t.size):
        delta = reward[t] + discount[t] * (w @ x_next[t]) - w @ x[t]
        e = decay[t] * e + gain[t] * x[t]
        w += alpha * delta * e
    return w


def network_in_c(steps: Steps, alpha: float, initial: Parameters) -> Parameters:
    """Return the parameters of a network after all steps, in the backward view."""
    hidden, hidden_bias, out, bias = (np.array(part, dtype=np.float64) for part in initial)
    learn, trace = _c_loop("network_loop.c"), np.empty_like(hidden)
    learn(*_for_c(steps), alpha, out.size, hidden, hidden_bias, out, bias, trace)
    return Parameters(hidden, hidden_bias, out, float(bias))


def _for_c(steps: Steps) -> tuple[Any, ...]:
    """The first arguments of both loops in C."""
    s = steps
    per_step = (s.code_t, s.code_tp1, s.reward, s.discount_tp1, s.decay, s.gain)
    return s.code_t.size, s.dense.shape[1], s.dense, *per_step


@cache
def _c_loop(file: str) -> Callable[..., None]:
    """The function `learn` of a C file, compiled here; it takes integers, floats and arrays."""
    compiler = shutil.which("gcc")
    if compiler is None:
        raise MissingError("no gcc")
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        library, source = Path(folder, "learn.so"), Path(__file__).with_name(file)
        command = [compiler, *FLAGS, "-o", str(library), str(source)]
        if subprocess.run(command, check=False, capture_output=True).returncode:
            raise MissingError("gcc failed")
        learn = ctypes.CDLL(str(library)).learn
    learn.restype = None

    def call(*given: Any) -> None:
        learn(*map(_as_c, given))

    return call


def _as_c(given: Any) -> Any:
    if isinstance(given, np.ndarray):
        return given.ctypes.data_as(ctypes.c_void_p)
    return ctypes.c_long(given) if isinstance(given, int) else ctypes.c_double(given)
