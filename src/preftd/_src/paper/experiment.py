"""An experiment of the paper: a folder, whose words are in TOML files.

`figures.toml` has the texts of its figures and findings, `claims.toml` the claims. This
module and those that only use it import nothing else, so that `preftd list` answers at once.
"""

import re
import tomllib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Self, final

SAID = {
    "SEARCH": "Error with every step size that was tried. A ring marks the best one, which the "
    "other figures use; crosses above a panel mark step sizes at which runs diverged.",
    "THREE_VIEWS": "The same methods in three views: online and true online move weights at every "
    "step, held only when an observable state is reached. Lower is better.",
}
"""Texts of several experiments, by name."""


def read_words(folder: str, name: str) -> dict[str, Any]:
    """A file of words: {NAME} is what its table `said` says, and a line break is a space."""
    path = Path(__file__).parent / folder / f"{name}.toml"
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    said = SAID | found.pop("said", {})

    def filled(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: filled(inner) for key, inner in part.items()}
        if isinstance(part, list):
            return tuple(map(filled, part))
        if not isinstance(part, str):
            return part
        whole = re.sub(r"{([A-Z_]+)}", lambda named: said[named[1]].strip(), part)
        return re.sub(r"\s*\n\s*", " ", whole.strip())

    return {key: filled(part) for key, part in found.items()}


class FigureWords(NamedTuple):
    """The texts of a figure.

    name     the name that users type
    title    what it shows
    setting  the experiment, in a line
    caption  what is seen
    """

    name: str
    title: str
    setting: str
    caption: str


class PaperFinding(NamedTuple):
    """A finding of the paper.

    says    what the paper found, in words
    why     what explains it, in a line
    claims  the names of its claims
    figure  the figure that shows it best
    panel   which panel of the figure, from 0
    """

    says: str
    why: str
    claims: tuple[str, ...]
    figure: str
    panel: int = 0


@final
@dataclass(frozen=True)
class Experiment:
    """A folder with all that belongs to some figures.

    package   its name
    figures   its figures in words, in the order of the list
    findings  the paper's findings on it in words

    Its other modules are loaded on first use:

    studies   those that say what is run, each with STUDIES
    drawings  those that say what is drawn of the results, each with FIGURES
    claims    those that say what is claimed of the results, each with CLAIMS
    """

    package: str
    figures: tuple[FigureWords, ...]
    findings: tuple[PaperFinding, ...] = ()
    studies: tuple[str, ...] = ("studies",)
    drawings: tuple[str, ...] = ("figures",)
    claims: tuple[str, ...] = ("claims",)

    @classmethod
    def of(cls, folder: str, **modules: tuple[str, ...]) -> Self:
        """The experiment of a folder, given those of its modules that are not the usual ones."""
        words = read_words(folder, "figures")
        figures = (FigureWords(name, **said) for name, said in words["figures"].items())
        findings = (PaperFinding(**said) for said in words.get("findings", ()))
        return cls(f"{__package__}.{folder}", tuple(figures), tuple(findings), **modules)

    def members(self, modules: tuple[str, ...], table: str) -> list[Any]:
        """All members of a table of some modules, such as the CLAIMS of "claims"."""
        loaded = (import_module(f"{self.package}.{module}") for module in modules)
        return [member for module in loaded for member in getattr(module, table)]


def shown(setting: str, **figures: tuple[str, str]) -> tuple[FigureWords, ...]:
    """Figures of one setting, given their titles and captions by name."""
    return tuple(FigureWords(name, title, setting, said) for name, (title, said) in figures.items())
