"""The benchmark of the experiment engine measures the same studies in all its columns."""

from preftd.bench import engine
from preftd.experiments.cells import report_cells
from test_bench_learners import number, tables


def test_every_study_is_measured() -> None:
    ((names, *rows),) = tables(engine.table(scale=0.005))
    studies = engine.studies(scale=0.005)
    assert [row[0] for row in rows] == [study.name for study in studies]
    assert names[2:4] == ["learning s", "run here s"]
    for row, study in zip(rows, studies, strict=True):
        assert number(row[1]) == len(report_cells(study, {}))
        learning, here, more = map(number, row[2:5])
        assert min(learning, here) > 0
        assert abs(100 * (here / learning - 1) - more) < 0.02 * abs(100 + more)
