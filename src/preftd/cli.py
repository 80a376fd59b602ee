"""The command line: arguments only, no logic."""

import io
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from preftd.arrays import InputError
from preftd.bench import BENCHMARKS, run_benchmarks
from preftd.bench.processes import BenchError
from preftd.report import convergence
from preftd.rules import RULES
from preftd.solve import DidNotConvergeError
from preftd.style import save_figure
from preftd.tasks import catalogue
from preftd.theory import compare, load_problem, report

app = typer.Typer(
    help="Temporal-difference learning with preferences.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def diagnose(
    file: Annotated[Path, typer.Argument(help="A chain in TOML (small) or NPZ (large).")],
) -> None:
    """Whether, where and why TD(λ), ETD and PTD converge on a chain, side by side.

    FILE holds transition (n × n), discount, features (n × k), and beta or lambda; if need be also
    reward, interest, covariance and start. For example, as TOML:

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


@app.command()
def reproduce(
    out: Annotated[Path, typer.Option(help="Folder for figures and pages.")] = Path("results"),
) -> None:
    """Make what there is of the paper: both counterexamples, drawn and explained.

    Example: preftd reproduce --out results
    """
    for path in convergence.reproduce(out, say=lambda text: print(text, flush=True)):
        print(f"wrote {path}")


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
    except (DidNotConvergeError, BenchError) as error:
        _fail(str(error), code=1)


def _fail(message: str, code: int) -> None:
    print("preftd:", *message.splitlines(), file=sys.stderr)
    sys.exit(code)
