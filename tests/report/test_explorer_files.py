"""The explorer reads and writes the files of `preftd diagnose`, and refuses what it refuses."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import open_browser
from explorer_shell import assert_same_features, call, write_shell
from preftd import Features
from preftd._src.arrays import InputError, as_dense
from preftd.theory import Problem, load_problem

EXAMPLES = Path(__file__).parents[2] / "examples"
PRESETS = {
    "counterexample_1": "counterexample_1",
    "counterexample_2": "counterexample_2",
    "noisy_corridor": "corridor",
}
READ = """
  const { InputError, chain, toml } = preftdExplorer;
  return given.map((text) => {
    try {
      const { kept, reward, visits, values, beta, interest } = chain.checked(toml.read(text));
      return { kept, reward, visits, values, beta, interest };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return error.message;
    }
  });
"""

GOOD = {
    "transition": "[[0.5, 0.5], [0.5, 0.5]]",
    "discount": "0.9",
    "features": "[[0.5], [1.0]]",
    "beta": "0.5",
}
BAD: list[dict[str, str | None]] = [
    {"transition": None},
    {"features": None},
    {"beta": None},
    {"lambda": "0.5"},
    {"beta": "1.5"},
    {"beta": "[0.5, -1]"},
    {"beta": "[0.5, 0.5, 0.5]"},
    {"beta": None, "lambda": "[0.5, 2]"},
    {"beta": None, "lambda": "[0.5, 1e999]"},
    {"transition": "0.5"},
    {"transition": "[0.5, 0.5]"},
    {"transition": "[]"},
    {"transition": "[[0.5, 0.5]]"},
    {"transition": "[[0.5, 0.5], [0.5]]"},
    {"transition": "[[0.5, 0.5], [1.5, -0.5]]"},
    {"transition": "[[0.5, 0.5], [0.3333333333333, 0.6]]"},
    {"transition": "[[1, 0], [0, 1]]"},
    {"discount": "1"},
    {"discount": "[0.5, 0.5, 0.5]"},
    {"discount": "[[0.5, 0.5]]"},
    {"discount": "[[0.5, 1.0000012345], [0.5, 0.5]]"},
    {"reward": "[1, 2, 3]"},
    {"reward": "[[1, 2]]"},
    {"start": "[0.5, 0.4]"},
    {"start": "[1]"},
    {"start": "[1.5, -0.5]"},
    {"features": "[0.5, 1]"},
    {"features": "[[0.5]]"},
    {"features": "[[], []]"},
    {"features": "[[0.5], [1e-200]]"},
    {"covariance": "[1, 1, 1]"},
    {"covariance": "[1, -0.00001]"},
    {"covariance": "[[[1]], [[-1]]]"},
    {"interest": "[1, -1]"},
    {"interest": "[1, 1, 1]"},
]
NOT_TOML = [
    "discount 0.9",
    "discount = [0.9",
    "discount = 0.9 beta = 1",
    "discount =\n0.9",
    "discount = .9",
    "discount = 0.9\ndiscount = 0.8",
    "discount = 'high'",
    "[chain]",
    "discount = [0.9 0.8]",
    "discount = 0x",
    "= 3",
]


def text(changes: dict[str, str | None]) -> str:
    tables = {**GOOD, **changes}
    return "".join(f"{name} = {table}\n" for name, table in tables.items() if table is not None)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    page = write_shell(tmp_path_factory.mktemp("explorer"))
    with open_browser() as browser:
        browser.get(page.as_uri())
        yield browser


def load(folder: Path, written: str) -> Problem:
    file = folder / "chain.toml"
    file.write_text(written, encoding="utf-8")
    return load_problem(file)


def test_what_the_library_refuses_is_refused_with_the_same_sentence(
    browser: Any, tmp_path: Path
) -> None:
    texts = [text(changes) for changes in BAD]
    for written, said in zip(texts, call(browser, READ, texts), strict=True):
        with pytest.raises(InputError) as refused:
            load(tmp_path, written)
        assert said == str(refused.value)


def test_what_is_not_toml_is_refused_with_the_line_and_a_remedy(
    browser: Any, tmp_path: Path
) -> None:
    for written, said in zip(NOT_TOML, call(browser, READ, NOT_TOML), strict=True):
        with pytest.raises(InputError):
            load(tmp_path, written)
        line = 2 if written.count("\n") else 1
        assert said.startswith(f"line {line} has "), said
        assert " in the wrong place: " in said


def test_more_states_than_can_be_drawn_are_refused(browser: Any) -> None:
    ring = np.roll(np.eye(13), 1, axis=1).tolist()
    written = text({"transition": str(ring), "features": str([[1.0]] * 13)})
    assert call(browser, READ, [written]) == [
        "transition has 13 states and the explorer draws at most 12: use preftd diagnose."
    ]


def test_more_features_than_are_computed_at_once_are_refused(browser: Any) -> None:
    row = [[1.0] * 21]
    written = text({"transition": "[[1]]", "features": str(row), "beta": "1", "reward": "0"})
    assert call(browser, READ, [written]) == [
        "features has 21 columns and the explorer takes at most 20: use preftd diagnose."
    ]


HOSTILE = {
    "discount = " + "[" * 20_000: "line 1 has [ in the wrong place: write at most 10 brackets",
    "discount = " + "[" * 20_000 + "]" * 20_000: "line 1 has [ in the wrong place: write at most",
    "]" * 20_000: "line 1 has ] in the wrong place",
    "a"
    * 20_000: "line 1 has the end in the wrong place: write aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "discount = " + "1_" * 20_000: "line 1 has 1_1_",
    "a" * 20_000 + " = 1": "there is no table 'aaaaaa",
    "__proto__ = [1]": "there is no table '__proto__'",
    "x = ["
    + "1," * 1_000_000
    + "]": "the chain has 2000006 letters and the explorer reads at most",
}


def test_a_hostile_text_is_refused_at_once_in_a_line(browser: Any) -> None:
    for said, wanted in zip(call(browser, READ, list(HOSTILE)), HOSTILE.values(), strict=True):
        assert said.startswith(wanted)
        assert len(said) < 250


def test_an_unknown_table_is_refused(browser: Any) -> None:
    said = call(browser, READ, [text({"rewards": "0"}), text({"toString": "0"})])
    assert [one.partition(":")[0] for one in said] == [
        "there is no table 'rewards'",
        "there is no table 'toString'",
    ]


def test_files_are_read_as_the_library_reads_them(browser: Any, tmp_path: Path) -> None:
    texts = [file.read_text("utf-8") for file in sorted(EXAMPLES.glob("*.toml"))]
    texts += [
        "# first\r\ntransition = [ # a comment\r\n[1_0e-1,\r\n],]\r\ndiscount=+5e-1\r\n"
        "features=[[-0.25]] # last\r\nlambda = [0.75]",
        text({"reward": "[[1, 2], [3, 4]]", "discount": "[0.5, 0]", "interest": "2"}),
    ]
    for written, read in zip(texts, call(browser, READ, texts), strict=True):
        problem = load(tmp_path, written)
        process = problem.process
        right = {
            "kept": as_dense(process.discounted_transition),
            "reward": process.reward,
            "visits": process.visits,
            "values": process.values,
            "beta": problem.beta,
            "interest": problem.interest,
        }
        for name, there in right.items():
            np.testing.assert_allclose(read[name], there, rtol=1e-14, atol=1e-16)


def test_a_written_chain_is_read_by_the_library_to_the_bit(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    transition = rng.dirichlet(np.ones(7), 7)
    tables = {
        "transition": transition.tolist(),
        "discount": rng.random(7).tolist(),
        "features": (rng.normal(size=(7, 3)) * 10.0 ** rng.integers(-20, 20, (7, 3))).tolist(),
        "reward": [1e21, 1.2345678901234568e20, -1e-7, 0.1, 3.0, 1e15, -0.0],
        "covariance": rng.random((7, 3)).tolist(),
        "interest": 0.3,
        "start": [1, 0, 0, 0, 0, 0, 0],
        "beta": rng.random(7).tolist(),
    }
    written = call(browser, "return preftdExplorer.toml.write(given);", tables)
    problem = load(tmp_path, written)
    kept = as_dense(problem.process.discounted_transition)
    assert np.array_equal(as_dense(problem.process.transition), transition)
    assert np.array_equal(kept, transition * tables["discount"])
    assert np.array_equal(problem.process.reward, tables["reward"])
    assert np.array_equal(problem.process.start, tables["start"])
    assert_same_features(problem.features, Features(tables["features"], tables["covariance"]))
    assert np.array_equal(problem.beta, tables["beta"])
    assert (problem.interest == 0.3).all()
    read = call(browser, "return preftdExplorer.toml.read(given);", written)
    for name, table in tables.items():
        assert np.array_equal(np.array(read[name], dtype=np.float64), table)


def test_the_presets_are_the_examples(browser: Any, tmp_path: Path) -> None:
    write = "const { PRESETS, toml } = preftdExplorer; return toml.write(PRESETS[given].tables);"
    for preset, example in PRESETS.items():
        here = load(tmp_path, call(browser, write, preset))
        there = load_problem(EXAMPLES / f"{example}.toml")
        for name in ("discounted_transition", "reward", "start"):
            assert np.array_equal(getattr(here.process, name), getattr(there.process, name))
        assert_same_features(here.features, there.features)
        np.testing.assert_allclose(here.beta, there.beta, rtol=0, atol=1e-15)
