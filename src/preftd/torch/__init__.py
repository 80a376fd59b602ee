"""Preferences for PyTorch; needs the extra `torch`."""

try:
    import torch as _torch  # noqa: F401  (the installed PyTorch, not this package)
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ModuleNotFoundError(
        "PyTorch is not installed: install it with pip install 'preftd[torch]'", name="torch"
    ) from None

from preftd.torch.returns import beta_advantages, beta_returns

__all__ = ["beta_advantages", "beta_returns"]
