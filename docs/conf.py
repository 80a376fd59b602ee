"""Sphinx builds the site from this folder: `make docs`."""

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
exclude_patterns = ["_build", "gallery/*.ipynb"]

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
suppress_warnings = ["ref.python"]  # a word before a colon is taken for a type, of many meanings
autodoc_default_options = {"members": True, "imported-members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say what arguments are
napoleon_google_docstring = False
napoleon_use_param = napoleon_use_rtype = napoleon_use_ivar = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(study|off_policy)\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}
