"""Studies written into files and loaded as users' are."""

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from experiments.small_studies import report_cells
from preftd._src.experiments.study import load_studies
from preftd.experiments import Study


@contextmanager
def loaded(folder: Path, files: Mapping[str, str], name: str = "study.py") -> Iterator[list[Study]]:
    """The studies of one of some files; what they import is forgotten afterwards."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    path_before, modules_before = list(sys.path), set(sys.modules)
    importlib.invalidate_caches()
    try:
        yield load_studies(folder / name)
    finally:
        sys.path[:] = path_before
        for module in set(sys.modules) - modules_before:
            file = getattr(sys.modules[module], "__file__", None)
            if file and Path(file).is_relative_to(folder):
                del sys.modules[module]


def ids(study: Study, preference: str) -> set[str]:
    """The ids of all cells of a preference."""
    return {cell.id for cell in report_cells(study) if cell.setting.labels.preference == preference}
