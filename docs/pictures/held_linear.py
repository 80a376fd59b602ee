"""Makes the table of held linear learners in docs/research/paper.md from the stored runs."""

from __future__ import annotations

import numpy as np

from preftd._src.experiments.results import Results
from preftd._src.experiments.statistics import student
from preftd._src.paper.grids.claims import view_errors
from preftd._src.paper.grids.studies import FEATURE_NET, SEMI_LINEAR_VIEWS
from preftd._src.paper.stored import RUNS, SEARCHES, read_runs, read_search, together
from preftd._src.paper.study import PaperStudy
from preftd._src.style import number_text

OTHERS = ("true online", "online")
COLUMNS = ("", "held", *OTHERS, *(f"held over {view}" for view in OTHERS))


def stored(study: PaperStudy, *needed: Results) -> Results:
    """Return the stored search and runs of a study."""
    whole = study.study(*needed)
    search = read_search(whole, SEARCHES)
    return together(search, read_runs(whole, search, study.kept_every, RUNS))


def ratio(errors: np.ndarray) -> str:
    """Return a geometric mean over seeds with its 95 % interval."""
    found = student(np.log(errors)[:, None], 0.95)
    mean, half = float(found.mean[0]), float(found.half_width[0])
    centre, low, high = (
        number_text(float(np.exp(x)), ".3f") for x in (mean, mean - half, mean + half)
    )
    return f"{centre} [{low}, {high}]"


def tables() -> list[str]:
    """Return errors of PTD by grid and view, as a table in Markdown."""
    trained = stored(FEATURE_NET)
    found = {study: stored(study, trained) for study in SEMI_LINEAR_VIEWS.values()}
    views = ("held", *OTHERS)
    errors = {view: view_errors("PTD", view) for view in views}
    lines = [f"| {' | '.join(COLUMNS)} |", "|---|---|---|---|---|---|"]
    for grid in errors["held"]:
        held, *others = (errors[view][grid].sample(found) for view in views)
        means = (number_text(float(one.values.mean()), ".3f") for one in (held, *others))
        ratios = (ratio(held.over(other).values) for other in others)
        lines.append(f"| grid {grid} | {' | '.join([*means, *ratios])} |")
    return ["\n".join(lines)]


if __name__ == "__main__":
    print("\n\n".join(tables()))
