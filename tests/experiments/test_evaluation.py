"""What an evaluation makes of its errors: means, intervals, marks, pictures."""

from copy import copy
from typing import Any

import numpy as np
import pytest

from preftd import (
    PTD,
    TD,
    Evaluation,
    InputError,
    evaluate,
    tasks,
)
from preftd._src.style import look_of
from preftd.preferences import Learned, Observability

CORRIDOR = tasks.make("corridor", length=4)


def test_means_and_intervals_are_students() -> None:
    rng = np.random.default_rng(0)
    errors = rng.exponential(size=(5, 2, 3))
    found = Evaluation(errors.copy(), np.ones(5), tuple(range(5)), (0.1, 0.2), "PTD")
    mean, width = found.curve(0.95)
    np.testing.assert_allclose(mean, errors.mean(axis=0))
    # 2.776 is the 97.5 % point of Student's distribution with 4 degrees of freedom.
    np.testing.assert_allclose(width, 2.776445 * errors.std(axis=0, ddof=1) / 5**0.5, rtol=1e-6)
    assert found.average().mean.shape == (2,)
    assert found.best == int(np.argmin(errors.mean(axis=(0, 2))))
    alone = Evaluation(errors[:1].copy(), np.ones(1), (0,), (0.1, 0.2), "PTD")
    assert np.isinf(alone.curve().half_width).all()
    with pytest.raises(ValueError, match="read-only"):
        found.errors[0, 0, 0] = 1


def test_axes_are_those_of_matplotlib() -> None:
    found = evaluate(CORRIDOR, PTD(), Observability(), [0.1], 2, 2)
    wrong: list[Any] = [3, 0, "x", [], object, found]
    for axes in wrong:
        for draw in (found.plot, found.plot_step_sizes, Learned().explain(None).plot):
            with pytest.raises(InputError, match=r"^axes is .*: give Axes of matplotlib, or omit"):
                draw(axes)


def test_pictures_show_curves_intervals_and_what_diverged() -> None:
    found = evaluate(CORRIDOR, TD(), Observability(), [1e6, 0.1, 0.01], 40, 4)
    axes = found.plot()
    evaluate(CORRIDOR, PTD(), Observability(), [0.1], 40, 4).plot(axes)
    legend = axes.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["TD(λ), α = 0.1", "PTD, α = 0.1"]
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), found.curve().mean[found.best])
    assert len(axes.collections) == 2
    sizes = found.plot_step_sizes()
    crosses = sizes.lines[1]
    assert crosses.get_marker() == "x"
    np.testing.assert_array_equal(crosses.get_xdata(), [1e6])


def test_rules_of_ones_own_look_different_in_one_picture() -> None:
    rng = np.random.default_rng(0)
    mine, yours, papers = (
        Evaluation(rng.exponential(size=(3, 2, 5)), np.ones(3), (0, 1, 2), (0.1, 0.2), rule)
        for rule in ("mine", "yours", "PTD")
    )
    for draw in (Evaluation.plot, Evaluation.plot_step_sizes):
        axes = draw(mine)
        for found in (papers, yours, mine):
            draw(found, axes)
        looks = [(line.get_color(), line.get_linestyle()) for line in axes.lines]
        assert len(set(looks)) == 3
        assert looks[0] == looks[3]
        assert draw(yours).lines[0].get_color() == look_of("yours").colour  # if that is not taken


def test_a_run_that_was_ever_far_off_has_diverged_also_if_it_came_back() -> None:
    errors = np.full((2, 2, 4), 1.9e6)
    # The least mean by far, but one of its runs was once beyond a million times 2.
    errors[:, 1] = 0.0
    errors[0, 1, 1] = 2.1e6
    found = Evaluation(errors, np.array([2.0, 2.0]), (0, 1), (0.1, 0.2), "PTD")
    assert found.diverged.tolist() == [[False, True], [False, False]]
    assert found.best_step_size == 0.1
    everywhere = Evaluation(np.full((1, 1, 2), np.inf), np.ones(1), (0,), (0.1,), "PTD")
    legend = everywhere.plot().get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["PTD: diverged"]


def test_names_in_pictures_are_text_and_never_mathematics() -> None:
    mine = Evaluation(np.ones((2, 1, 3)), np.ones(2), (0, 1), (0.1,), r"$\bad$")
    for draw in (Evaluation.plot, Evaluation.plot_step_sizes):
        axes = draw(mine)
        figure = axes.get_figure(root=True)
        assert figure is not None
        figure.draw_without_rendering()  # which would raise
        legend = axes.get_legend()
        assert legend is not None
        assert legend.get_texts()[0].get_text().startswith(r"$\bad$")
    named = copy(CORRIDOR)
    named.name = r"$\bad$"
    figure = named.plot().get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()


class Told:
    """The specification of a learner that gives whatever it is told as errors."""

    label, takes_step_size, watchable = "told", True, False

    def __init__(self, found: Any) -> None:
        self.found = found

    def start(self, *_: Any) -> "Told":
        return self

    def learn(self, *_: Any) -> Any:
        return self.found


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (
            [[1], [2]],
            r"errors of shape \(2, 1\): give one for each episode and step size, \(2, 2\)",
        ),
        ([1, 2], r"errors of shape \(2,\)"),
        (np.full((2, 2), 1 + 1j), "errors is not an array of real numbers"),
        ([["1", "2"], ["3", "4"]], "errors is not an array of real numbers"),
        ([[1, 2], [3]], "errors is not an array of real numbers"),
        (None, "errors is not an array of real numbers"),
        ([[1, 2], [3, -4]], r"errors\[1, 1\] is -4: every entry must be 0 or more"),
    ],
)
def test_errors_that_a_learner_cannot_have_are_refused(found: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(
            tasks.make("corridor", length=2), PTD(), 1.0, [0.1, 0.2], 2, 1, learner=Told(found)
        )


def test_errors_that_are_missing_are_infinite() -> None:
    found = np.ma.array([[1.0, -9999], [2.0, 3.0]], mask=[[False, True], [False, False]])
    errors = evaluate(
        tasks.make("corridor", length=2), PTD(), 1.0, [0.1, 0.2], 2, 1, learner=Told(found)
    ).errors
    np.testing.assert_array_equal(errors, [[[1, 2], [np.inf, 3]]])
