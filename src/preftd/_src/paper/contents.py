"""All studies, figures and claims of the paper."""

from preftd._src.paper.cartpole import between_claims, choice_figure, choices
from preftd._src.paper.cartpole import claims as cartpole_claims
from preftd._src.paper.cartpole import figures as cartpole_figures
from preftd._src.paper.cartpole import studies as cartpole_studies
from preftd._src.paper.claim import Claim
from preftd._src.paper.control import corridor_claims as control_claims
from preftd._src.paper.control import (
    credit_claims,
    credit_figure,
    drop_outs_claims,
    drop_outs_figure,
    drop_outs_studies,
    room_claims,
)
from preftd._src.paper.control import figures as control_figures
from preftd._src.paper.control import studies as control_studies
from preftd._src.paper.corridors import (
    beyond_claims,
    held_claims,
    held_theory_claims,
    leak_figure,
    limit_figure,
    setting_claims,
    steady,
)
from preftd._src.paper.corridors import claims as corridor_claims
from preftd._src.paper.corridors import figures as corridor_figures
from preftd._src.paper.corridors import studies as corridor_studies
from preftd._src.paper.grids import (
    held_linear_claims,
    network_claims,
    network_figures,
    semi_linear_claims,
    semi_linear_figures,
    view_claims,
)
from preftd._src.paper.grids import studies as grid_studies
from preftd._src.paper.learned import claims as learned_claims
from preftd._src.paper.learned import figures as learned_figures
from preftd._src.paper.learned import studies as learned_studies
from preftd._src.paper.panel_rows import PaperFigure
from preftd._src.paper.walk import claims as walk_claims
from preftd._src.paper.walk import figures as walk_figures
from preftd._src.paper.walk import studies as walk_studies
from preftd._src.paper.walk import width_claims

STUDIES = (
    *walk_studies.STUDIES,
    *corridor_studies.STUDIES,
    *steady.STUDIES,
    *grid_studies.STUDIES,
    *cartpole_studies.STUDIES,
    *drop_outs_studies.STUDIES,
    *control_studies.STUDIES,
    *learned_studies.STUDIES,
)

FIGURES: dict[str, PaperFigure] = {
    figure.name: figure
    for module in (
        walk_figures,
        corridor_figures,
        limit_figure,
        leak_figure,
        steady,
        semi_linear_figures,
        network_figures,
        cartpole_figures,
        choice_figure,
        drop_outs_figure,
        control_figures,
        credit_figure,
        learned_figures,
    )
    for figure in module.FIGURES
}
"""Figures made of studies, by the name that users type."""

CLAIMS: dict[str, Claim] = {
    claim.name: claim
    for module in (
        walk_claims,
        width_claims,
        corridor_claims,
        setting_claims,
        beyond_claims,
        held_claims,
        held_theory_claims,
        semi_linear_claims,
        held_linear_claims,
        network_claims,
        view_claims,
        cartpole_claims,
        between_claims,
        choices,
        drop_outs_claims,
        control_claims,
        credit_claims,
        room_claims,
        learned_claims,
    )
    for claim in module.CLAIMS
}
"""Claims by the name that users type."""
