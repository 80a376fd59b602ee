"""The command line: arguments only, no logic."""

import io
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from preftd.arrays import InputError
from preftd.bench import BENCHMARKS, run_benchmarks
from preftd.command import stopped_by_ctrl_c
from preftd.failures import FailedError
from preftd.rules import RULES
from preftd.solve import DidNotConvergeError
from preftd.style import save_figure
from preftd.tasks import catalogue
from preftd.theory import compare, load_problem, report

RESULTS = Path("results")

HELP = """Temporal-difference learning with preferences.

For example:
    preftd list                      which figures of the paper there are
    preftd reproduce figure_3        computes and draws one of them
    preftd run examples/study.py     runs a study of one's own
    preftd COMMAND --help            tells more
"""

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def diagnose(
    file: Annotated[Path, typer.Argument(help="A chain in TOML (small) or NPZ (large).")],
) -> None:
    """Whether, where and why TD(λ), ETD and PTD converge on a chain, side by side.

    FILE holds transition (n × n), discount, features (n × k), and beta or lambda;
    if need be also reward, interest, covariance and start. For example, as TOML:

        transition = [[0.5, 0.5], [0.5, 0.5]]
        discount = 0.99
        features = [[0.5], [1.0]]
        lambda = [0.99, 0.8]

    Large, sparse chains are written to NPZ by preftd.theory.save_problem.
    """
    problem = load_problem(file)
    rules = [make(problem.interest) for make in RULES.values()]
    found = compare(problem.process, problem.features, rules, problem.beta)
    print(f"{file}: states: {problem.process.states}, features: {problem.features.size}\n")
    print(report(found))


Out = Annotated[Path, typer.Option(help="Folder for results and figures.")]
Seeds = Annotated[int | None, typer.Option(help="How many seeds; for a search at most as many.")]
Full = Annotated[
    bool, typer.Option("--full", help="Also long searches, and all seeds on the grids.")
]
Workers = Annotated[
    int | None, typer.Option(help="How many processes compute; one for each core by default.")
]
StudyFile = Annotated[Path, typer.Argument(metavar="STUDY.py", help="A Python file with studies.")]


@app.command("list")
def list_figures() -> None:
    """List the figures of the paper that can be reproduced.

    For example:
        preftd list
    """
    from preftd.paper.contents import overview

    print_all(overview())


@app.command()
def reproduce(
    figures: Annotated[
        list[str] | None, typer.Argument(metavar="FIGURE", help="Which; all if left out.")
    ] = None,
    full: Full = False,
    seeds: Seeds = None,
    workers: Workers = None,
    out: Out = RESULTS,
) -> None:
    """Compute and draw figures of the paper; what is computed already is not computed again.

    For example:
        preftd reproduce
        preftd reproduce --full
        preftd reproduce figure_3 --seeds 5 --out quick
    """
    from preftd.paper.order import Order
    from preftd.paper.reproduce import reproduce as make

    print_all(make(figures or [], Order(out, seeds, workers, full)))


@app.command()
def run(
    study: StudyFile,
    seeds: Seeds = None,
    workers: Workers = None,
    out: Out = RESULTS,
) -> None:
    """Run the studies of a file and draw what they found.

    What is stored already is not computed again: a run that was stopped goes on.

    For example:
        preftd run examples/study.py
        preftd run examples/study.py --seeds 3 --workers 1 --out quick
    """
    from preftd.experiments.loading import load_studies
    from preftd.experiments.progress import progress_here
    from preftd.report import studies

    loaded = load_studies(study, seeds)
    print_all(studies.run_and_show(loaded, out, workers, progress_here(), study.resolve().parent))


@app.command()
def show(study: StudyFile, seeds: Seeds = None, out: Out = RESULTS) -> None:
    """Show what is stored of a file's studies: a table and figures. Nothing is computed.

    For example:
        preftd show examples/study.py
    """
    from preftd.experiments.loading import load_studies
    from preftd.experiments.progress import progress_here
    from preftd.report import studies

    print_all(studies.show_all(load_studies(study, seeds), out, progress_here()))


@app.command()
def status(
    study: Annotated[
        Path | None, typer.Argument(metavar="STUDY.py", help="A Python file with studies.")
    ] = None,
    seeds: Seeds = None,
    out: Out = RESULTS,
) -> None:
    """Tell what a folder of results holds, how far studies are and what became of runs.

    For example:
        preftd status
        preftd status examples/study.py --out quick
    """
    from preftd.experiments.loading import load_studies
    from preftd.report.status import status_lines

    print_all(status_lines(out, load_studies(study, seeds) if study else []))


@app.command()
def claims(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="CLAIM", help="Which; all if left out.")
    ] = None,
    full: Full = False,
    seeds: Seeds = None,
    out: Out = RESULTS,
) -> None:
    """Tell what stored results say of each claim of the paper. Nothing is computed.

    For example:
        preftd claims
        preftd claims corridor_td_grows_with_length --out quick --seeds 5
    """
    from preftd.paper.order import Order
    from preftd.paper.summary import claim_lines

    print_all(claim_lines(names or [], Order(out, seeds, full=full)))


@app.command()
def tasks(
    name: Annotated[str | None, typer.Argument(help="Which task; all if left out.")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter, such as length=10.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File for a picture: .png, .svg or .pdf.")
    ] = None,
) -> None:
    """List the tasks, or tell about one and draw it.

    For example:
        preftd tasks
        preftd tasks corridor --set length=5 --out corridor.png
    """
    if name is None and (parameters or out):
        raise InputError("--set and --out are for one task: name it first.")
    if name is None:
        print("\n".join(catalogue.overview()))
        return
    task = catalogue.make(name, **catalogue.parse(parameters or []))
    print(catalogue.describe(task))
    if out is not None:
        save_figure(task.plot(), out)
        print(f"wrote {out}")


@app.command()
def bench(
    names: Annotated[
        list[str] | None, typer.Argument(help=f"Which: {', '.join(BENCHMARKS)}; all if left out.")
    ] = None,
) -> None:
    """Measure speed and memory on this machine; prints a table for each benchmark.

    Example: preftd bench sampling
    """
    for line in run_benchmarks(names or list(BENCHMARKS)):
        print(line, flush=True)


def print_all(lines: Iterable[str]) -> None:
    """Print lines as they come."""
    for line in lines:
        print(line, flush=True)


@stopped_by_ctrl_c()
def main() -> None:
    """Run the command line; what users can mend is said in one sentence, without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # λ is "?" where it cannot be written
    try:
        try:
            app()
        finally:
            print(end="", flush=True)  # here, and not after main, where errors cannot be caught
    except InputError as error:
        _fail(str(error), code=2)
    except OSError as error:
        # What could not be printed would fail again, and loudly, when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error, BrokenPipeError):
            sys.exit(1)  # the reader, such as head, has seen enough
        _fail(f"{error.filename or 'output'} cannot be written: {error.strerror}.", code=1)
    except (DidNotConvergeError, FailedError) as error:
        _fail(str(error), code=1)


def _fail(message: str, code: int) -> None:
    print("preftd:", *message.splitlines(), file=sys.stderr)
    sys.exit(code)
