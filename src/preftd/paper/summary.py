"""Claims and findings for readers: a table on the terminal, and the summary, a page in Markdown."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import floor, isfinite, log10
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

from preftd.arrays import InputError
from preftd.files import write_whole
from preftd.names import nearest
from preftd.paper.claim import Claim
from preftd.paper.contents import CLAIMS
from preftd.paper.grids.studies import SEEDS
from preftd.paper.order import Order, stored, without_search
from preftd.paper.stored_runs import on_file_note
from preftd.paper.study import Found
from preftd.paper.titles import COUNTEREXAMPLES, TITLES
from preftd.paper.verdict import LEVEL, Case, Finding, Verdict

HEAD = ("claim", "effect", "interval", "claimed", "verdict")
WIDTH, INDENT = 100, "  "
LEGEND = (
    "Intervals are Student's over seeds, paired by seed. All cases of a claim hold together with "
    f"{LEVEL * 100:g} % (Bonferroni), and the weakest is shown. A claim is reproduced where the "
    "interval lies inside the claimed region, not reproduced where it lies outside, and "
    "inconclusive otherwise. Where cases are many, their averages are judged as well."
)


class Answer(NamedTuple):
    """A claim and what was found."""

    claim: Claim
    finding: Finding


def ask(claims: Sequence[Claim], found: Found) -> list[Answer]:
    """The findings on those claims whose studies have results."""
    return [
        Answer(claim, claim.test(found))
        for claim in claims
        if all(study in found for study in claim.studies)
    ]


def claim_lines(names: Sequence[str], order: Order) -> Iterator[str]:
    """The table of some claims, or all, from stored results; raises if some are missing."""
    for name in names:
        nearest("claim", name, CLAIMS)
    claims = [CLAIMS[name] for name in dict.fromkeys(names)] or list(CLAIMS.values())
    found, missing = stored([study for claim in claims for study in claim.studies], order)
    if rows := ask(claims, found):
        yield table(rows)
        yield from few_seeds(found)
    if missing:
        more = " --full" * (order.full or bool(without_search(missing, order)))
        more += "" if order.seeds is None else f" --seeds {order.seeds}"
        raise InputError(
            f"{len(claims) - len(rows)} of {len(claims)} claims cannot be tested, as results are "
            f"missing of {', '.join(study.name for study in missing)}: compute them with `preftd "
            f"reproduce --out {order.out}{more}`."
        )


def few_seeds(found: Found) -> Iterator[str]:
    """An empty line, and one that says so if seeds of the grids are missing, or from a file."""
    counts = [of.reported["seed"].n_unique() for study, of in found.items() if study.long_search]
    if counts and min(counts) < SEEDS:
        yield ""
        yield (
            f"The grids are reported on {min(counts)} of {SEEDS} seeds, so that claims about them "
            "may be inconclusive: `preftd reproduce --full` reports all seeds."
        )
    elif note := on_file_note(found.values()):
        yield from ("", note)


def table(rows: Sequence[Answer]) -> str:
    """Name, effect, interval and verdict of each claim; then its statement and explanation."""
    cells = [HEAD, *((row.claim.name, *_cells(row.finding)) for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(HEAD))]
    cells.insert(1, tuple("-" * width for width in widths))
    lines = [
        "  ".join(part.ljust(width) for part, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
    lines += ["", fill(LEGEND, WIDTH), ""]
    for row in rows:
        lines += [row.claim.name, *(_wrapped(text) for text in details(row)), ""]
    return "\n".join(lines)


def details(row: Answer) -> Iterator[str]:
    """What is claimed, what was measured, and what explains it."""
    claim, finding = row
    yield f"Claim ({about(claim)}): {claim.statement}"
    yield f"Measured: {finding.effect}{_where(finding)}."
    if finding.averages:
        yield f"On average: {_averages(finding)}."
    if claim.because:
        yield f"Because: {claim.because}"


def about(claim: Claim) -> str:
    """The figures that a claim is about."""
    if not claim.figures:
        return "beyond the paper"
    return f"figure{'s' * (len(claim.figures) > 1)} {', '.join(claim.figures)}"


def effect_text(case: Case) -> str:
    """The effect with the digits that its interval justifies."""
    return _number(case.centre, _digits(case)) if isfinite(case.centre) else "unknown"


def interval_text(case: Case) -> str:
    """The interval, with the same digits."""
    digits = _digits(case)
    return f"[{_number(case.low, digits)}, {_number(case.high, digits)}]"


def _cells(finding: Finding) -> tuple[str, ...]:
    weakest = finding.weakest
    claimed = str(finding.region)
    return effect_text(weakest), interval_text(weakest), claimed, str(finding.verdict)


def _where(finding: Finding) -> str:
    if len(finding.cases) == 1:
        return ""
    verdicts = [finding.region.verdict(case.low, case.high) for case in finding.cases]
    held = verdicts.count(Verdict.REPRODUCED)
    known = [case for case in finding.cases if isfinite(case.centre)] or [finding.weakest]
    least, most = (pick(known, key=lambda case: case.centre) for pick in (min, max))
    return (
        f", from {effect_text(least)} to {effect_text(most)}; reproduced in {held} of "
        f"{len(finding.cases)} cases, the weakest is {finding.weakest.name}"
    )


def _averages(finding: Finding) -> str:
    told = [
        f"{case.name} {effect_text(case)} {interval_text(case)}".strip()
        for case in finding.averages
    ]
    return f"{', '.join(told)}: {finding.on_average}"


def _digits(case: Case) -> int:
    """Two digits of the width of the interval are worth reading."""
    width = (case.high - case.low) / 2
    if not isfinite(width) or width <= 1e-9:
        return 2
    return max(0, 1 - floor(log10(width)))


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("-", "−").replace("inf", "∞")


def _wrapped(text: str) -> str:
    return fill(text, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT * 2)


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
