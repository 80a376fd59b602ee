"""What is stored of the studies that claims need."""

from collections.abc import Iterable
from typing import NamedTuple

from preftd.experiments.plan import Plan
from preftd.experiments.progress import progress_here
from preftd.experiments.results import Results
from preftd.experiments.store import Store
from preftd.report.paper import Order
from preftd.report.paper.claims.claim import Claim
from preftd.report.paper.searched import provenance
from preftd.report.paper.studies import LONG, NEEDS
from preftd.report.paper.wanted import wanted


class Stored(NamedTuple):
    """Results of the studies that are complete, and the names of those that are not."""

    found: dict[str, Results]
    missing: list[str]
    not_on_file: bool
    """Whether the search of any is not on file either."""


def stored(claims: Iterable[Claim], order: Order) -> Stored:
    """What is stored of the studies that some claims need; nothing is computed."""
    store = Store(order.out, warn=progress_here().say)
    found: dict[str, Results] = {}
    missing: list[str] = []
    on_file = provenance(order.searched)

    def look(name: str) -> None:
        """Find a study, and before it those that it is made of."""
        for needed in NEEDS.get(name, ()):
            if needed not in (*found, *missing):
                look(needed)
        unknown = not order.full and name in LONG and name not in on_file
        if unknown or any(needed in missing for needed in NEEDS.get(name, ())):
            missing.append(name)
            return
        asked = wanted(name, order, found.__getitem__)
        plan = Plan.of(asked.run, store)
        # A claim on a part of its seeds would be another claim than on all of them.
        if plan.unfinished or plan.counts(store)[1]:
            missing.append(name)
        else:
            found[name] = asked.results(plan.results(store))

    for name in dict.fromkeys(name for claim in claims for name in claim.studies):
        if name not in (*found, *missing):
            look(name)
    return Stored(found, missing, any(name in LONG and name not in on_file for name in missing))
