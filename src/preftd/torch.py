"""Preferences in PyTorch: returns, trace optimisers, learners around your module; needs torch."""

try:
    import torch as _torch  # noqa: F401  (the installed PyTorch, not this package)
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ModuleNotFoundError(
        "PyTorch is not installed: install it with pip install 'preftd[torch]'", name="torch"
    ) from None

from preftd._src.torch.learner import TorchModule, ValueLearner
from preftd._src.torch.modules import stream_values
from preftd._src.torch.returns import beta_advantages, beta_returns
from preftd._src.torch.sgd import HeldSGD, TraceSGD
from preftd._src.torch.vector_learner import VectorValueLearner

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
