"""Sphinx settings."""

import re
from importlib.metadata import version as installed_version

project = "Mercer"
author = "The Mercer developers"
copyright = "The Mercer developers"
version = release = installed_version("mercer")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.ipynb"]
default_role = "code"

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
templates_path = ["templates"]
napoleon_use_rtype = False

html_theme = "pydata_sphinx_theme"
html_title = "Mercer"
html_theme_options = {"show_prev_next": False, "navigation_with_keys": False, "secondary_sidebar_items": ["page-toc"]}
html_show_sourcelink = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 60,
}


def _head_examples(app, what, name, obj, options, lines):
    """An example that follows the parameters without a heading is no parameter."""
    starts = [i for i, line in enumerate(lines) if line.startswith(">>>")]
    if starts and "Parameters" in lines[: starts[0]] and "Examples" not in lines[: starts[0]]:
        lines[starts[0] : starts[0]] = ["Examples", "--------"]


def _escape_formulas(app, what, name, obj, options, lines):
    """Docstrings write ||x|| and n_features_in_, which reStructuredText takes for substitutions and links."""
    inside_literal = False
    for i, line in enumerate(lines):
        inside_literal = inside_literal and (not line.strip() or line.startswith(" "))
        if not inside_literal and not line.lstrip().startswith((">>>", "..", "...")):
            parts = line.split("`")
            lines[i] = "`".join(part if at % 2 else _escaped(part) for at, part in enumerate(parts))
        inside_literal = inside_literal or line.rstrip().endswith("::")


def _escaped(text):
    return re.sub(r"(?<=\w)_(?=[^\w:]|$)", r"\\_", text.replace("|", r"\|"))


def setup(app):
    app.connect("autodoc-process-docstring", _head_examples, priority=400)  # before napoleon reads the sections
    app.connect("autodoc-process-docstring", _escape_formulas, priority=600)  # after it
