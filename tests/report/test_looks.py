"""Methods look the same in all figures, and different from each other, also in greyscale."""

import re
from collections.abc import Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex, to_rgb

from made_runs import PAPER, study
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results
from preftd._src.report.page.render import HERE
from preftd._src.style import LOOKS, MARKERS, OTHERS, Look, look_of, looks
from seen import drawn, lines_of

PAPERS = Results(study(units=(4, 16)), Score())


def greyscale(colour: str) -> float:
    return float(np.dot(to_rgb(colour), (0.299, 0.587, 0.114)))


def luminance(colour: str) -> float:
    parts = np.array(to_rgb(colour))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def inverted(colour: str) -> str:
    """What `invert(1) hue-rotate(180deg)` makes of a colour."""
    turn = 2 * np.array([0.213, 0.715, 0.072]) - np.eye(3)
    return to_hex(np.clip(turn @ (1 - np.array(to_rgb(colour))), 0, 1))


def test_both_forms_of_etd_keep_their_order_and_contrast_in_the_dark() -> None:
    css, dark = (HERE / "page.css").read_text(encoding="utf-8"), {}
    [page] = set(re.findall(r"--paper: #\w+; --raised: (#1\w+);", css))
    for name in ("ETD-fixed", "ETD-variable"):
        own = LOOKS[name].colour.lower()
        [written] = set(re.findall(rf'"{own}" i\] {{ (?:stroke|fill): (#\w+); }}', css))
        dark[name] = inverted(written)
        assert (luminance(dark[name]) + 0.05) / (luminance(page) + 0.05) > 3
    fixed, variable = (LOOKS[name].colour for name in dark)
    assert luminance(fixed) < luminance(variable)
    assert luminance(dark["ETD-fixed"]) < luminance(dark["ETD-variable"])


def test_a_method_has_the_same_colour_in_every_figure() -> None:
    right = {"TD": "TD(λ)", "ETD-fixed": "ETD-fixed", "ETD-variable": "ETD-variable", "PTD": "PTD"}
    colours = [LOOKS[name].colour for name in right.values()]
    for name in ("curves", "step_sizes", "widths"):
        figure = drawn(name, PAPERS)
        for panel in range(2):
            lines = lines_of(figure, panel, 2)
            found = list(dict.fromkeys(line.get_color() for line in lines))
            assert found[:4] == colours, name
    bars: Any = drawn("bars", PAPERS).axes[0].patches
    assert [to_rgb(bar.get_edgecolor()[:3]) for bar in bars] == [to_rgb(c) for c in colours]


@pytest.mark.parametrize(("rules", "preferences"), [(1, 6), (2, 3), (3, 2)])
def test_variants_in_a_panel_differ_in_line_marker_and_hatch(rules: int, preferences: int) -> None:
    some = dict(list(PAPER.items())[-rules:])
    runs = study(tasks=1, seeds=1, rules=some, preferences=list("abcdef")[:preferences])
    seen = looks(runs, ["rule", "preference"])
    assert len(seen) == 6
    for one, other in combinations(seen.values(), 2):
        assert all(a != b for a, b in zip(one, other, strict=True)), (one, other)
    for rule in some:
        grey = [greyscale(look.colour) for key, look in seen.items() if key[0] == rule]
        assert abs(grey[1] - grey[0]) > 0.1


@pytest.mark.parametrize(("rules", "preferences"), [(4, 1), (3, 2), (2, 3), (1, 6)])
def test_custom_rules_and_their_variants_differ(rules: int, preferences: int) -> None:
    own = {f"my rule {i}": f"rule {i}" for i in range(rules)}
    runs = study(tasks=1, seeds=1, rules=own, preferences=list("abcdef")[:preferences])
    seen = looks(runs, ["rule", "preference"])
    for one, other in combinations([*seen.values(), *LOOKS.values()], 2):
        assert all(a != b for a, b in zip(one, other, strict=True)), (one, other)
    assert {seen[rule, "a"] for rule in own} <= set(OTHERS)
    # Rules of the library do not change their looks, in any order.
    known = study(tasks=1, seeds=1, rules={"PTD": "PTD"})
    assert looks(pl.concat([known, runs]), ["rule", "preference"]) == seen | {
        ("PTD", ""): LOOKS["PTD"]
    }


def test_custom_rules_beyond_the_palette_are_variants() -> None:
    runs = study(tasks=1, seeds=1, rules={f"rule {i}": f"rule {i}" for i in range(7)})
    seen = looks(runs, ["rule"])
    assert len(set(seen.values()) & set(OTHERS)) == len(OTHERS)
    assert len(set(seen.values())) == 7
    assert len({look.colour for look in seen.values()}) == 7


def own_looks(names: Sequence[str]) -> dict[str, Look]:
    runs = study(tasks=1, seeds=1, step_sizes=[0.1], rules={name: name for name in names})
    return {rule: look for (rule,), look in looks(runs, ["rule"]).items()}


@pytest.mark.parametrize("order", list(permutations(["mine A", "mine B", "PTD"])))
def test_the_look_of_a_custom_rule_follows_from_its_name(order: tuple[str, ...]) -> None:
    alone = {name: own_looks([name])[name] for name in order}
    # The same on every machine and with every version of Python, unlike hash().
    assert alone["mine A"] == OTHERS[0]
    assert own_looks(order) == alone


def test_only_a_rule_whose_look_is_taken_gets_another() -> None:
    by_look: dict[Look, list[str]] = {}
    for name in (f"rule {i}" for i in range(30)):
        by_look.setdefault(look_of(name), []).append(name)
    (first, second, *_), (other, *_), *_ = by_look.values()
    first, second = sorted([first, second])
    for order in permutations([first, second, other, "PTD"]):
        seen = own_looks(order)
        assert list(seen) == list(order)
        assert [seen[name] for name in (first, other)] == [look_of(first), look_of(other)]
        assert seen[second] in set(OTHERS) - {seen[first], seen[other]}


def test_rules_keep_their_looks_when_there_are_too_many_rules() -> None:
    names = [f"rule {i}" for i in range(7)]
    seen = own_looks(names)
    kept = {name for name, look in seen.items() if look in OTHERS}
    assert {name: look for name, look in own_looks(names[::-1]).items() if name in kept} == {
        name: seen[name] for name in kept
    }


def test_no_marker_looks_like_the_cross_of_runs_that_diverged() -> None:
    markers = {*MARKERS, *(look.marker for look in (*LOOKS.values(), *OTHERS))}
    assert not markers & {"x", "X"}


def test_rules_differ_in_line_marker_and_hatch() -> None:
    for one, other in combinations([*LOOKS.values(), *OTHERS], 2):
        assert all(a != b for a, b in zip(one, other, strict=True)), (one, other)


def test_the_papers_methods_differ_in_greyscale() -> None:
    seen = [LOOKS[name] for name in ("TD(λ)", "ETD-fixed", "ETD-variable", "PTD")]
    for one, other in combinations(seen, 2):
        assert abs(greyscale(one.colour) - greyscale(other.colour)) > 0.12


def test_variants_of_a_rule_keep_their_looks_when_others_are_not_drawn() -> None:
    runs = study(tasks=1, preferences=["a", "b"], rules={"TD": "TD(λ)", "mine": "PTD"})
    seen = looks(runs, ["rule", "preference"])
    assert seen["mine", "a"] == LOOKS["PTD"]
    assert seen["mine", "b"].colour not in {LOOKS["PTD"].colour, seen["TD", "b"].colour}
    # TD with preference a diverges with every step size: TD with b does not get its look.
    lost = pl.col("rule").eq("TD") & pl.col("preference").eq("a")
    results = Results(runs.with_columns(diverged=pl.col("diverged") | lost), Score())
    colours = [line.get_color() for line in lines_of(drawn("curves", results), 0, 20)]
    assert seen["TD", "b"].colour in colours
    assert seen["TD", "a"].colour not in colours
