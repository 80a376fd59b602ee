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
from preftd._src.torch.tokens import (
    TokenAdvantages,
    Turns,
    length_adaptive_lambda,
    token_advantages,
    token_returns,
)
from preftd._src.torch.vector_learner import VectorValueLearner

__all__ = [
    "HeldSGD",
    "TokenAdvantages",
    "TorchModule",
    "TraceSGD",
    "Turns",
    "ValueLearner",
    "VectorValueLearner",
    "beta_advantages",
    "beta_returns",
    "length_adaptive_lambda",
    "stream_values",
    "token_advantages",
    "token_returns",
]
