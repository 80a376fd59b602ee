"""What the paper says of its figures, as claims that results are asked about."""

from preftd.report.paper.claims import (
    corridor_interest,
    corridor_settings,
    corridors,
    limits,
    networks,
    semi_linear,
    true_online,
    views,
    walk,
    walk_etd,
    walk_widths,
)
from preftd.report.paper.claims.claim import Case, Claim, Finding, Region, Verdict

CLAIMS = {
    claim.name: claim
    for room in (
        walk,
        walk_widths,
        walk_etd,
        corridors,
        corridor_interest,
        corridor_settings,
        true_online,
        limits,
        semi_linear,
        networks,
        views,
    )
    for claim in room.CLAIMS
}
"""Every claim by the name that users type: those of walk and corridors in the order of the paper,
then what goes past it; likewise those of the grids."""

__all__ = ["CLAIMS", "Case", "Claim", "Finding", "Region", "Verdict"]
