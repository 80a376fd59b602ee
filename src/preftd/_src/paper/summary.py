"""Claims and findings as text for readers, and a table on the terminal."""

from collections.abc import Iterator, Sequence
from functools import partial
from math import floor, isfinite, log10
from textwrap import fill
from typing import NamedTuple

from preftd._src.arrays import InputError
from preftd._src.experiments.progress import followed
from preftd._src.names import nearest
from preftd._src.paper.claim import LEVEL, NEGLIGIBLE, RATIO, Case, Claim, Finding, Outcome, Verdict
from preftd._src.paper.contents import CLAIMS
from preftd._src.paper.grids.studies import SEEDS
from preftd._src.paper.grids.studies import STUDIES as GRIDS
from preftd._src.paper.order import Order, PaperResults, stored, without_search
from preftd._src.paper.stored import on_file_note
from preftd._src.paper.study import Found
from preftd._src.style import number_text
from preftd._src.terminal import aligned

HEAD = ("claim", "effect", "interval", "claimed", "verdict")
WIDTH, INDENT = 80, "  "
HARDLY = f"by less than {100 * NEGLIGIBLE:g} %"
LEGEND = (
    "Intervals are Student's over seeds, paired by seed. All cases of a claim hold together with "
    f"{LEVEL * 100:g} % (Bonferroni), and the weakest is shown. A claim is reproduced where the "
    "interval lies inside the claimed region, not reproduced where it lies outside, and "
    "inconclusive otherwise. Where cases are many, their averages are judged as well."
)


class ClaimAnswer(NamedTuple):
    """A claim and its finding."""

    claim: Claim
    finding: Finding


def ask(claims: Sequence[Claim], results: PaperResults) -> list[ClaimAnswer]:
    """The findings on those claims whose studies have results."""

    def finding(claim: Claim) -> Finding:
        content = results.contents(claim.studies)
        numbers = partial(claim.numbers, results)
        return claim.finding(results.memo.recall(f"claim {claim.name}", content, numbers))

    known = [claim for claim in claims if all(study in results for study in claim.studies)]
    return [ClaimAnswer(claim, finding(claim)) for claim in followed(known, "claims")]


def claim_lines(names: Sequence[str], order: Order) -> Iterator[str]:
    """The table of some claims, or all, from stored results; raises if some are missing."""
    for name in names:
        nearest("claim", name, CLAIMS)
    claims = [CLAIMS[name] for name in dict.fromkeys(names)] or list(CLAIMS.values())
    found, missing = stored([study for claim in claims for study in claim.studies], order)
    if rows := ask(claims, found):
        yield table(rows)
        if told := remark(found):
            yield from ("", told)
    if missing:
        more = " --full" * (order.full or bool(without_search(missing, order)))
        more += "" if order.seeds is None else f" --seeds {order.seeds}"
        raise InputError(
            f"{len(claims) - len(rows)} of {len(claims)} claims cannot be tested, as results are "
            f"missing of {', '.join(study.name for study in missing)}: compute them with `preftd "
            f"reproduce --out {order.out}{more}`."
        )


def remark(results: PaperResults) -> str:
    """Whether seeds of the grids are missing, or from a file; empty if all are computed."""
    content = sorted(map(str, results.contents(results)))  # in whatever order they were found
    told: str = results.memo.recall("remark", content, partial(few_seeds, results))
    return told


def few_seeds(found: Found) -> str:
    """A sentence if seeds of the grids are missing, or from a file; otherwise nothing."""
    counts = [found[study].reported["seed"].n_unique() for study in found if study in GRIDS]
    if counts and min(counts) < SEEDS:
        return (
            f"The grids are reported on {min(counts)} of {SEEDS} seeds, so that claims about them "
            "may be inconclusive: `preftd reproduce --full` reports all seeds."
        )
    return on_file_note(found[study] for study in found if study.kept_every)


def table(rows: Sequence[ClaimAnswer]) -> str:
    """Name, effect, interval and verdict of each claim; then its statement and explanation."""
    lines = aligned([HEAD, *((row.claim.name, *_cells(row.finding)) for row in rows)])
    lines += ["", fill(f"{LEGEND} *: {HARDLY}.", WIDTH), ""]
    for row in rows:
        lines += [row.claim.name, *(_wrapped(text) for text in details(row)), ""]
    return "\n".join(lines)


def details(row: ClaimAnswer) -> Iterator[str]:
    """The claim, the measurement, and the explanation."""
    claim, finding = row
    yield f"Claim ({about(claim)}): {claim.statement}"
    yield f"Measured: {finding.effect}{where(finding)}."
    if finding.averages:
        yield f"On average: {averages(finding)}."
    if finding.average:
        outcome, more, effect, measured = primary(row)
        yield f"As one average: {outcome}{more}: {effect}, {measured}"
    if claim.because:
        yield f"Because: {claim.because}"


def primary(row: ClaimAnswer) -> tuple[str, str, str, str]:
    """The text on a primary claim: outcome, number of cases, effect, and its meaning."""
    (claim, finding), average = row, row.finding.average
    if average is None or finding.outcome is None:
        raise InputError(f"{claim.name} has no average: give its row of claims.toml one.")
    more = ""
    against = finding.count(Verdict.NOT_REPRODUCED)
    if finding.outcome == Outcome.ON_AVERAGE:
        more = f", not in every case ({finding.held} of {len(finding.cases)})"
    times = " times" if claim.statistic is RATIO else ""
    holds = finding.outcome in (Outcome.HOLDS, Outcome.ON_AVERAGE)
    if holds and finding.region.is_negligible(average.centre):
        more += f", {HARDLY}"
    named = claim.effect.replace("one method over another", average.name)
    named = named.replace("one method less another", average.name)
    begin = f"{average.name}, " if average.name else ""
    cases = sum(f"{case.name}, ".startswith(begin) for case in finding.cases)
    over = f"; mean of {cases} cases" if cases > 1 else ""
    if claim.average == "nearest":
        over += f"; the nearest of {len(finding.cases) // cases} comparisons"
    if more and against:
        over += f"; {against} case{'s' * (against > 1)} contradict{'s' * (against == 1)} it"
    effect = f"{effect_text(average)}{times} {interval_text(average)}"
    return finding.outcome, more, effect, f"{named} (claimed {finding.region}){over}."


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
    verdict = str(finding.verdict) + "*" * bool(small(finding))
    return effect_text(weakest), interval_text(weakest), claimed, verdict


def small(finding: Finding) -> str:
    """A word on a claim that is reproduced by a negligible effect; empty for others."""
    reproduced = finding.verdict == Verdict.REPRODUCED
    return HARDLY if reproduced and finding.region.is_negligible(finding.weakest.centre) else ""


def where(finding: Finding) -> str:
    """The number of cases in which a claim holds; empty if there is only one."""
    if len(finding.cases) == 1:
        return ""
    known = [case for case in finding.cases if isfinite(case.centre)] or [finding.weakest]
    least, most = (pick(known, key=lambda case: case.centre) for pick in (min, max))
    return (
        f", from {effect_text(least)} to {effect_text(most)}; reproduced in {finding.held} of "
        f"{len(finding.cases)} cases, the weakest is {finding.weakest.name}"
    )


def averages(finding: Finding) -> str:
    """Averages over cases, and the verdict on them."""
    told = [
        f"{case.name} {effect_text(case)} {interval_text(case)}".strip()
        for case in finding.averages
    ]
    return f"{', '.join(told)}: {finding.on_average}"


def _digits(case: Case) -> int:
    """Decimals: two digits of the width of the interval are worth reading."""
    width = (case.high - case.low) / 2
    if not isfinite(width) or width <= 1e-9:
        return 2
    return max(0, 1 - floor(log10(width)))


def _number(value: float, decimals: int) -> str:
    """A number with some decimals, or with two digits if these would hide it.

    An interval of few seeds may reach from 10⁻⁹ to 1000, where no number of decimals suits both.

    >>> _number(0.0031, 0), _number(1071.4, 0), _number(2.3e-8, 1), _number(0.0, 1)
    ('0.0031', '1071', '2.3 × 10⁻⁸', '0.0')
    """
    hidden = 0 < abs(value) < 10**-decimals / 2
    return number_text(value, ".2g" if hidden else f".{decimals}f")


def _wrapped(text: str) -> str:
    return fill(text, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT * 2)
