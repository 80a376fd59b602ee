"""Preferences in PyTorch: returns, trace optimisers, learners around your module; needs torch."""

try:
    import torch as _torch  # noqa: F401  (the installed PyTorch, not this package)
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ModuleNotFoundError(
        "PyTorch is not installed: install it with pip install 'preftd[torch]'", name="torch"
    ) from None

from preftd.torch.held_sgd import HeldSGD
from preftd.torch.learner import ValueLearner
from preftd.torch.returns import beta_advantages, beta_returns
from preftd.torch.specification import TorchModule
from preftd.torch.trace_sgd import TraceSGD
from preftd.torch.values import stream_values
from preftd.torch.vector_learner import VectorValueLearner

__all__ = [
    "HeldSGD",
    "TorchModule",
    "TraceSGD",
    "ValueLearner",
    "VectorValueLearner",
    "beta_advantages",
    "beta_returns",
    "stream_values",
]
