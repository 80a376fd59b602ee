"""Sphinx builds the site from this folder: `make docs`."""

from typing import Any

from preftd import __version__

project = "preftd"
copyright = "The preftd authors"  # noqa: A001  (Sphinx reads this name)
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "tables"]

html_theme = "furo"
html_title = "preftd"
html_theme_options = {
    "source_repository": "https://github.com/preftd/preftd/",
    "source_branch": "main",
    "source_directory": "docs/",
}

myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 4

default_role = "literal"
autodoc_default_options = {"members": True, "imported-members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say what arguments are
napoleon_google_docstring = False
napoleon_use_param = napoleon_use_rtype = napoleon_use_ivar = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"^(?!.*plot_)",  # scripts
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": (),
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}

_attributes: dict[str, list[str]] = {}


def _keep(_: Any, what: str, name: str, *given: Any) -> None:
    """Keep the docstring of an attribute as it is: what precedes a colon in it is no type."""
    if what in ("attribute", "property"):
        _attributes[name] = list(given[-1])


def _restore(_: Any, __: str, name: str, *given: Any) -> None:
    """Undo what napoleon did to it; fields of tuples without a docstring have none."""
    lines, kept = given[-1], _attributes.pop(name, None)
    if kept is not None:
        lines[:] = [line for line in kept if not line.startswith("Alias for field number")]


def setup(app: Any) -> None:
    """Before and after napoleon, whose priority is 500."""
    app.connect("autodoc-process-docstring", _keep, priority=400)
    app.connect("autodoc-process-docstring", _restore, priority=600)
