"""All studies, figures and claims of the paper, loaded from the folders of its experiments."""

from preftd._src.paper.claim import Claim
from preftd._src.paper.figures import PaperFigure
from preftd._src.paper.registry import EXPERIMENTS
from preftd._src.paper.study import PaperStudy

STUDIES: tuple[PaperStudy, ...] = tuple(
    study for one in EXPERIMENTS for study in one.members(one.studies, "STUDIES")
)
FIGURES: dict[str, PaperFigure] = {
    figure.name: figure for one in EXPERIMENTS for figure in one.members(one.drawings, "FIGURES")
}
"""Figures made of studies, by the name that users type."""
CLAIMS: dict[str, Claim] = {
    claim.name: claim for one in EXPERIMENTS for claim in one.members(one.claims, "CLAIMS")
}
"""Claims by the name that users type."""
