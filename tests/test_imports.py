"""Imports go one way: a package imports only packages that come before it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "preftd" / "_src"
ORDER = (
    *("experience", "tasks", "preferences", "rules", "learners", "theory"),
    *("experiments", "logs", "report", "paper", "sklearn", "torch", "jax", "sb3", "torchrl", "ray"),
    "cli",
)
"""From the first to the last."""
FILES = sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE)


def imported(path: Path) -> set[str]:
    """The packages of the library that a file imports, also inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module in ("preftd", "preftd._src"):
            names |= {f"preftd.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    public = {name.replace("preftd._src.", "preftd.", 1) for name in names}
    return {name.split(".")[1] for name in public if name.startswith("preftd.")}


@pytest.mark.parametrize("package", ORDER[:-1])
def test_a_package_imports_only_what_comes_before_it(package: str) -> None:
    later = set(ORDER[ORDER.index(package) + 1 :])
    wrong = {
        str(path.relative_to(SOURCE)): found
        for path in FILES
        if path.relative_to(SOURCE).parts[0] == package and (found := imported(path) & later)
    }
    assert not wrong


def test_a_linear_learner_loads_nothing_that_it_does_not_use() -> None:
    code = "import sys; from preftd import PTD; assert 'numba' not in sys.modules; "
    code += "from preftd import LinearLearner; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    unused = {
        "polars",
        "scipy.sparse",
        "matplotlib",
        "preftd._src.tasks.task",
        "preftd._src.solve",
        "preftd._src.preferences.learned",
        "preftd._src.learners.network.batch",
        "preftd._src.learners.returns",
    }
    assert not unused & set(done.stdout.split())
