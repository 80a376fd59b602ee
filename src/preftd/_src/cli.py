"""The command line: arguments and help, no logic."""

import errno
import io
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from preftd import __version__
from preftd._src.cli_fit import fit
from preftd._src.command import check_interrupt, stopped_by_ctrl_c
from preftd._src.options import (
    RESULTS,
    Address,
    Executor,
    ExecutorName,
    Full,
    Mixed,
    Out,
    Seeds,
    StudyFile,
    Workers,
    executor_maker,
)
from preftd._src.terminal import print_line, standard_error
from preftd.failures import DidNotConvergeError, FailedError, InputError

HELP = """Temporal-difference learning with preferences.

For example:
    preftd list                      list the figures of the paper
    preftd reproduce figure_3        compute and draw one of them
    preftd run examples/study.py     run your own study
    preftd COMMAND --help            show the options of a command
"""


class _PlainHelp:
    """Help that shows flags without a value."""

    def get_params(self, ctx: Any) -> Any:
        """Return the options, flags without a type."""
        found: Any = super().get_params(ctx)  # type: ignore[misc]
        for option in found:
            if getattr(option, "is_flag", False):
                option.metavar = ""
        return found


class _Command(_PlainHelp, TyperCommand): ...


class _Group(_PlainHelp, TyperGroup): ...


app = typer.Typer(
    cls=_Group,
    help=HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


app.command()(fit)


def _print_version(asked: bool) -> None:
    """Print the version and exit."""
    if asked:
        print(f"preftd {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None: ...


@app.command()
def diagnose(
    file: Annotated[Path, typer.Argument(help="A chain in TOML, or NPZ if it is large.")],
) -> None:
    """Show whether TD(λ), ETD and PTD converge on a chain, to what, and why.

    FILE holds transition (n × n), discount, features (n × k), and beta or lambda;
    optionally also reward, interest, covariance and start. For example, in TOML:

        transition = [[0.5, 0.5], [0.5, 0.5]]
        discount = 0.99
        features = [[0.5], [1.0]]
        lambda = [0.99, 0.8]

    To write a large, sparse chain to NPZ, use preftd.theory.save_problem.
    """
    from preftd._src.registration import load_plugins
    from preftd.rules import RULES
    from preftd.theory import compare, load_problem, report

    load_plugins()
    problem = load_problem(file)
    rules = [make(problem.interest) for make in RULES.values()]
    found = compare(problem.process, problem.features, rules, problem.beta)
    print_line(f"{file}: states: {problem.process.states}, features: {problem.features.size}\n")
    print_line(report(found))


@app.command("list")
def list_figures() -> None:
    """List the figures of the paper that can be reproduced.

    For example:
        preftd list
    """
    from preftd._src.paper.registry import overview

    print_all(overview())


@app.command()
def reproduce(
    figures: Annotated[
        list[str] | None, typer.Argument(metavar="FIGURE", help="Names of figures (default: all).")
    ] = None,
    full: Full = False,
    seeds: Seeds = None,
    workers: Workers = None,
    executor: Executor = ExecutorName.LOCAL,
    address: Address = None,
    mixed: Mixed = False,
    out: Out = RESULTS,
) -> None:
    """Compute and draw figures of the paper. Stored results are reused.

    The name memory draws nothing: it recomputes rows of a study in JAX.

    For example:
        preftd reproduce
        preftd reproduce --full
        preftd reproduce figure_3 --seeds 5 --out quick
        preftd reproduce memory
    """
    from preftd._src.paper.order import Order
    from preftd._src.paper.reproduce import reproduce as make

    maker = executor_maker(executor, workers, address, mixed)
    print_all(make(figures or [], Order(out, seeds, maker, full)))


@app.command()
def run(
    study: StudyFile,
    seeds: Seeds = None,
    workers: Workers = None,
    executor: Executor = ExecutorName.LOCAL,
    address: Address = None,
    mixed: Mixed = False,
    out: Out = RESULTS,
) -> None:
    """Run the studies in a file, then print a table and draw figures.

    Stored results are reused, so a run that was stopped resumes.

    For example:
        preftd run examples/study.py
        preftd run examples/study.py --seeds 3 --workers 1 --out quick
        preftd run examples/study.py --executor ray --address localhost:6379
    """
    from preftd._src.experiments.progress import progress_here
    from preftd._src.experiments.study import load_studies
    from preftd._src.report import studies

    loaded, place = load_studies(study, seeds), study.resolve().parent
    maker = executor_maker(executor, workers, address, mixed)
    print_all(studies.run_and_show(loaded, out, maker, progress_here(), place))


@app.command()
def show(study: StudyFile, seeds: Seeds = None, out: Out = RESULTS) -> None:
    """Show the stored results of the studies in a file: a table and figures. Computes nothing.

    For example:
        preftd show examples/study.py
    """
    from preftd._src.experiments.progress import progress_here
    from preftd._src.experiments.study import load_studies
    from preftd._src.report import studies

    print_all(studies.show_all(load_studies(study, seeds), out, progress_here()))


@app.command()
def status(
    study: Annotated[
        Path | None, typer.Argument(metavar="STUDY.py", help="A Python file with studies.")
    ] = None,
    seeds: Seeds = None,
    out: Out = RESULTS,
) -> None:
    """Show the contents of a results folder, the progress of studies, and how runs ended.

    For example:
        preftd status
        preftd status examples/study.py --out quick
    """
    from preftd._src.experiments.study import load_studies
    from preftd._src.report.tables import status_lines

    print_all(status_lines(out, load_studies(study, seeds) if study else []))


@app.command("report")
def report_page(
    study: Annotated[
        Path | None,
        typer.Argument(metavar="STUDY.py", help="A Python file with studies (default: the paper)."),
    ] = None,
    full: Full = False,
    seeds: Seeds = None,
    out: Out = RESULTS,
) -> None:
    """Write stored results as one HTML page that opens from disk. Runs no study.

    For example:
        preftd report
        preftd report examples/study.py --out quick
    """
    from preftd._src.experiments.progress import progress_here
    from preftd._src.experiments.study import load_studies

    if study is not None:
        from preftd._src.report import studies

        print_all(studies.report_all(load_studies(study, seeds), out, progress_here()))
        return
    from preftd._src.paper.order import Order
    from preftd._src.paper.page import stored_page

    print_all(stored_page(Order(out, seeds, full=full)))


@app.command()
def claims(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="CLAIM", help="Names of claims (default: all).")
    ] = None,
    full: Full = False,
    seeds: Seeds = None,
    out: Out = RESULTS,
) -> None:
    """Test the claims of the paper on stored results. Computes nothing.

    For example:
        preftd claims
        preftd claims corridor_td_grows_with_length --out quick --seeds 5
    """
    from preftd._src.paper.order import Order
    from preftd._src.paper.summary import claim_lines

    print_all(claim_lines(names or [], Order(out, seeds, full=full)))


@app.command()
def tasks(
    name: Annotated[str | None, typer.Argument(help="Name of a task (default: all).")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter, such as length=10.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File for a picture: .png, .svg or .pdf.")
    ] = None,
) -> None:
    """List the tasks, or describe and draw one.

    For example:
        preftd tasks
        preftd tasks corridor --set length=5 --out corridor.png
    """
    from preftd._src.files import refuse_others
    from preftd._src.registration import load_plugins
    from preftd._src.style import save_figure
    from preftd._src.tasks import catalogue

    load_plugins()
    if name is None and (parameters or out):
        raise InputError("--set or --out is given without a task: name one.")
    if name is None:
        print_all(catalogue.overview())
        return
    if out is not None:
        refuse_others(out)
    task = catalogue.make(name, **catalogue.parse(parameters or []))
    if out is not None:
        save_figure(task.plot(), out)
    print_line(catalogue.describe(task))
    if out is not None:
        print_line(f"wrote {out}")


def print_all(lines: Iterable[str]) -> None:
    """Print each line at once."""
    for line in lines:
        print_line(line)
        check_interrupt()


for _command in app.registered_commands:
    _command.cls = _Command


@stopped_by_ctrl_c
def main() -> None:
    """Run the command line; errors that users can fix are one sentence, without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # λ becomes "?" where it cannot be encoded
    try:
        try:
            app(prog_name="preftd")
        finally:
            sys.stdout.flush()  # here, because errors after main cannot be caught
    except InputError as error:
        _fail(str(error), code=2)
    except OSError as error:
        _forget(1)
        if isinstance(error, BrokenPipeError):
            sys.exit(1)  # the reader, such as head, has seen enough
        what = "output cannot be written"
        if error.filename is not None:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
            what = f"{error.filename} cannot be {'written' if full else 'read or written'}"
        _fail(f"{what}: {error.strerror or error}.".replace("..", "."), code=1)
    except (DidNotConvergeError, FailedError) as error:
        _fail(str(error), code=1)


def _fail(message: str, code: int) -> None:
    """Print an error and exit."""
    try:
        print_line(" ".join(["preftd:", *message.splitlines()]), standard_error())
    except OSError:  # nobody can be told
        _forget(2)
    sys.exit(code)


def _forget(descriptor: int) -> None:
    """Discard output that is not yet printed: Python would try again at exit, and fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
