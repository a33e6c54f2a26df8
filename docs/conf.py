"""Sphinx settings."""

import re
from importlib.metadata import version as installed_version

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

project = "Mercer"
author = "The Mercer developers"
copyright = "The Mercer developers"
version = release = installed_version("mercer")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.ipynb"]
default_role = "code"

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
templates_path = ["templates"]
napoleon_use_rtype = False
napoleon_use_ivar = True
html_math_renderer = "mathml"
# Words of parameter types, such as "list of names", match attributes of several classes.
suppress_warnings = ["ref.python"]

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


def _prepare_sections(app, what, name, obj, options, lines):
    """Show indented formulas line by line; end the parameters before an example that follows them."""
    sections = [i for i, line in enumerate(lines) if set(line) == {"-"}] or [len(lines)]
    for i in range(sections[0] - 1, 1, -1):
        text, blank, formula = lines[i - 2 : i + 1]
        if text.strip() and not text.startswith((" ", "..", ">>>")) and not blank.strip() and formula.startswith("  "):
            lines[i:i] = [] if text.endswith("::") else ["::", ""]
    starts = [i for i, line in enumerate(lines) if line.startswith(">>>")]
    if starts and "Parameters" in lines[: starts[0]] and "Examples" not in lines[: starts[0]]:
        lines[starts[0] : starts[0]] = ["Examples", "--------"]


def _escape_formulas(app, what, name, obj, options, lines):
    """Escape ||x|| and n_features_in_, which reStructuredText would take for substitutions and links."""
    inside_literal = False
    for i, line in enumerate(lines):
        inside_literal = inside_literal and (not line.strip() or line.startswith(" "))
        if not inside_literal and not line.lstrip().startswith((">>>", "..", "...")):
            parts = line.split("`")
            lines[i] = "`".join(part if at % 2 else _escaped(part) for at, part in enumerate(parts))
        inside_literal = inside_literal or line.rstrip().endswith("::")


def _escaped(text):
    return re.sub(r"(?<=\w)_(?=[^\w:]|$)", r"\\_", text.replace("|", r"\|"))


def _mathml(display):
    """Render formulas as MathML, which browsers display without scripts or network."""

    def visit(writer, node):
        source = node.astext()
        if display and "\\\\" in source:
            source = rf"\begin{{aligned}}{source}\end{{aligned}}"
        markup = tex2mathml(source, as_block=display)
        writer.body.append(f'<p class="formula">{markup}</p>' if display else markup)
        raise SkipNode

    return visit, None


def setup(app):
    app.add_html_math_renderer("mathml", inline_renderers=_mathml(False), block_renderers=_mathml(True))
    app.connect("autodoc-process-docstring", _prepare_sections, priority=400)  # before napoleon reads the sections
    app.connect("autodoc-process-docstring", _escape_formulas, priority=600)  # after it
