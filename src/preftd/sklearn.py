"""Values as an estimator of scikit-learn; needs the extra `scikit-learn`."""

try:
    import sklearn as _sklearn  # noqa: F401  (the installed scikit-learn, not this module)
except ModuleNotFoundError as error:
    if error.name != "sklearn":
        raise
    raise ModuleNotFoundError(
        "scikit-learn is not installed: install it with pip install 'preftd[scikit-learn]'",
        name="sklearn",
    ) from None

from preftd._src.sklearn.estimator import ValueRegressor

__all__ = ["ValueRegressor"]
