"""What scikit-learn's own checks give to an estimator; its parameters are refused by `fit`."""

from __future__ import annotations

from fuzz.row import Row

ROWS: list[Row] = []
_CHECKS = "checked by scikit-learn's checks in tests/logs/test_estimator.py"
UNCHECKED = {
    "sklearn.ValueRegressor": "scikit-learn wants parameters to be checked by fit alone",
    "sklearn.ValueRegressor.fit": _CHECKS,
    "sklearn.ValueRegressor.predict": _CHECKS,
    "sklearn.ValueRegressor.score": _CHECKS,
}
