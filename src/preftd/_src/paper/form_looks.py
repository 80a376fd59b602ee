"""Looks of forms of a method: its colour, with a line and a marker for each form."""

from typing import NamedTuple

from matplotlib.colors import to_hex, to_rgb

from preftd._src.report.figures.lines import Line, Panel
from preftd._src.style import WIDTH, Look, look_of

PALE = 0.6
"""The share of white in lines of held learners: other lines are seen in front of them."""


class Form(NamedTuple):
    """How lines of a form are drawn; width in points."""

    line: str | tuple[float, tuple[float, ...]]
    marker: str
    width: float = WIDTH
    pale: bool = False


_STEP_BY_STEP, _OTHER = Form("solid", "o"), Form((0, (4, 1.5)), "s")
FORMS = {
    "": _STEP_BY_STEP,
    "online": _STEP_BY_STEP,
    "backward": _STEP_BY_STEP,
    "true online": _OTHER,
    "forward": _OTHER,
    "held": Form("solid", "D", 3.0, pale=True),
}
"""By the name of a learner; the paper's online form has none where nothing else is shown."""


def form_look(rule: str, learner: str) -> Look:
    """The look of a form of a method: the colour of its rule, the line and marker of its form."""
    form, look = FORMS[learner], look_of(rule)
    if form.pale:
        red, green, blue = (PALE + (1 - PALE) * part for part in to_rgb(look.colour))
        look = look._replace(colour=to_hex((red, green, blue)))
    return look._replace(line=form.line, marker=form.marker)


def form_line(line: Line) -> Line:
    """A line with the look of its form."""
    rule, learner = line.rows.select("rule", "learner").row(0)
    return line._replace(look=form_look(rule, learner), width=FORMS[learner].width)


def by_form(panel: Panel) -> Panel:
    """A panel whose lines have the looks of their forms; wide lines are drawn first."""
    lines = sorted(map(form_line, panel.lines), key=lambda line: -line.width)
    return panel._replace(lines=lines)
