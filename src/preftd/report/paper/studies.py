"""The paper's studies, by name; made when they are asked for, as tasks take a while."""

from collections.abc import Callable
from functools import partial

from preftd.experiments.study import Study
from preftd.report.paper import corridors, walk

STUDIES: dict[str, Callable[[], Study]] = {
    "walk by lambda": walk.by_lambda,
    "walk by beta": walk.by_beta,
} | {
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
"""What makes each; the name is that of the study made."""
