"""Values from logs: recorded experience in files, with rows that deserve less trust than others."""

from preftd._src.logs.columns import LogColumns
from preftd._src.logs.fitting import fit
from preftd._src.logs.saved import LogEvaluation, load
from preftd._src.logs.trust import Age, Column, Missing, as_trust

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
