"""Figure files: reproducible, drawn once, with nothing cut off."""

from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from made_runs import study
from preftd import InputError
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results
from preftd._src.report.figures.study import FIGURES, applicable_figures, draw
from preftd._src.style import save_figure

PAPERS = Results(study(units=(4, 16)), Score())


def test_figure_files_are_reproducible(tmp_path: Path) -> None:
    results = Results(study(tasks=1, units=(4, 16)), Score())
    names = applicable_figures(results)
    assert names == [name for name in FIGURES if name != "along"]
    drawn = [draw(results, names, tmp_path / folder, "study") for folder in ("once", "again")]
    once, again = ([path for one in some.values() for path in one.paths] for some in drawn)
    assert [path.name for path in once] == [f"study_{n}.{e}" for n in names for e in ("png", "svg")]
    assert sorted(once) == sorted((tmp_path / "once").glob("[!.]*"))
    for one, other in zip(once, again, strict=True):
        assert one.read_bytes() == other.read_bytes()
    with pytest.raises(InputError, match="there is no figure 'curve': did you mean 'curves'"):
        draw(PAPERS, ["curve"], tmp_path / "wrong", "study")
    assert not (tmp_path / "wrong").exists()
    assert applicable_figures(Results(study(step_sizes=[0.1]), Score())) == ["curves", "bars"]


def test_a_figure_is_drawn_once_for_each_file_and_nothing_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = Figure(figsize=(2, 2), layout="constrained")
    axes = figure.subplots()
    figure.supxlabel("a note that is much wider than the figure above it")
    engine, draw, drawn = figure.get_layout_engine(), Figure.draw, []

    def counted(self: Figure, renderer: Any) -> None:
        drawn.append(self)
        draw(self, renderer)

    monkeypatch.setattr(Figure, "draw", counted)
    paths = [tmp_path / "a.png", tmp_path / "a.svg"]
    save_figure(axes, *paths)
    assert len(drawn) == len(paths)
    assert figure.get_layout_engine() is engine
    picture = imread(paths[0])[..., :3].min(axis=2)
    assert picture.shape[1] > 1.5 * 2 * 200, "wider than two inches"
    edges = [picture[:9], picture[-9:], picture[:, :9], picture[:, -9:]]
    assert all((edge == 1).all() for edge in edges), "a white margin"
    assert 'viewBox="0 0 ' in paths[1].read_text()
