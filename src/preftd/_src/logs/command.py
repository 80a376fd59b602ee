"""What `preftd fit` does: columns from options or a file, the evaluation, and a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from preftd._src.arrays import InputError
from preftd._src.experiments.executors import MakeExecutor
from preftd._src.experiments.progress import Silent, progress_here
from preftd._src.files import refuse_others
from preftd._src.logs.columns import LogColumns, read_toml
from preftd._src.logs.fitting import fit
from preftd._src.logs.saved import PAGE, LogEvaluation
from preftd._src.logs.source import is_minari, minari_columns
from preftd._src.logs.summary import errors_of
from preftd._src.style import number_text


def fit_file(
    log: Path,
    out: Path,
    file: Path | None,
    named: Mapping[str, Any],
    settings: Mapping[str, Any],
    maker: MakeExecutor,
    quiet: bool,
    page: bool = False,
) -> Iterator[str]:
    """Evaluate a log and yield the lines of a table; options go before what the file says.

    If a page will be written, nothing of the user's may be in its place.
    """
    if page:
        refuse_others(out / PAGE)
    columns = columns_of(log, file, named)
    progress = Silent() if quiet else progress_here("rows")
    try:
        with maker(progress.say) as executor:
            found = fit(log, columns, out, executor=executor, progress=progress, **settings)
    except KeyboardInterrupt as error:
        kept = f"finished parts are kept in {out}"
        progress.say(f"stopped; {kept}: run the same again to resume.")
        error.add_note(kept)  # so that it is not said again
        raise
    yield from lines(found)


def columns_of(log: Path, file: Path | None, named: Mapping[str, Any]) -> LogColumns:
    """The columns that a file and options name; those of a Minari data set are known."""
    given = minari_columns(log) if is_minari(log) else {}
    given |= ({} if file is None else read_toml(file)) | dict(named)
    discount = named.get("discount")
    if discount is not None:
        numbers = [_number(text) for text in discount]
        if len(numbers) > 1 and not all(isinstance(one, float) for one in numbers):
            raise InputError(f"--discount is {', '.join(discount)}: give numbers, or one column.")
        given["discount"] = numbers if isinstance(numbers[0], float) else numbers[0]
    return LogColumns.from_mapping(given)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def lines(found: LogEvaluation) -> Iterator[str]:
    """A table of held-out errors, and what was done with the log."""
    log, labels = found.summary["log"], {a["key"]: a["label"] for a in found.summary["arms"]}
    yield (
        f"{log['source']}: rows: {log['rows']:,}, episodes: {log['episodes']:,}, "
        f"features: {len(found.summary['features'])}"
    )
    yield from found.summary["notes"]
    for question in found.summary["questions"]:
        if not question["errors"]:
            continue
        yield ""
        yield f"{question['label']}: held-out error (95 % interval), relative to the mean"
        for error in errors_of(question, rows="all"):
            yield (
                f"  {labels[error['arm']]:8}{error['prediction']:8}{_span(error, 'rmse'):36}"
                f"{_text(error['relative'])}"
            )
    yield f"wrote {found.folder}"


def _span(error: Mapping[str, Any], name: str) -> str:
    own, low, high = (_text(error[key]) for key in (name, f"{name}_low", f"{name}_high"))
    return f"{own} ({low} to {high})"


def _text(number: float | None) -> str:
    return "?" if number is None else number_text(number)
