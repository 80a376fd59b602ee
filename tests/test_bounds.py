"""No kernel reads or writes outside of an array; and if one did, the campaign would find it."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).parent / "checked_kernels.py"


def run(*mistake: str) -> subprocess.CompletedProcess[str]:
    """The campaign in a process of its own, perhaps with a mistake."""
    command = [sys.executable, str(SCRIPT), *mistake]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_access_of_every_kernel_lies_inside_its_array() -> None:
    done = run()
    assert done.returncode == 0, done.stderr[-2000:]
    assert "not run" not in done.stdout
    assert int(done.stdout.split()[0]) > 500_000, done.stdout


@pytest.mark.parametrize(
    "mistake",
    [
        (
            "linear/sparse_kernel.py",
            "holds = state.era[state.era.size - 1]",
            "holds = state.era[state.era.size]",
        ),
        ("linear/sparse_kernel.py", "if era + 1 == state.past", "if era == state.past"),
        ("batch_kernel.py", "k = i * columns + c", "k = i * columns + c + 1"),
        ("batch_kernel.py", "dense[-1 - code, i]", "dense[-2 - code, i]"),
        ("critic.py", "for i in range(weights.size)", "for i in range(weights.size + 1)"),
        ("torch/returns_autograd.py", "kept[0, t - 1] * a", "kept[0, t + 1] * a"),
        ("tasks/sampler.py", "code = table.shown[state]", "code = table.shown[state + 1]"),
    ],
)
def test_a_mistake_by_one_is_found(mistake: tuple[str, str, str]) -> None:
    done = run(*mistake)
    assert done.returncode == 1
    assert "AssertionError" in done.stderr
    assert "of (" in done.stderr
