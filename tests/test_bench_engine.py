"""The benchmark of the experiment engine measures the same studies in all columns."""

import pytest

from benchmarks import engine
from experiments.small_studies import report_cells
from preftd._src.paper.contents import STUDIES
from preftd._src.paper.corridors import steady
from test_bench_learners import number, tables


@pytest.mark.slow
def test_every_study_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    found = engine.studies(scale=0.005)
    shortened = {**found, "the paper's": found["the paper's"][:1]}
    monkeypatch.setattr(engine, "studies", lambda _: shortened)
    ((names, *rows),) = tables(engine.table(scale=0.005))
    assert [row[0] for row in rows] == list(shortened)
    assert names[2:6] == ["learning s", "engine s", "engine, % of learning", "its CPU s"]
    for row, some in zip(rows, shortened.values(), strict=True):
        assert number(row[1]) == sum(len(report_cells(study)) for study in some)
        learning, more, percent, computed = map(number, row[2:6])
        assert min(learning, more, computed) > 0
        assert percent == pytest.approx(100 * more / learning, rel=0.02)


def test_all_walks_and_corridors_are_measured() -> None:
    measured = {study.name for study in engine.studies()["the paper's"]}
    corridors = {study.name for study in STUDIES if study.name.startswith(("corridor", "double"))}
    walks = {study.name for study in STUDIES if study.name.startswith("walk")}
    assert measured == walks | corridors - {study.name for study in steady.STUDIES}
