"""What several tests of studies begin with."""

from pathlib import Path

import pytest

from experiments.small_studies import run_here, small


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder with the results of the small study: 8 cells."""
    run_here(small(), tmp_path / "results")
    return tmp_path / "results"
