"""What a release says of itself is the same everywhere."""

import re
from pathlib import Path

import preftd

ROOT = Path(__file__).parents[1]


def test_the_version_is_the_same_in_all_places() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == preftd.__version__  # type: ignore[index]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## ([\d.]+)", changes, re.MULTILINE)
    assert versions[0] == preftd.__version__


def test_a_citation_names_what_is_cited() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for needed in (
        "cff-version: 1.2.0",
        "message:",
        "title:",
        "authors:",
        "license: MIT",
        "anand21a",
    ):
        assert needed in citation
