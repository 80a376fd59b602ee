"""How learners print themselves."""

from typing import Any

import numpy as np

_PARTS = {
    "actions": "{} actions",
    "predictions": "{} predictions",
    "units": "{} units",
    "view": "{} view",
    "bounded": "bounded steps",
    "step_size": "step size {}",
}
"""Attributes that some learners have, and how they are shown."""


def described(learner: Any) -> str:
    """Return a line about a learner: its rule, its number of features, and its settings.

    Examples
    --------
    >>> from preftd import PTD, LinearLearner
    >>> LinearLearner(3, PTD(), 0.1, view="held")
    <LinearLearner PTD: 3 features, held view, step size 0.1>

    """
    said = [f"{learner.size} features"]
    for name, words in _PARTS.items():
        part: Any = getattr(learner, name, None)
        if np.ndim(part):
            said.append("a step size for each feature")
        elif part is not None and part is not False:
            said.append(words.format(part))
    return f"<{type(learner).__name__} {learner.rule.name}: {', '.join(said)}>"
