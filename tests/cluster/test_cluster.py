"""A real cluster of two nodes: the same bytes as in one process, and what users see of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from cluster.clusters import cluster_of
from experiments.small_studies import Told, manifest, run_here, small, stored_files
from logs.made_logs import COLUMNS, gappy
from preftd._src.experiments.study import load_studies
from preftd._src.logs import parts
from preftd._src.ray.executor import LiveCluster, fingerprint
from preftd._src.report.tables import status_lines
from preftd.experiments import Study, run
from preftd.failures import FailedError
from preftd.logs import LogColumns, fit
from preftd.ray import RayCluster

BESIDE = "LEAST = 0.5\n\ndef trust(x):\n    return x.max() > LEAST\n"
OWN = """
from preftd import PTD, TD, tasks
from preftd.experiments import Study
from preftd.preferences import Function
from lies_beside import trust


def certain(x):
    print("certain", len(x))
    return 1.0


study = Study(
    name="own",
    tasks={"grid": lambda seed: tasks.make("random_grid", seed=seed, size=3)},
    rules=[TD(), PTD()],
    preferences={"beside": Function(trust, compiled=True), "certain": Function(certain)},
    step_sizes=[0.1, 0.2],
    episodes=5,
    seeds=9,
)
"""
LATER = OWN.replace("def certain(x):\n", "def certain(x):\n    import comes_later\n")


class Joined(NamedTuple):
    """A cluster that was joined when the study's modules were loaded, and before they were lost."""

    executor: RayCluster
    said: list[str]
    own: Study
    later: Study


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Joined]:
    """Started once: it takes some seconds."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "lies_beside.py").write_text(BESIDE)
    (folder / "own.py").write_text(OWN)
    (folder / "later.py").write_text(LATER)
    (folder / "comes_later.py").write_text("")
    (own,), (later,) = load_studies(folder / "own.py"), load_studies(folder / "later.py")
    said = list[str]()
    with cluster_of(2) as cluster, RayCluster(2, said.append, address=cluster.address) as executor:
        executor._connected()
        # As on a machine that does not have the folder.
        for name in ("lies_beside", "own", "later"):
            (folder / f"{name}.py").unlink()
        yield Joined(executor, said, own, later)


def test_a_cluster_computes_the_same_bytes_and_resumes_what_another_began(
    joined: Joined, tmp_path: Path
) -> None:
    run_here(joined.own, tmp_path / "here")
    run_here(joined.own.with_seeds(2), tmp_path / "cluster")
    found = run(joined.own, tmp_path / "cluster", executor=joined.executor, progress=Told())
    assert found.runs.height == 9 * 2 * 2 * 2
    assert manifest(tmp_path / "cluster")["computed"] == 7 * 2 * 2 * 2
    run(joined.own, tmp_path / "whole", executor=joined.executor, progress=Told())
    assert stored_files(tmp_path / "whole") == stored_files(tmp_path / "here")
    # What a study prints is seen, as with processes on this machine.
    assert any("certain" in text for text in joined.said)


def test_a_module_that_is_missing_on_a_node_is_named_in_one_sentence(
    joined: Joined, tmp_path: Path
) -> None:
    with pytest.raises(
        FailedError, match=r"^the module 'comes_later' is missing on the node .*\.$"
    ):
        run(joined.later, tmp_path, executor=joined.executor, progress=Told())


def test_nodes_that_differ_are_refused_or_their_results_are_marked(
    joined: Joined, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = joined.executor._connected()
    for changed, first in (
        ({"numpy": "1.0", "scipy": "1.0"}, "numpy"),
        ({"polars": "1.0"}, "polars"),
    ):
        monkeypatch.setattr(live, "_here", fingerprint()._replace(**changed))
        with pytest.raises(
            FailedError, match=rf"^the node \S+ has {first} [\d.]+ in place of 1\.0, so"
        ):
            run(small(), tmp_path, executor=joined.executor, progress=Told())
    assert isinstance(live, LiveCluster)
    monkeypatch.setattr(live, "_mixed", True)
    run(small(), tmp_path, executor=joined.executor, progress=Told())
    assert manifest(tmp_path)["rounded"] == 8
    assert "8 cells computed, 8 equal to rounding only" in list(status_lines(tmp_path, []))[-1]


def test_a_log_gives_the_same_bytes_as_in_one_process(
    joined: Joined, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "PART", 300)
    gappy().write_parquet(tmp_path / "log.parquet")
    found = [
        fit(tmp_path / "log.parquet", LogColumns(**COLUMNS), tmp_path / name, executor=where)
        for name, where in (("here", None), ("cluster", joined.executor))
    ]
    assert (found[0].weights == found[1].weights).all()
    here, there = (one.folder / "predictions.parquet" for one in found)
    assert here.read_bytes() == there.read_bytes()
