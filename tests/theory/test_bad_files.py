"""Files that hold no problem: each is refused in one sentence, and nothing in them is run."""

import contextlib
import io
import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from commands import complaint
from preftd import InputError
from preftd.theory import load_problem

TOML = {
    "transition": "[[0.5, 0.5], [0.5, 0.5]]",
    "discount": "0.9",
    "features": "[[1, 0], [0, 1]]",
    "beta": "[1, 0.5]",
}
SPARSE = sparse.csr_array(np.full((2, 2), 0.5))
ARRAYS: dict[str, Any] = {
    "transition_data": SPARSE.data,
    "transition_indices": SPARSE.indices,
    "transition_indptr": SPARSE.indptr,
    "transition_shape": np.array(SPARSE.shape),
    "discount": 0.9,
    "features": np.eye(2),
    "beta": np.ones(2),
}


def toml(leave_out: str = "", **changes: str) -> bytes:
    lines = [f"{name} = {x}" for name, x in (TOML | changes).items() if name != leave_out]
    return "\n".join(lines).encode()


def npz(leave_out: str = "", **changes: Any) -> bytes:
    file = io.BytesIO()
    arrays = {name: x for name, x in (ARRAYS | changes).items() if name != leave_out}
    np.savez_compressed(file, allow_pickle=True, **arrays)
    return file.getvalue()


def npy(array: NDArray[np.float64]) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def zipped(array: bytes) -> bytes:
    """An NPZ whose zip is sound but whose one array may not be."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("transition.npy", array)
    return file.getvalue()


def header(shape: str) -> bytes:
    """The beginning of an array file, and nothing after it."""
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def damaged(content: bytes) -> bytes:
    """The first compressed bytes inverted: zlib fails before the checksum does."""
    at = content.index(b".npy") + 30
    return content[:at] + bytes(255 - x for x in content[at : at + 8]) + content[at + 8 :]


BAD_TOML: dict[str, tuple[bytes, str]] = {
    "empty TOML": (b"", "transition is missing"),
    "broken TOML": (b"transition = [[", "not TOML"),
    "endless TOML": (b"transition = " + b"[" * 5000, "not TOML"),
    "endless number": (toml(reward="1" * 5000), "not TOML"),
    "not UTF-8": ("# é\n".encode("latin-1") + toml(), "not text in UTF-8"),
    "an NPZ called TOML": (npz(), "not text in UTF-8"),
    "unknown name": (toml(trasition="1"), "'trasition': did you mean 'transition'?"),
    "name unlike any": (toml(zzz="1"), "'zzz': known are transition, discount,"),
    "no transition": (toml("transition"), "transition is missing: add it"),
    "no features": (toml("features"), "features is missing: add it"),
    "beta and lambda": (
        toml(**{"lambda": "0"}),
        "beta and lambda (which is 1 − beta) are both given or both missing",
    ),
    "a word as transition": (toml(transition='"often"'), "transition is not an array of real"),
    "words as features": (toml(features='[["1"], ["2"]]'), "features is not an array of real"),
    "a word in beta": (toml(beta='["1", 0]'), "beta is not an array of real"),
    "a date as reward": (toml(reward="2021-07-18"), "reward is not an array of real"),
    "a table as start": (toml(start="{a = 1}"), "start is not an array of real"),
    "infinite reward": (toml(reward="inf"), "reward is inf"),
    "a vast reward": (toml(reward="[1, -1e308]"), "reward[1] is -1e+308: rescale them all"),
    "a tiny interest": (toml(interest="1e-320"), "interest is 9.99989e-321: rescale them all"),
    "rows that differ": (toml(transition="[[1], [0.5, 0.5]]"), "rows of equal length"),
    "empty transition": (toml(transition="[]"), "transition has shape (0,)"),
    "transition not square": (toml(transition="[[1, 0]]"), "(1, 2), which is not square"),
    "row not 1": (toml(transition="[[1, 0], [0.5, 0.4]]"), "transition row 1 sums to 0.9"),
    "features of 3 states": (toml(features="[[1], [2], [3]]"), "3 rows but there are 2 states"),
    "discount of 3 states": (toml(discount="[0, 0, 0]"), "discount has shape (3,)"),
    "discount above 1": (toml(discount="1.5"), "must lie in [0, 1]"),
    "beta of 3 states": (toml(beta="[1, 1, 1]"), "beta has shape (3,)"),
    "interest of 3 states": (toml(interest="[1, 1, 1]"), "interest has shape (3,)"),
    "negative interest": (toml(interest="-1"), "interest is -1"),
    "covariance of 3 states": (toml(covariance="[1, 1, 1]"), "covariance has shape (3,)"),
}
BAD_NPZ: dict[str, tuple[bytes, str]] = {
    "empty NPZ": (b"", "not an NPZ file"),
    "a TOML called NPZ": (toml(), "not an NPZ file"),
    "an array by itself": (npy(np.eye(2)), "not an NPZ file"),
    "NPZ cut short": (npz()[:-30], "not an NPZ file"),
    "damaged NPZ": (damaged(npz()), "not an NPZ file"),
    "array cut short": (zipped(npy(np.eye(2))[:-4]), "not an NPZ file"),
    "array with more after it": (zipped(npy(np.eye(2)) + b"more"), "not an NPZ file"),
    "array with half a header": (zipped(header("(2, ")), "not an NPZ file"),
    "array with a long header": (zipped(header(f"{'1' * 20_000}, }}")), "not an NPZ file"),
    "array said to be vast": (zipped(header("(10000000, 10000000)}")), "not an NPZ file"),
    "unknown array": (npz(betta=1), "'betta': did you mean 'beta'?"),
    "no discount": (npz("discount"), "discount is missing: add it"),
    "neither beta nor lambda": (
        npz("beta"),
        "beta and lambda (which is 1 − beta) are both given or both missing",
    ),
    "a word as discount": (npz(discount="0.9"), "discount is not an array of real"),
    "complex features": (npz(features=1j * np.eye(2)), "features is not an array of real"),
    "complex sparse": (npz(transition_data=SPARSE.data + 1j), "transition is not an array of real"),
    "words, sparse": (npz(transition_data=list("abcd")), "transition is not an array of real"),
    "features in one row": (npz(features=np.ones(2)), "features has shape (2,)"),
    "beta above 1": (npz(beta=2), "beta is 2: every entry must lie in [0, 1]"),
    "start of 3 states": (npz(start=np.ones(3) / 3), "start has shape (3,)"),
    "sparse without data": (npz("transition_data"), "transition_data is missing"),
    "sparse without indices": (npz("transition_indices"), "transition_indices is missing"),
    "sparse without indptr": (npz("transition_indptr"), "transition_indptr is missing"),
    "sparse without shape": (npz("transition_shape"), "transition_shape is missing"),
    "sparse and dense": (npz(transition=np.eye(2)), "transition is given twice"),
    "sparse index too large": (npz(transition_indices=[0, 5, 0, 1]), "indices must be < 2"),
    "sparse index negative": (npz(transition_indices=[0, -1, 0, 1]), "indices must be >= 0"),
    "sparse index a half": (npz(transition_indices=[0, 0.5, 0, 1]), "whole numbers"),
    "sparse data too short": (npz(transition_data=np.ones(3)), "should have the same size"),
    "sparse indptr too large": (npz(transition_indptr=[0, 2, 9]), "index pointer"),
    "sparse indptr falling": (npz(transition_indptr=[0, 5, 4]), "non-decreasing"),
    "sparse shape of one": (npz(transition_shape=[2]), "transition_shape has shape (1,)"),
    "sparse shape of three": (npz(transition_shape=[2, 2, 2]), "transition_shape has shape (3,)"),
}
BAD = {case: ("chain.toml", *what) for case, what in BAD_TOML.items()}
BAD |= {case: ("chain.npz", *what) for case, what in BAD_NPZ.items()}
BAD |= {f"called {name}": (name, toml(), "neither .toml nor .npz") for name in ("chain", "a.json")}
"""A file's name and content, and what must be said of it."""

KINDS = """called chain; empty TOML; broken TOML; not UTF-8; unknown name; no discount;
beta and lambda; neither beta nor lambda; words as features; rows that differ; complex sparse;
interest of 3 states; empty NPZ; NPZ cut short; damaged NPZ; sparse without indices;
sparse index too large"""
"""One of each kind, for what takes half a second."""


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_an_input_error_in_one_line(case: str, tmp_path: Path) -> None:
    name, content, says = BAD[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=re.escape(says)) as error:
        load_problem(tmp_path / name)
    assert len(str(error.value).splitlines()) == 1


def refused(path: Path) -> str:
    """What the command says of a file, after checking how it says it."""
    code, line = complaint("diagnose", path)
    assert code == 2
    return line


@pytest.mark.parametrize("case", re.split(r";\s", KINDS))
def test_the_command_refuses_a_bad_file_with_one_line_and_code_2(case: str, tmp_path: Path) -> None:
    name, content, says = BAD[case]
    (tmp_path / name).write_bytes(content)
    assert says in refused(tmp_path / name)


@pytest.mark.parametrize("name", ["nowhere.toml", "nowhere/chain.npz"])
def test_a_file_that_is_not_there_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file .*nowhere"):
        load_problem(tmp_path / name)
    assert name in refused(tmp_path / name)


@pytest.mark.parametrize("name", ["folder.toml", "folder.npz"])
def test_a_folder_is_not_a_file(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=r"folder.* cannot be read \(Is a directory\): "):
        load_problem(tmp_path / name)
    assert name in refused(tmp_path / name)


class Trap:
    """Pickled, this makes a folder when it is loaded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.folder),)


def test_pickled_objects_are_refused_and_not_run(tmp_path: Path) -> None:
    path, sprung = tmp_path / "chain.npz", tmp_path / "sprung"
    path.write_bytes(npz("transition_data", transition=np.array([[Trap(sprung)]], dtype=object)))
    with np.load(path, allow_pickle=True) as unsafe:
        _ = unsafe["transition"]
    assert sprung.exists(), "the trap must work, or its not being sprung shows nothing"
    sprung.rmdir()
    with pytest.raises(InputError, match="Object arrays cannot be loaded"):
        load_problem(path)
    refused(path)
    assert not sprung.exists()


@given(st.binary(), st.sampled_from(["chain.toml", "chain.npz"]))
def test_no_bytes_make_anything_but_an_input_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(content)
    with pytest.raises(InputError):
        load_problem(path)


@given(st.data())
def test_a_damaged_npz_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(data.draw(st.sampled_from([npz(), zipped(npy(np.eye(2)))])))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "chain.npz"
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        load_problem(path)
