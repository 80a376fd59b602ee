"""The summary, a page in Markdown: all figures that were drawn, and all claims with verdicts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from preftd.files import write_whole
from preftd.paper.claim_table import (
    LEGEND,
    Answer,
    ask,
    details,
    effect_text,
    few_seeds,
    interval_text,
)
from preftd.paper.contents import CLAIMS, COUNTEREXAMPLES, TITLES
from preftd.paper.study import Found
from preftd.paper.verdict import Verdict

PAGE = "summary.md"


def write_summary(out: Path, found: Found) -> Path:
    """Write the page into a folder of results; returns its path."""
    path = out / PAGE
    drawn = {name: title for name, title in TITLES.items() if (out / picture(name)).exists()}
    text = claims_page(found, drawn)
    out.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda file: file.write(text.encode()))
    return path


def claims_page(found: Found, figures: Mapping[str, str]) -> str:
    """The page, for results and the titles of figures by name."""
    rows = ask(list(CLAIMS.values()), found)
    parts = [_top(rows), few_seeds(found), _figures(figures), _table(rows), _each(rows)]
    return "\n".join(chain.from_iterable(parts)) + "\n"


def _top(rows: Sequence[Answer]) -> Iterator[str]:
    yield "# Figures and claims"
    yield ""
    counts = Counter(row.finding.verdict for row in rows)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in reversed(Verdict))
    yield f"{len(rows)} claims: {told}."
    missing = [name for name in CLAIMS if name not in {row.claim.name for row in rows}]
    if missing:
        yield ""
        yield f"Not tested, as results are missing: {', '.join(missing)}."


def picture(name: str) -> str:
    """The path of a figure, relative to the page."""
    return f"{name}.png" if name == COUNTEREXAMPLES else f"figures/{name}.png"


def _figures(titles: Mapping[str, str]) -> Iterator[str]:
    if titles:
        yield from ("", "## Figures")
    for name, title in titles.items():
        yield from ("", f"**{name}**: {title}", "", f"![{name}]({picture(name)})")


def _table(rows: Sequence[Answer]) -> Iterator[str]:
    if not rows:
        return
    yield from ("", "## Claims", "", LEGEND, "")
    yield "| claim | effect | interval | claimed | verdict | on average |"
    yield "|---|---|---|---|---|---|"
    for claim, finding in rows:
        weakest = finding.weakest
        cells = (
            f"[{claim.name}](#{claim.name.replace('.', '')})",
            effect_text(weakest),
            interval_text(weakest),
            str(finding.region),
            _marked(finding.verdict),
            _marked(finding.on_average) if finding.on_average else "",
        )
        yield f"| {' | '.join(cells)} |"


def _marked(verdict: Verdict) -> str:
    return f"**{verdict}**" if verdict != Verdict.REPRODUCED else str(verdict)


def _each(rows: Sequence[Answer]) -> Iterator[str]:
    for row in rows:
        yield from ("", f"### {row.claim.name}", "")
        weakest = row.finding.weakest
        yield (
            f"**{row.finding.verdict}**: {effect_text(weakest)} {interval_text(weakest)}, claimed "
            f"{row.finding.region}"
        )
        for text in details(row):
            yield from ("", text)
