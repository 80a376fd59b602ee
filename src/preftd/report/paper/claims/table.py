"""Claims and findings as plain text: a table, and below it what each claim says and why."""

from collections.abc import Iterator, Sequence
from math import floor, isfinite, log10
from textwrap import fill
from typing import NamedTuple

from preftd.arrays import InputError
from preftd.names import nearest
from preftd.report.paper import Order
from preftd.report.paper.claims import CLAIMS
from preftd.report.paper.claims.claim import LEVEL, Case, Claim, Finding, Found, Verdict
from preftd.report.paper.claims.stored import stored
from preftd.report.paper.grids import SEEDS
from preftd.report.paper.studies import LONG

HEAD = ("claim", "effect", "interval", "claimed", "verdict")
WIDTH, INDENT = 100, "  "
LEGEND = (
    "Intervals are Student's over seeds, paired by seed. All cases of a claim hold together with "
    f"{LEVEL * 100:g} % (Bonferroni), and the weakest is shown. A claim is reproduced where the "
    "interval lies wholly inside of what is claimed, not reproduced where it lies wholly outside, "
    "and undecided else. Where cases are many, their averages are judged as well, by themselves."
)


class Answer(NamedTuple):
    """A claim and what was found."""

    claim: Claim
    finding: Finding


def ask(claims: Sequence[Claim], found: Found) -> list[Answer]:
    """The findings on those claims whose studies are there."""
    return [
        Answer(claim, claim.test({name: found[name] for name in claim.studies}))
        for claim in claims
        if all(name in found for name in claim.studies)
    ]


def claim_lines(names: Sequence[str], order: Order) -> Iterator[str]:
    """The table of some claims, or all, from what is stored; what is missing is told at the end."""
    for name in names:
        nearest("claim", name, CLAIMS)
    claims = [CLAIMS[name] for name in dict.fromkeys(names)] or list(CLAIMS.values())
    there = stored(claims, order)
    if rows := ask(claims, there.found):
        yield table(rows)
        yield from few_seeds(there.found)
    if there.missing:
        more = " --full" * (order.full or there.not_on_file)
        more += "" if order.seeds is None else f" --seeds {order.seeds}"
        raise InputError(
            f"{len(claims) - len(rows)} of {len(claims)} claims cannot be tested, as results are "
            f"missing of {', '.join(there.missing)}: compute them by `preftd reproduce "
            f"--out {order.out}{more}`."
        )


def few_seeds(found: Found) -> Iterator[str]:
    """A line, if not all seeds of the grids are reported; and before it an empty one."""
    counts = [found[name].reported["seed"].n_unique() for name in LONG if name in found]
    if counts and min(counts) < SEEDS:
        yield ""
        yield (
            f"The grids are reported on {min(counts)} of {SEEDS} seeds, so that claims about them "
            "may stay undecided: `preftd reproduce --full` makes all."
        )


def table(rows: Sequence[Answer]) -> str:
    """Name, effect, interval and verdict of each claim; then its words, its measure and why."""
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
    """What is claimed, what was measured and where, and what explains it."""
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
        return "past the paper"
    return f"figure{'s' * (len(claim.figures) > 1)} {', '.join(claim.figures)}"


def effect_text(case: Case) -> str:
    """The effect with as many digits as its interval gives it."""
    return _number(case.centre, _digits(case)) if isfinite(case.centre) else "unknown"


def interval_text(case: Case) -> str:
    """The interval, likewise."""
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
