"""Folders of evaluations that someone has edited: one sentence, at once and in little memory."""

from __future__ import annotations

import io
import json
import shutil
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import preftd
from logs.made_logs import COLUMNS, gappy
from preftd import InputError
from preftd._src.files import read_npz
from preftd._src.report.log_page import write_log_page
from preftd.logs import LogColumns, fit

Edit = Callable[[Path], object]
MEMORY = 3e7
"""Bytes that a refusal may take."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "out"
    log = gappy(episodes=20).with_columns(kind=pl.col("id") % 3)
    columns = LogColumns(**COLUMNS | {"categories": ["kind"]})
    fit(log, columns, folder, rules=["td", "ptd"], methods=["linear"], folds=2)
    return folder


def header(shape: str, dtype: str = "<f8") -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def arrays(change: Callable[[dict[str, Any]], object], write: Any = np.savez) -> Edit:
    """Weights with other arrays."""

    def edit(folder: Path) -> None:
        found: dict[str, Any] = dict(read_npz(folder / "weights.npz"))
        change(found)
        write(folder / "weights.npz", **found)

    return edit


def put(name: str, value: Any) -> Edit:
    return arrays(lambda found: found.__setitem__(name, np.asarray(value)))


def member(content: bytes, kind: int = zipfile.ZIP_STORED) -> Edit:
    """Weights whose first array has that content."""

    def edit(folder: Path) -> None:
        kept = read_npz(folder / "weights.npz")
        with zipfile.ZipFile(folder / "weights.npz", "w", kind) as archive:
            archive.writestr("whole.npy", content)
            for name in kept.keys() - {"whole"}:
                file = io.BytesIO()
                np.save(file, kept[name])
                archive.writestr(f"{name}.npy", file.getvalue())

    return edit


def text(name: str, content: str) -> Edit:
    return lambda folder: (folder / name).write_text(content, encoding="utf-8")


def summary(change: Callable[[Any], object]) -> Edit:
    def edit(folder: Path) -> None:
        found = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        change(found)
        (folder / "summary.json").write_text(json.dumps(found), encoding="utf-8")

    return edit


def cut(folder: Path) -> None:
    path = folder / "weights.npz"
    path.write_bytes(path.read_bytes()[:-40])


HOSTILE: dict[str, Edit] = {
    "72 TiB": member(header("(9895604649984,)")),
    "72 TiB in two axes": member(header("(2, 4947802324992)") + bytes(16)),
    "negative axes": member(header("(-2, -1)") + bytes(16)),
    "a header of 60 kB": member(header("(" + "1," * 30_000 + ")")),
    "objects": member(header("(1,)", "|O") + b"\x80\x04N."),
    "another version": member(b"\x93NUMPY\x09\x00" + bytes(100)),
    "no array": member(b"hello"),
    "nothing": member(b""),
    "a bomb": member(header("(5000000,)") + bytes(40_000_000), zipfile.ZIP_DEFLATED),
    "cut off": cut,
    "text for weights": text("weights.npz", "hello"),
    "compressed": arrays(lambda found: found.update(more=np.zeros(10**6)), np.savez_compressed),
    "an array is missing": arrays(lambda found: found.pop("centre")),
    "other arms": arrays(lambda found: found.update(whole=found["whole"][:1])),
    "other questions": arrays(lambda found: found.update(whole=np.repeat(found["whole"], 2, 2))),
    "one number": put("whole", 1.0),
    "whole numbers": arrays(lambda found: found.update(whole=found["whole"].astype(int))),
    "text": arrays(lambda found: found.update(mean=found["mean"].astype(str))),
    "not finite": arrays(lambda found: found.update(whole=found["whole"] * np.nan)),
    "scale of 0": arrays(lambda found: found.update(scale=found["scale"] * 0)),
    "box": put("box", np.zeros((2, 3))),
    "levels are no text": put("levels", np.zeros(3)),
    "levels are no JSON": put("levels", "[[1,"),
    "levels are a number": put("levels", "3"),
    "levels are nested": put("levels", "[[[1]]]"),
    "other levels": put("levels", "[[1, 2, 3, 4]]"),
    "no levels": put("levels", "[[]]"),
    "deep levels": put("levels", "[" * 100_000),
    "step size": put("online.ptd_linear.step_size", [[1.0]]),
    "no step size": arrays(lambda found: found.pop("online.ptd_linear.step_size")),
    "a list": text("summary.json", "[]"),
    "a number": text("summary.json", "3"),
    "no JSON": text("summary.json", "{"),
    "deep": text("summary.json", "[" * 100_000),
    "many digits": text("summary.json", "9" * 10_000),
    "not UTF-8": lambda folder: (folder / "summary.json").write_bytes(b"\xff\xfe"),
    "no log": summary(lambda found: found.pop("log")),
    "log is a list": summary(lambda found: found.update(log=[])),
    "rows are text": summary(lambda found: found["log"].update(rows="many")),
    "rows are a flag": summary(lambda found: found["log"].update(rows=True)),
    "no questions": summary(lambda found: found.update(questions=[])),
    "question without errors": summary(lambda found: found["questions"][0].pop("errors")),
    "errors are numbers": summary(lambda found: found["questions"][0].update(errors=[1])),
    "rmse is text": summary(lambda found: found["questions"][0]["errors"][0].update(rmse="x")),
    "rmse is infinite": summary(
        lambda found: found["questions"][0]["errors"][0].update(rmse=float("inf"))
    ),
    "rows are too many": summary(lambda found: found["log"].update(rows=10**300)),
    "rows of errors": summary(lambda found: found["questions"][0]["errors"][0].update(rows="x")),
    "suffix": summary(lambda found: found["questions"][0].update(suffix="_x")),
    "half a letter": summary(lambda found: found.update(notes=["\ud800"])),
    "no share": summary(lambda found: found["inputs"][0].update(share=None)),
    "weights of fills": summary(lambda found: found["fills"][0].update(weights=[])),
    "arms are texts": summary(lambda found: found.update(arms=["ptd"])),
    "an arm twice": summary(lambda found: found["arms"].append(found["arms"][0])),
    "method": summary(lambda found: found["arms"][-1].update(method="magic")),
    "other features": summary(lambda found: found["features"].reverse()),
    "weights of other features": summary(
        lambda found: found["questions"][0]["weights"].update(ptd=[1.0])
    ),
    "bins": summary(lambda found: found.update(bins={"rows": [1], "beta": [], "gaps": []})),
    "other columns": text("log.toml", 'features = ["a"]\nreward = "r"\ndiscount = 0.9\n'),
    "deep TOML": text("log.toml", "x = " + "[" * 100_000),
    "no TOML": text("log.toml", "["),
    "TOML of numbers": text("log.toml", "features = 1\nreward = 2\ndiscount = 3\n"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_edited_evaluation_is_refused(name: str, saved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(saved, folder)
    HOSTILE[name](folder)
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as refused:
            preftd.load(folder)
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()
    said = str(refused.value)
    assert ": " in said
    assert "\n" not in said
    assert len(said) < 400


def test_what_is_added_to_a_summary_does_no_harm(saved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(saved, folder)
    summary(lambda found: found.update(more=[1]))(folder)
    assert (preftd.load(folder).weights == preftd.load(saved).weights).all()


def test_predictions_that_are_no_parquet_are_refused(saved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(saved, folder)
    (folder / "predictions.parquet").write_text("hello")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        preftd.load(folder).predictions()
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        write_log_page(preftd.load(folder))


def test_npz_files_are_read_as_numpy_reads_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    given: dict[str, Any] = {
        "a": rng.normal(size=(3, 4)), "b": np.asfortranarray(rng.normal(size=(3, 4))),
        "c": np.array("text"), "d": np.zeros((0, 3)), "e": np.array(["x", "yz"]), "f": np.array(2),
        "g": np.arange(3, dtype=">i2"),
    }  # fmt: skip
    for write, compressed in ((np.savez, False), (np.savez_compressed, True)):
        write(tmp_path / "x.npz", **given)
        found = read_npz(tmp_path / "x.npz", compressed)
        for name, array in given.items():
            assert found[name].dtype == array.dtype
            assert found[name].shape == array.shape
            assert (found[name] == array).all()
            assert found[name].flags.writeable


def test_an_array_in_a_file_must_be_as_large_as_its_head_says(tmp_path: Path) -> None:
    whole = io.BytesIO()
    np.save(whole, np.arange(3.0))
    for change in (b"more", None):
        content = whole.getvalue() + change if change else whole.getvalue()[:-8]
        with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
            archive.writestr("a.npy", content)
        with pytest.raises(ValueError, match="is not an array of shape"):
            read_npz(tmp_path / "x.npz")
