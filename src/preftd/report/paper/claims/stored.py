"""What is stored of the studies that claims need."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from preftd.experiments.plan import Plan
from preftd.experiments.progress import progress_here
from preftd.experiments.results import Results
from preftd.experiments.store import Store
from preftd.report.paper.claims.claim import Claim
from preftd.report.paper.studies import STUDIES


class Stored(NamedTuple):
    """Results of the studies that are complete, and the names of those that are not."""

    found: dict[str, Results]
    missing: list[str]


def stored(claims: Iterable[Claim], out: Path, seeds: int | None) -> Stored:
    """What is stored of the studies that some claims need; nothing is computed."""
    store = Store(out, warn=progress_here().say)
    found, missing = {}, []
    for name in dict.fromkeys(name for claim in claims for name in claim.studies):
        study = STUDIES[name]()
        plan = Plan.of(study if seeds is None else study.with_seeds(seeds), store)
        # A claim on a part of its seeds would be another claim than on all of them.
        _, lacking = plan.counts(store)
        if plan.unfinished or lacking:
            missing.append(name)
        else:
            found[name] = plan.results(store)
    return Stored(found, missing)
