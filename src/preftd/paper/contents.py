"""All studies, figures and claims of the paper."""

from collections.abc import Iterator

from preftd.paper.cartpole import between_claims, choice_figure, choices
from preftd.paper.cartpole import claims as cartpole_claims
from preftd.paper.cartpole import figures as cartpole_figures
from preftd.paper.cartpole import studies as cartpole_studies
from preftd.paper.claim import Claim
from preftd.paper.control import (
    credit_claims,
    credit_figure,
    drop_outs_claims,
    drop_outs_figure,
    drop_outs_studies,
)
from preftd.paper.corridors import (
    beyond_claims,
    limit_figure,
    setting_claims,
)
from preftd.paper.corridors import claims as corridor_claims
from preftd.paper.corridors import figures as corridor_figures
from preftd.paper.corridors import studies as corridor_studies
from preftd.paper.grids import (
    network_claims,
    network_figures,
    semi_linear_claims,
    semi_linear_figures,
    view_claims,
)
from preftd.paper.grids import studies as grid_studies
from preftd.paper.panel_rows import PaperFigure
from preftd.paper.walk import claims as walk_claims
from preftd.paper.walk import figures as walk_figures
from preftd.paper.walk import studies as walk_studies
from preftd.paper.walk import width_claims

STUDIES = (
    *walk_studies.STUDIES,
    *corridor_studies.STUDIES,
    *grid_studies.STUDIES,
    *cartpole_studies.STUDIES,
    *drop_outs_studies.STUDIES,
)

FIGURES: dict[str, PaperFigure] = {
    figure.name: figure
    for module in (
        walk_figures,
        corridor_figures,
        limit_figure,
        semi_linear_figures,
        network_figures,
        credit_figure,
        cartpole_figures,
        choice_figure,
        drop_outs_figure,
    )
    for figure in module.FIGURES
}
"""Figures made of studies, by the name that users type."""

COUNTEREXAMPLES = "counterexamples"
"""Made of theory and a simulation, without a study."""
TITLES = {
    COUNTEREXAMPLES: "Where TD(λ) diverges and PTD does not, computed, simulated and explained",
    **{name: figure.title for name, figure in FIGURES.items()},
}
"""Titles of everything that can be made."""

CLAIMS: dict[str, Claim] = {
    claim.name: claim
    for module in (
        walk_claims,
        width_claims,
        corridor_claims,
        setting_claims,
        beyond_claims,
        semi_linear_claims,
        network_claims,
        view_claims,
        credit_claims,
        cartpole_claims,
        between_claims,
        choices,
        drop_outs_claims,
    )
    for claim in module.CLAIMS
}
"""Claims by the name that users type."""


def overview() -> Iterator[str]:
    """A line about each figure."""
    width = max(map(len, TITLES))
    for name, title in TITLES.items():
        yield f"{name.ljust(width)}  {title}"
