"""The command `preftd fit`: arguments and help, no logic."""

from pathlib import Path
from typing import Annotated, Any

import typer

from preftd._src.options import Address, Executor, ExecutorName, Mixed, Workers, executor_maker
from preftd._src.terminal import print_line

COLUMNS = (
    *("reward", "discount", "episode", "order", "terminated", "truncated", "preference"),
    *("rho", "behaviour", "target", "clip", "encoder", "fill", "reward_is", "missing_reward"),
    *("time", "time_unit"),
)
"""Options that are parameters of `LogColumns` with the same name."""


def option(text: str, metavar: str | None = None) -> Any:
    """Return an option with its help."""
    return typer.Option(metavar=metavar, help=text)


def column(text: str) -> Any:
    """Return an option that names a column."""
    return option(text, "COLUMN")


def several(text: str) -> Any:
    """Return an option for columns, which may be repeated."""
    return column(f"{text} May be repeated.")


def fit(  # noqa: PLR0913, PLR0917  (the columns that a log may have)
    log: Annotated[
        Path,
        typer.Argument(
            metavar="LOG",
            help="A Parquet or CSV file, a folder of them, or the folder of a Minari data set.",
        ),
    ],
    out: Annotated[Path, option("Folder for predictions, weights and the summary.")],
    columns: Annotated[Path | None, option("A file that names the columns.", "FILE.toml")] = None,
    feature: Annotated[list[str] | None, several("A column of numbers.")] = None,
    category: Annotated[list[str] | None, several("A column of text or whole numbers.")] = None,
    reward: Annotated[list[str] | None, several("Reward column.")] = None,
    discount: Annotated[
        list[str] | None,
        option("A number, which may be repeated, or a column.", "γ"),
    ] = None,
    episode: Annotated[str | None, column("Episode ID column.")] = None,
    order: Annotated[str | None, column("Column that increases within an episode.")] = None,
    time: Annotated[str | None, column("Time column: γ then discounts one unit of time.")] = None,
    time_unit: Annotated[
        str | None,
        option("Such as 1s, 5m or 1h; a number if times are numbers.", "UNIT"),
    ] = None,
    terminated: Annotated[str | None, column("Whether the episode ended here.")] = None,
    truncated: Annotated[str | None, column("Whether recording stopped here.")] = None,
    preference: Annotated[
        str | None,
        option(
            "A column, a number, missing, missing:COLUMN,COLUMN:ROWS, age:ROWS, or learned.", "β"
        ),
    ] = None,
    rho: Annotated[str | None, column("Importance ratios, if off-policy.")] = None,
    behaviour: Annotated[str | None, column("Probability of the action that was taken.")] = None,
    target: Annotated[str | None, column("Its probability under the target policy.")] = None,
    clip: Annotated[float | None, option("Clip importance ratios at this value.")] = None,
    encoder: Annotated[
        str | None,
        option("polynomial:DEGREE, fourier:ORDER or tiles:TILES:TILINGS of all numbers."),
    ] = None,
    fill: Annotated[
        str | None, option("How missing values are filled: last, mean or zero.")
    ] = None,
    reward_is: Annotated[
        str | None,
        option("Whether a row's reward came after its observation, or with it."),
    ] = None,
    missing_reward: Annotated[
        str | None, option("Refuse rows without a reward, or cut the episode there.")
    ] = None,
    null: Annotated[
        list[str] | None,
        option("Text of missing values in CSV, such as NA or -999. May be repeated.", "VALUE"),
    ] = None,
    rule: Annotated[
        list[str] | None,
        option(
            "mean, last, ridge, ridge_flags, ridge_trusted, td0, td, etd or ptd. May be "
            "repeated (default: all)."
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        option(
            "In addition to least squares: linear, linear:STEP_SIZE, network, network:UNITS "
            "or boosting. May be repeated."
        ),
    ] = None,
    folds: Annotated[int, option("Number of folds that are held out in turn.")] = 5,
    walk_forward: Annotated[
        bool,
        typer.Option(
            "--walk-forward",
            help="Cut the log into pieces of time; predict each from earlier pieces.",
        ),
    ] = False,
    test_after: Annotated[
        str | None,
        option("Predict only later rows, from earlier ones.", "TIME"),
    ] = None,
    block: Annotated[
        int | None, option("Cut longer episodes into blocks of this many rows.")
    ] = None,
    regularisation: Annotated[
        float | None,
        option("ε in (A + ε I) w = b (default: chosen for each method on its training data)."),
    ] = None,
    predictions: Annotated[bool, option("Write a prediction for each row of the log.")] = True,
    report: Annotated[bool, option("Write report.html, a page to look at.")] = True,
    workers: Workers = None,
    executor: Executor = ExecutorName.LOCAL,
    address: Address = None,
    mixed: Mixed = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Report no progress.")] = False,
) -> None:
    """Predict values from a log, and measure the error on held-out episodes.

    Rows that deserve less trust have a smaller preference. Finished parts are stored, so a run that
    was stopped resumes.

    For example:
        preftd fit log.parquet --feature speed --reward energy --discount 0.9 --out values
        preftd fit logs/ --columns log.toml --out values
    """
    typed: dict[str, Any] = dict(locals())
    from preftd._src.logs.command import fit_file  # noqa: PLC0415  (help must be quick)

    named = {"features": feature, "categories": category, "nulls": null} | {
        name: typed[name] for name in COLUMNS
    }
    given = {name: value for name, value in named.items() if value is not None}
    maker = executor_maker(executor, workers, address, mixed)
    settings: dict[str, Any] = {
        "folds": folds, "block": block, "regularisation": regularisation,
        "predictions": predictions, "methods": method or [],
        "walk_forward": walk_forward, "test_after": test_after,
    }  # fmt: skip
    if rule is not None:
        settings["rules"] = rule
    for line in fit_file(log, out, columns, given, settings, maker, quiet, report):
        print_line(line)
    if report:
        from preftd._src.report.log_page import write_log_page  # noqa: PLC0415  (likewise)

        print_line(f"wrote {write_log_page(out)}")
