"""The status of a folder whose manifests anybody may have changed."""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from preftd._src.experiments.manifest import Manifest
from preftd._src.report import tables
from preftd._src.terminal import printable

ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 1e308, float("nan"), 10**400, "", "x", "\x1b]0;title\x07", "a\nb"),
    *("\u202e", "\ud800", "m" * 999, [], [[]], {}, {"host": 1}, {"process": 10**30}, [None]),
)


def mutated(manifest: dict[str, Any], chance: random.Random) -> bytes:
    """Fields replaced, left out or buried deeply; or bytes changed or cut off."""
    fields = dict(manifest)
    for _ in range(chance.randint(0, 2)):
        name = chance.choice([*fields, "odd"])
        if chance.random() < 0.2:
            fields.pop(name, None)
        elif name == "machine" and chance.random() < 0.7:
            fields[name] = {**manifest["machine"], "process": chance.choice(ODD)}
        else:
            fields[name] = chance.choice(ODD)
    text = bytearray(json.dumps(fields).encode())
    kind = chance.random()
    if kind < 0.3:
        for _ in range(chance.randint(1, 4)):
            text[chance.randrange(len(text))] = chance.randrange(256)
    elif kind < 0.4:
        del text[chance.randrange(len(text)) :]
    elif kind < 0.45:
        depth = chance.choice((10, 100_000))
        text = bytearray(b'{"study": ' + b"[" * depth + b"]" * depth + b"}")
    return bytes(text)


@pytest.mark.parametrize("count", [300, pytest.param(5000, marks=pytest.mark.slow)])
def test_every_manifest_is_a_line(
    count: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    chance = random.Random(count)  # noqa: S311  (no secret)
    monkeypatch.setattr(tables, "RUNS", count)
    whole = Manifest.begin("mine", tmp_path).write(tmp_path / "runs")
    manifest = json.loads(whole.read_text())
    whole.unlink()
    for number in range(count):
        (tmp_path / "runs" / f"{number:06}.json").write_bytes(mutated(manifest, chance))
    head, *lines = map(printable, tables.status_lines(tmp_path, []))
    assert head == f"{tmp_path}: 0 cells in 0 files"
    assert len(lines) == count
    refused = sum("cannot be read: " in line for line in lines)
    for line in lines:
        assert line.isprintable()
        assert len(line) < 300
    with capsys.disabled():
        print(f"\n{count} manifests, {refused} of them cannot be read")
    assert count // 4 < refused < count


def test_a_file_with_a_name_that_steers_the_terminal_is_shown_with_escapes(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / os.fsdecode(b"\x1b[2J\xff.json")).write_text("{}")
    (line,) = list(tables.status_lines(tmp_path, []))[1:]
    assert printable(line) == r"  \x1b[2J\udcff.json cannot be read: it has no study."
