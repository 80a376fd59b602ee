"""Values from logs: recorded experience in files, with rows that deserve less trust than others."""

from preftd._src.logs.columns import Age, Column, LogColumns, Missing, as_trust
from preftd._src.logs.fitting import fit
from preftd._src.logs.predictor import Prediction, Predictor
from preftd._src.logs.saved import LogEvaluation, load

__all__ = [
    "Age",
    "Column",
    "LogColumns",
    "LogEvaluation",
    "Missing",
    "Prediction",
    "Predictor",
    "as_trust",
    "fit",
    "load",
]
