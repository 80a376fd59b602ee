"""Mutated files of problems: refused with code 2 in one sentence, or answered as they should be."""

import io
import random
import tomllib
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from preftd import InputError, MarkovRewardProcess
from preftd._src import cli
from preftd.failures import DidNotConvergeError
from preftd.rules import RULES, as_beta
from preftd.tasks import Features
from preftd.theory import compare, load_problem, report
from theory.test_bad_files import ARRAYS, TOML, Trap, npz, toml

TEXTS = (
    *("nan", "-1", "inf", "1e400", "1e308", "1e-90", "0", "2", "true", '"word"', "''", "[]"),
    *("[[]]", "[[[]]]", "[0.5]", "[[0.5], [0.5]]", "[[1, 0], [0, 1]]", "[[0.5, nan], [0.5, 0.5]]"),
    *("[1, [2]]", "[true, false]", "{a = 1}", "[{a = 1}]", "1979-05-27", "0x7fffffffffffffff"),
    *(f"1{'0' * 400}", f"1{'0' * 5000}", "[" * 50 + "]" * 50, "[" * 5000, "-0.0", "[0.5, 0.5]"),
)
NAMES = (*TOML, "reward", "interest", "covariance", "start", "lambda", "λ", "", "a.b")
VALUES: tuple[Callable[[Path], Any], ...] = (
    lambda _: np.nan,
    lambda _: -np.ones(2),
    lambda _: np.zeros((2, 2)),
    lambda _: np.full((2, 2), 1e308),
    lambda _: np.zeros((0, 2)),
    lambda _: np.ones((2, 2, 2)),
    lambda _: np.array([[True, False], [False, True]]),
    lambda _: np.array([1, 2**63], np.uint64),
    lambda _: np.array([1j, 2]),
    lambda _: np.array(["a", "b"]),
    lambda _: np.array(["2024", "2025"], "datetime64[Y]"),
    lambda _: np.zeros(2, [("x", float), ("y", int)]),
    lambda _: np.array([0.5, 0.5], np.float16),
    lambda _: np.array([0.5, 0.5], np.longdouble),
    lambda _: np.array([0, 2, 1]),
    lambda _: np.array([2**40, 2**40]),
    lambda _: np.array([-1, -1]),
    lambda folder: np.array([Trap(folder / "sprung"), None], dtype=object),
    lambda _: np.zeros((1000, 1000)),
)


def of_text(chance: random.Random, _: Path) -> bytes:
    """TOML with one or two of its values replaced or left out."""
    count = chance.choice((1, 1, 2))
    changes = {chance.choice(NAMES): chance.choice(TEXTS) for _ in range(count)}
    return toml(chance.choice(list(TOML)) if chance.random() < 0.1 else "", **changes)


def of_arrays(chance: random.Random, folder: Path) -> bytes:
    """NPZ with one or two of its arrays replaced or left out."""
    names = (*ARRAYS, "transition", "reward", "interest", "covariance", "start", "lambda", "odd")
    count = chance.choice((1, 1, 2))
    changes = {chance.choice(names): chance.choice(VALUES)(folder) for _ in range(count)}
    return npz(chance.choice(list(ARRAYS)) if chance.random() < 0.1 else "", **changes)


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The same with some bytes changed, left out, repeated or cut off."""
    for _ in range(chance.choice((1, 1, 1, 3))):
        at, kind = chance.randrange(len(content)), chance.randrange(5)
        before, after = content[:at], content[at:]
        if kind == 0:
            content = before + chance.randbytes(1) + after[1:]
        elif kind == 1:
            content = (
                before + chance.choice([b"0", b"1", b".", b",", b" ", b"\n", b"#"]) + after[1:]
            )
        elif kind == 2:
            content = before + after[chance.randrange(40) :]
        elif kind == 3:
            content = before + before[-chance.randrange(1, 40) :] + after
        else:
            content = before + chance.randbytes(chance.randrange(1, 9)) + after
    return content[: chance.randrange(len(content) + 1)] if chance.random() < 0.1 else content


def expected(path: Path) -> str:
    """The answer for a file that is fine, from what Python's or numpy's own reader finds in it."""
    if path.suffix == ".toml":
        tables: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    else:
        with np.load(path) as arrays:
            tables = dict(arrays)
        if "transition_data" in tables:
            tables["transition"] = load_problem(path).process.transition
    process = MarkovRewardProcess(
        tables["transition"], tables.get("reward", 0.0), tables["discount"], tables.get("start")
    )
    features = Features(tables["features"], tables.get("covariance"))
    beta = as_beta(tables.get("beta"), tables.get("lambda"), (process.states,))
    rules = [make(np.asarray(tables.get("interest", 1.0), float)) for make in RULES.values()]
    return report(compare(process, features, rules, beta))


def outcome(path: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> int:
    """The exit code of the command, after checking what it says."""
    patch.setattr("sys.argv", ["preftd", "diagnose", str(path)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    out, err = capsys.readouterr()
    code = end.value.code or 0
    assert isinstance(code, int)
    if code == 0:
        assert err == ""
        _, table, reasons = out.split("\n\n", 2)
        wanted, _, said = expected(path).partition("\n\n")
        assert table == wanted
        assert reasons.split() == said.split(), "the same words in shorter lines"
    else:
        assert len(err.splitlines()) == 1
        assert err.startswith("preftd: ")
        assert err.rstrip("\n").isprintable()
        if code != 2:  # a chain that is fine, but too hard
            assert code == 1
            with pytest.raises(DidNotConvergeError):
                expected(path)
    return code


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["values.toml", "bytes.toml", "values.npz", "bytes.npz"])
def test_a_mutated_file_is_refused_or_answered_as_it_should_be(
    kind: str,
    count: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance, codes = random.Random(f"{kind} {count}"), Counter[int]()  # noqa: S311  (no secret)
    path = tmp_path / kind
    for _ in range(count):
        if kind.startswith("values"):
            content = (of_text if kind.endswith("toml") else of_arrays)(chance, tmp_path)
        else:
            content = damaged(toml() if kind.endswith("toml") else npz(), chance)
        path.write_bytes(content)
        codes[outcome(path, capsys, monkeypatch)] += 1
        assert not (tmp_path / "sprung").exists()
    with capsys.disabled():
        print(f"\n{kind}: {count} files, exit codes {dict(codes)}")
    assert codes[0] > 0
    assert codes[2] > count // 3


@pytest.mark.slow
def test_what_is_small_only_while_it_is_compressed_is_refused(tmp_path: Path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("transition", "features"):
            array = io.BytesIO()
            np.save(array, np.zeros((4000, 4000)))
            archive.writestr(f"{name}.npy", array.getvalue())
    (tmp_path / "bomb.npz").write_bytes(file.getvalue())
    assert len(file.getvalue()) < 1_000_000
    with pytest.raises(InputError):
        load_problem(tmp_path / "bomb.npz")
