"""The theory part of the paper on disk, and the simulation in its figure."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from preftd import ETD, PTD, TD
from preftd._src.paper.counterexamples import figures
from preftd._src.paper.counterexamples.figures import (
    draw_counterexamples,
    simulate,
    size_of_values,
    write_counterexamples,
)
from preftd._src.tasks.chains import LAMBDAS
from preftd.rules import RULES
from preftd.tasks import make
from preftd.theory import key_matrix, mean_trajectory

each_example = pytest.mark.parametrize("name", LAMBDAS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is written, twice, with a short simulation."""
    folder = tmp_path_factory.mktemp("reproduced")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "STEPS", 400)
        for again in ("once", "again"):
            paths = write_counterexamples(folder / again / "new", draw_counterexamples())
            assert sorted(paths) == sorted((folder / again / "new").glob("[!.]*"))
    return folder


def test_it_simulates_as_many_seeds_as_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "STEPS", 400)
    said = list[str]()
    write_counterexamples(tmp_path / "3", draw_counterexamples(3, said.append), 3)
    write_counterexamples(tmp_path / "5", draw_counterexamples(5), 5)
    assert "3 seeds" in said[0]
    assert "median of 3 simulated runs" in (tmp_path / "3" / "convergence.md").read_text("utf-8")
    three, five = ((tmp_path / n / "counterexamples.svg").read_bytes() for n in "35")
    assert three != five


@pytest.mark.parametrize("name", ["counterexamples.png", "counterexamples.svg", "convergence.md"])
def test_the_same_files_are_written_again_to_the_byte(folder: Path, name: str) -> None:
    once, again = folder / "once" / "new" / name, folder / "again" / "new" / name
    assert once.stat().st_size > 1000
    assert once.read_bytes() == again.read_bytes()


def test_the_figure_has_its_size_and_something_in_it(folder: Path) -> None:
    image = imread(folder / "once" / "new" / "counterexamples.png")
    # 7.2 × 6.4 inches and three more lines of the note, at 200 dots each, cropped to what is drawn.
    np.testing.assert_allclose(image.shape[:2], (1346, 1440), rtol=0.05)
    assert 0.01 < (image[..., :3] < 0.5).any(axis=-1).mean() < 0.5


def test_the_page_shows_the_figure_and_explains_every_rule(folder: Path) -> None:
    page = (folder / "once" / "new" / "convergence.md").read_text(encoding="utf-8")
    assert "](counterexamples.png)" in page
    for name, lambda_ in LAMBDAS.items():
        title = name.replace("_", " ").capitalize()
        (section,) = [part for part in page.split("\n## ") if part.startswith(title)]
        task = make(name)
        for rule in (of_interest(1.0) for of_interest in RULES.values()):
            assert f"\n{rule.name}: the expected update " in section
            (line,) = [x for x in section.splitlines() if x.startswith(f"A of {rule.name}: ")]
            rows = line.partition("[")[2].rstrip("]").split(";")
            key = key_matrix(task.process, task.features, rule, lambda_=lambda_)
            shown = [[float(x.replace("−", "-")) for x in row.split(",")] for row in rows]
            np.testing.assert_allclose(shown, key.A, rtol=1e-4)


@each_example
def test_td_diverges_and_ptd_converges_in_simulation(name: str) -> None:
    sizes = simulate(name, [TD(), PTD()], [0.005, 0.05], steps=12_000, seeds=6)
    td, ptd = sizes[-1] / sizes[0]
    assert td.min() > 4
    assert ptd.max() < 0.2


@each_example
def test_small_steps_follow_the_expected_update(name: str) -> None:
    task = make(name)
    rules, step_sizes, steps = [TD(), ETD(), PTD()], [1e-4, 1e-4, 1e-3], 3000
    runs = np.median(simulate(name, rules, step_sizes, steps, seeds=8), axis=-1)
    for i, rule in enumerate(rules):
        key = key_matrix(task.process, task.features, rule, lambda_=LAMBDAS[name])
        mean = mean_trajectory(key, step_sizes[i], steps - 1, np.ones(key.b.size))
        expected = size_of_values(mean, task.features.columns(slice(None)))
        np.testing.assert_allclose(runs[:, i], expected, rtol=0.05)


def test_runs_differ_between_seeds_and_repeat_from_call_to_call() -> None:
    once, again = (simulate("counterexample_1", [TD()], [0.01], 300, seeds=5) for _ in range(2))
    np.testing.assert_array_equal(once, again)
    assert np.unique(once[-1]).size == 5


def test_runs_that_overflow_are_not_hidden() -> None:
    sizes = simulate("counterexample_1", [ETD()], [10.0], 2000, seeds=3)
    assert not np.isfinite(sizes[-1]).any()
