"""Values from logs: recorded experience in files, with rows that deserve less trust than others."""

from preftd.logs.columns import LogColumns
from preftd.logs.fitting import fit
from preftd.logs.saved import LogEvaluation, load
from preftd.logs.trust import Age, Column, Missing, as_trust

__all__ = [
    "Age",
    "Column",
    "LogColumns",
    "LogEvaluation",
    "Missing",
    "as_trust",
    "fit",
    "load",
]
