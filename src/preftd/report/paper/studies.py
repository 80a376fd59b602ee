"""The paper's studies, by name; made when they are asked for, as tasks take a while."""

from collections.abc import Callable
from functools import partial

from preftd.experiments.results import Results
from preftd.experiments.study import Study
from preftd.report.paper import corridors, grids, walk

FEATURE_NET = "feature net"

STUDIES: dict[str, Callable[..., Study]] = (
    {
        "walk by lambda": walk.by_lambda,
        "walk by beta": walk.by_beta,
    }
    | {
        f"{task} {name}": partial(make, task)
        for task in corridors.TASKS
        for name, make in {
            "four methods": corridors.four_methods,
            "interests": corridors.interests,
            "constant lambda": corridors.constant_lambda,
            "between": corridors.between,
            "true online": corridors.true_online,
            "by length": corridors.by_length,
            "to the limit": corridors.to_the_limit,
            "constant steps": corridors.constant_steps,
        }.items()
    }
    | {FEATURE_NET: grids.feature_net}
    | {
        f"{task} semi-linear, size {size}": partial(grids.semi_linear, task, size)
        for task in grids.EPISODES
        for size in grids.SIZES
    }
    | {
        f"{task} networks, {view}": partial(grids.networks, task, view)
        for view in grids.VIEWS
        for task in grids.EPISODES
    }
)
"""What makes each, from the results that it needs; the name is that of the study made."""

LONG = frozenset(name for name in STUDIES if "grid" in name or name == FEATURE_NET)
"""Studies whose search takes so long that what it found is kept in a file."""
NEEDS = {name: (FEATURE_NET,) for name in STUDIES if "semi-linear" in name}
"""Studies whose results others are made of."""


def made(name: str, found: Callable[[str], Results]) -> Study:
    """A study; results that it needs are asked for by the name of their study."""
    return STUDIES[name](*map(found, NEEDS.get(name, ())))
