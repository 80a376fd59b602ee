"""Preferences in TorchRL: a value estimator that reads β and gain; needs the extra `torchrl`."""

try:
    import torchrl as _torchrl  # noqa: F401  (the installed TorchRL, not this package)
except ModuleNotFoundError as error:
    if error.name != "torchrl":
        raise
    raise ModuleNotFoundError(
        "TorchRL is not installed: install it with pip install 'preftd[torchrl]'", name="torchrl"
    ) from None

from preftd._src.torchrl.estimator import PreferenceEstimator

__all__ = ["PreferenceEstimator"]
