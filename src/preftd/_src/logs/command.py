"""The command `preftd fit`: columns from options or a file, the evaluation, and a table."""

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
from preftd._src.logs.scores import HELD
from preftd._src.logs.source import is_minari, minari_columns
from preftd._src.logs.summary import errors_of
from preftd._src.logs.verdict import ends, errors_with, labels_of, verdict
from preftd._src.style import number_text
from preftd._src.terminal import aligned

ROWS = {"trusted": "where readings are good", "untrusted": "inside gaps"}


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
    """Evaluate a log and yield the lines of a table; options take precedence over the file.

    If a page will be written, it must not replace a file of the user.
    """
    if page:
        refuse_others(out / PAGE)
    columns = columns_of(log, file, named)
    progress = Silent() if quiet else progress_here("rows")
    try:
        with maker(progress.say) as executor:
            found = fit(log, columns, out, executor=executor, progress=progress, **settings)
    except KeyboardInterrupt as error:
        kept = f"finished parts are in {out}"
        progress.say(f"stopped; {kept}: run the same command again to resume.")
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
    """The sizes of the log, a table of held-out errors, and the recommendation."""
    summary = found.summary
    log, labels = summary["log"], labels_of(summary)
    yield (
        f"{log['source']}: rows: {log['rows']:,}, episodes: {log['episodes']:,}, "
        f"features: {len(summary['features'])}"
    )
    yield from summary["notes"]
    for question in summary["questions"]:
        kinds = [rows for rows in ROWS if errors_of(question, rows=rows)]
        if not kinds:
            continue
        yield ""
        yield f"{question['label']}: held-out error (95 % interval)"
        heads = [ROWS[rows] for rows in kinds] if "untrusted" in kinds else ["all rows"]
        table = [("method", *heads)]
        for key in labels:
            cells = [errors_with(question, key, rows) for rows in kinds]
            if key.startswith(HELD) and (kinds[-1] != "untrusted" or not cells[-1]):
                continue
            texts = (f"{_text(one[0]['rmse'])}{ends(one[0], 'rmse')}" for one in cells)
            table.append((labels[key], *texts))
        yield from aligned(table)
        yield from verdict(summary, question)
    yield f"wrote {found.folder}"


def _text(number: float | None) -> str:
    return "?" if number is None else number_text(number)
