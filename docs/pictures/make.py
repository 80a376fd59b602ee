"""Makes the pictures of the documentation: `python docs/pictures/make.py results [NAME ...]`.

Tasks are drawn from the library. Figures of the paper and of the examples are copied from the
folder `results`, in which these commands put them:

    preftd reproduce --full true_online leak steady drop_outs
    preftd reproduce --full learned learned_more learned_kinds
    preftd run examples/study.py
    preftd run examples/off_policy.py
"""

import runpy
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import copyfile
from typing import Any

from preftd import tasks
from preftd._src.style import save_figure
from preftd.tasks import LAMBDAS

HERE = Path(__file__).parent


def _task(_results: Path, name: str, *, lambda_: Any = None, **parameters: int) -> None:
    save_figure(tasks.make(name, **parameters).plot(lambda_=lambda_), HERE / f"{name}.png")


def _copy(results: Path, name: str, source: str) -> None:
    copyfile(results / "figures" / source, HERE / f"{name}.png")


def _script(_results: Path, name: str) -> None:
    runpy.run_path(str(HERE / f"{name}.py"))


PICTURES: dict[str, Callable[[Path, str], None]] = {
    "random_walk": _task,
    "corridor": partial(_task, length=6),
    "double_corridor": partial(_task, length=4),
    "cross_grid": partial(_task, size=8),
    "random_grid": partial(_task, size=8, seed=0),
    **{name: partial(_task, lambda_=lambda_) for name, lambda_ in LAMBDAS.items()},
    **{
        name: partial(_copy, source=f"{name}.png")
        for name in (
            *("true_online", "leak", "steady", "drop_outs"),
            *("learned", "learned_more", "learned_kinds"),
        )
    },
    "foggy_rooms_curves": partial(_copy, source="foggy_rooms_curves.png"),
    "off_policy": partial(_copy, source="off-policy_step_sizes.png"),
    "control_episode": _script,
    "ppo_drop_outs": _script,
    "logs": _script,
    "glucose": _script,
    "series": _script,
    "tokens": _script,
    "tokens_study": _script,
    "memory": _script,
    "memory_values": lambda results, _: _script(results, "memory"),
}
"""How each picture is made, given the folder of results and its name."""


def make(results: Path, names: list[str]) -> None:
    """Make some pictures, or all."""
    for name in names or PICTURES:
        path = HERE / f"{name}.png"
        path.unlink(missing_ok=True)  # the library replaces only what it wrote in this folder
        PICTURES[name](results, name)
        print(path)


if __name__ == "__main__":
    make(Path(sys.argv[1]), sys.argv[2:])
