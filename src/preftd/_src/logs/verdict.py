"""The verdict in words: what to use where readings are good, what inside gaps, and what it gains.

The arm with the least held-out error is the best; inside gaps, that may be one that holds the last
trusted prediction. If the paired interval of another arm's error, as a share of the best one's,
begins at 0 or below, the two cannot be told apart, and the simpler one is recommended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from preftd._src.logs.arms import ARMS, BOOSTING
from preftd._src.logs.scores import HELD
from preftd._src.logs.summary import errors_of
from preftd._src.style import number_text

FEWEST = 10
"""With fewer groups, intervals say little."""
FINE = 10
"""Smaller percentages have a digit more."""


def verdict(summary: Mapping[str, Any], question: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on what to use at one question, where readings are good and inside gaps."""
    labels = labels_of(summary)
    if not question["verdicts"]:
        yield "No row that was predicted has a known return, so nothing is compared."
    trusted, untrusted = (errors_of(question, rows=rows) for rows in ("trusted", "untrusted"))
    for one in question["verdicts"]:
        if one["best"] is None:
            continue
        where = "Where readings are good" if one["rows"] == "trusted" else "Inside gaps"
        if not trusted or not untrusted:
            where = "On all rows"
        (own,) = errors_with(question, one["best"], one["rows"])
        where += f" ({own['count']:,} rows)"
        later = [f"A saved model does not predict with {labels[one['use']]}."] * _passes(one["use"])
        yield " ".join([_use(where, one, labels, own), *_worth(one, labels), *later])
    if question["verdicts"] and not trusted:
        yield "No row with a known return is trusted (β of ½ or more)."
    if question["verdicts"] and question["groups"] < FEWEST:
        yield (
            "Episodes, or stretches as long as the horizon, whose errors are compared: "
            f"{question['groups']}. They are too few to rely on intervals."
        )


def labels_of(summary: Mapping[str, Any]) -> dict[str, str]:
    """Return what people call arms, and their held predictions, by what verdicts call them."""
    labels = {arm["key"]: arm["label"] for arm in summary["arms"]}
    return labels | {f"{HELD}{key}": f"{label}, held" for key, label in labels.items()}


def errors_with(question: Mapping[str, Any], key: str, rows: str) -> list[dict[str, Any]]:
    """Return the error of the method that a verdict names, if it is known."""
    own = errors_of(question, arm=key, prediction="value", rows=rows)
    return own or errors_of(question, arm=key.removeprefix(HELD), prediction="held", rows=rows)


def _passes(key: str) -> bool:
    """Whether nothing of it is stored, or it needs the rewards before a row."""
    return key in ("last", BOOSTING) or key.startswith(HELD)


def _use(
    where: str, one: Mapping[str, Any], labels: Mapping[str, str], own: Mapping[str, Any]
) -> str:
    """The method to use, and the arms that are indistinguishable from it."""
    use, best = one["use"], one["best"]
    span = f"{number_text(own['rmse'])}{ends(own, 'rmse')}"
    alike = [m["arm"] for m in one["more"] if (m["more_low"] or 0.0) <= 0 and m["arm"] != best]
    if use == best:
        text = f"{where}: use {labels[use]}. It has the least held-out error, {span}."
        if alike:
            text += f" {started(listed([labels[key] for key in alike]))} cannot be told from it."
        return text
    rest = [labels[key] for key in alike if key != use]
    also = f"; nor can {listed(rest)}" if rest else ""
    least = f"{started(labels[best])} has the least held-out error, {span}"
    rest_of = f"but {labels[use]}, which is simpler, cannot be told from it{also}"
    return f"{where}: use {labels[use]}. {least}, {rest_of}."


def _worth(one: Mapping[str, Any], labels: Mapping[str, str]) -> Iterator[str]:
    """The advantage of the best: over the mean, and over the best of the other kind."""
    more, best = {m["arm"]: m for m in one["more"]}, one["best"]
    mean = more.get("mean")
    if mean is not None and best != "mean":
        if (mean["more_low"] or 0.0) <= 0:
            yield "So nothing is clearly better than the mean return."
            return
        low, own, high = (_less(mean[f"more{end}"]) for end in ("_low", "", "_high"))
        less = f"{own} % less error than the mean return ({low} to {high} %)"
        yield f"{started(labels[best])} has {less}."
    regressions = [key for key in more if key in ARMS and ARMS[key].regression is not None]
    if best in regressions:
        others, kind = [key for key in more if key not in regressions], "of the others"
    else:
        others, kind = [key for key in regressions if key != "mean"], "of the regressions"
    if others:
        near = min(others, key=lambda key: float(more[key]["more"] or 0.0))
        yield f"The best {kind}, {labels[near]}, has {_more(more[near])}."


def _more(one: Mapping[str, Any]) -> str:
    """The excess error of an arm over the best."""
    numbers = [one[f"more{end}"] for end in ("", "_low", "_high")]
    if numbers[0] is None:
        return "more error"
    own, *span = (number_text(round(100 * x, 1)) for x in numbers if x is not None)
    return f"{own} % more error" + (f" ({' to '.join(span)} %)" if span else "")


def _less(more: float | None) -> str:
    """The percentage by which the best has less error, given the excess of another."""
    if more is None:
        return "?"
    less = 100 * more / (1 + more)
    return number_text(round(less, 1 if less < FINE else None))


def ends(row: Mapping[str, Any], name: str) -> str:
    """Return the interval of a number, in brackets."""
    both = [row[f"{name}_low"], row[f"{name}_high"]]
    return "" if None in both else f" ({' to '.join(number_text(x) for x in both)})"


def listed(names: Sequence[str], word: str = "and", comma: str = "; ") -> str:
    """Return names as a sentence has them."""
    return names[0] if len(names) == 1 else f"{comma.join(names[:-1])} {word} {names[-1]}"


def started(text: str) -> str:
    """Return a text as it begins a sentence."""
    return text[:1].upper() + text[1:]


def split_text(summary: Mapping[str, Any]) -> str:
    """Return a description of what is predicted from what."""
    split = summary["split"]
    if not split["ordered"]:
        return f"{split['folds']} folds of whole episodes, each predicted from the others"
    tested = split["folds"] - split["tested"]
    if tested == 1:
        return "the rows after a time, predicted from those before it"
    return f"{tested} pieces of time, each predicted from what was recorded before it"
