"""What is run for one of the paper's studies: all of it, or without its search if that is long."""

from collections.abc import Callable
from typing import NamedTuple

from preftd.experiments.results import Results
from preftd.experiments.study import Study
from preftd.report.paper import Order
from preftd.report.paper.searched import read_searched, reported_only, together
from preftd.report.paper.studies import LONG, made


class Wanted(NamedTuple):
    """What an order wants of a study."""

    whole: Study
    """As the paper has it."""
    run: Study
    search: Results | None
    """Found before, if it is not run."""

    def results(self, found: Results) -> Results:
        """Of the study, from those of what was run."""
        return found if self.search is None else together(self.search, found)


def wanted(name: str, order: Order, found: Callable[[str], Results]) -> Wanted:
    """What an order wants of a study; results that it is made of are asked for by name."""
    whole = made(name, found)
    if order.full or name not in LONG:
        run = whole if order.seeds is None else whole.with_seeds(order.seeds)
        return Wanted(whole, run, None)
    search = read_searched(whole, order.searched)
    return Wanted(whole, reported_only(whole, search, order.seeds), search)
