"""What TorchRL calls has its arguments; ours are refused in tests/torchrl."""

from __future__ import annotations

from fuzz.row import Row

ROWS: list[Row] = []
_THEIRS = "networks, data and devices are those of TorchRL; ours are refused in tests/torchrl"
UNCHECKED = {
    "torchrl.PreferenceEstimator": _THEIRS,
    "torchrl.PreferenceEstimator.forward": _THEIRS,
    "torchrl.PreferenceEstimator.value_estimate": _THEIRS,
}
