"""Studies from a Python file."""

import sys
import traceback
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from itertools import combinations
from pathlib import Path
from types import ModuleType

from preftd._src import command
from preftd._src.arrays import InputError
from preftd._src.experiments.study import Study
from preftd._src.registration import register_environments


def load_studies(path: Path, seeds: int | None = None) -> list[Study]:
    """The studies that a file defines, in the order of its lines; with so many seeds, if given."""
    studies = [part for part in vars(_module(path)).values() if isinstance(part, Study)]
    once = list({id(study): study for study in studies}.values())
    if not once:
        raise InputError(f"{path} defines no study: write study = Study(...) in it.")
    _check_names(path, once)
    return once if seeds is None else [study.with_seeds(seeds) for study in once]


def _check_names(path: Path, studies: Sequence[Study]) -> None:
    """Refuse names by which studies, or the files of their figures, could not be told apart."""
    for first, second in combinations(studies, 2):
        if first.name == second.name:
            raise InputError(
                f"{path} has two studies called {first.name!r}: give each its own name."
            )
        if first.stem.casefold() == second.stem.casefold():  # the same file on some systems
            raise InputError(
                f"{path} has two studies, {first.name!r} and {second.name!r}, whose figures would "
                "overwrite each other: give one of them another name."
            )


def _module(path: Path) -> ModuleType:
    """The file, run as a module; what it imports may lie beside it."""
    import cloudpickle  # noqa: PLC0415  (only studies need it)

    if not path.is_file():
        raise InputError(f"there is no file {path}: give the path of a study, a Python file.")
    name = f"study_{path.stem}"
    spec = spec_from_file_location(name, path)
    if path.suffix != ".py" or spec is None or spec.loader is None:
        raise InputError(f"{path} is no Python file: write the study into one that ends in .py.")
    module = module_from_spec(spec)
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    register_environments()  # the command has not done so yet, and the file may use their names
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt) and (
            command.was_interrupted() or not command.is_running()
        ):
            raise  # it may be the user's, not the file's
        where = f"{path}{_line(error, path)}"
        if isinstance(error, InputError):
            raise InputError(f"{where}: {error}") from error
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        line = (said.splitlines() or ["no message"])[0].rstrip(".")
        raise InputError(f"{where} raises {type(error).__name__}: {line}.") from error
    # Workers cannot import the file by its name; they are sent what it defines.
    cloudpickle.register_pickle_by_value(module)
    return module


def _line(error: BaseException, path: Path) -> str:
    """Where in the file it went wrong, if it was there."""
    if isinstance(error, SyntaxError) and _same(error.filename, path):
        return f" in line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    here = [frame.lineno for frame in frames if _same(frame.filename, path)]
    return f" in line {here[-1]}" if here else ""


def _same(file: str | None, path: Path) -> bool:
    return file is not None and Path(file).resolve() == path.resolve()
