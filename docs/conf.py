"""Sphinx settings. Pages need no network: formulas are MathML with a font that the build copies, search is local."""

import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

import ziamath
from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml
from fontTools import subset

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from _sections import GALLERY  # noqa: E402

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
# Pages of execution times load scripts from the network.
exclude_patterns = ["_build", "gallery/**/*.ipynb", "sg_execution_times.rst", "gallery/**/sg_execution_times.rst"]
default_role = "code"

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
templates_path = ["templates"]
napoleon_use_rtype = False
html_math_renderer = "mathml"
# Words of parameter types, such as "list of names", match attributes of several classes.
suppress_warnings = ["ref.python"]

html_theme = "pydata_sphinx_theme"
html_title = "Mercer"
html_static_path = ["_static"]
html_css_files = ["mercer.css"]
# Pages opened as files cannot read each other: the search then lists titles without excerpts.
_NO_EXCERPTS = 'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;'
html_js_files = [(None, {"body": _NO_EXCERPTS})]
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}  # light or dark, as the browser asks
# Pages without pages below them have nothing to show beside the text.
_SINGLE = ("index", "install", "start", "from_sklearn", "internals", "extending", "corrections", "policy")
html_sidebars = {page: [] for page in _SINGLE}
html_show_sourcelink = False
toc_object_entries_show_parents = "hide"
html_copy_source = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 60,
    "ignore_repr_types": r"matplotlib",  # <matplotlib.legend.Legend object at ...> teaches nobody
    "write_computation_times": False,  # its page would load scripts from the network
    "subsection_order": [f"../examples/{name}" for name in GALLERY],
    "within_subsection_order": "_sections.in_order",
}

_CODE = re.compile(r"(``.*?``|`[^`]*`)")
_SECTION = re.compile(r"(Parameters|Attributes|Other Parameters)$")
#: Bars of norms and absolute values, which browsers would take for fences that open and never close.
_BARS = re.compile(r'<mo(?: stretchy="false")?>([|‖∥])</mo>')
#: Where names of functions need a thin space: between a factor and a name, and between a name and what is no bracket.
_NAME = r"<mi>(?:log|ln|exp|sin|cos)</mi>"
_BEFORE_NAME = re.compile(rf"(</m(?:i|n|frac|sub|sup)>)(?={_NAME}|<msub>{_NAME})")
_AFTER_NAME = re.compile(rf"(<mo>&ApplyFunction;</mo>|<msub>{_NAME}<mn>\d</mn></msub>)(?!<mo)")
_THIN = '<mspace width="0.17em"></mspace>'
#: Arguments without braces, in which docutils takes digits together.
_BARE = re.compile(r"\\[td]?(?:frac|binom)\s*[^{\s]")
#: An accent with an index: docutils puts the index under the letter.
_ACCENT = re.compile(
    r"<munderover>\s*(<mi>[^<]*</mi>)\s*(<m.*?>)\s*(<mo stretchy=\"false\">[ˉˆ˜~˙¨→]</mo>)\s*</munderover>", re.DOTALL
)
_ENDS = re.compile(r"-+$|\.\. rubric::")
_ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : (?P<kind>.+))?$")


def _prepare_sections(app, what, name, obj, options, lines):
    """Show parameters and attributes as definition lists and indented formulas line by line.

    Napoleon would read the underscore at the end of ``classes_`` as a link, and "the labels in sorted order" as a type.
    """
    if what in ("attribute", "property"):
        lines[:0] = ["..", ""]  # an empty comment, or napoleon takes the words before a colon for a type
    sections = [i for i, line in enumerate(lines) if set(line) == {"-"}] or [len(lines)]
    for i in range(sections[0] - 1, 1, -1):
        text, blank, formula = lines[i - 2 : i + 1]
        if text.strip() and not text.startswith((" ", "..", ">>>")) and not blank.strip() and formula.startswith("  "):
            lines[i:i] = [] if text.endswith("::") else ["::", ""]
    starts = [i for i, line in enumerate(lines) if line.startswith(">>>")]
    if starts and "Parameters" in lines[: starts[0]] and "Examples" not in lines[: starts[0]]:
        lines[starts[0] : starts[0]] = ["Examples", "--------"]
    for i in reversed(range(len(lines) - 1)):
        if _SECTION.match(lines[i]) and set(lines[i + 1]) == {"-"}:
            ends = (j - (set(lines[j]) == {"-"}) for j in range(i + 2, len(lines)) if _ENDS.match(lines[j]))
            end = next(ends, len(lines))
            lines[i:end] = [f".. rubric:: {lines[i]}", "", *_definitions(lines[i + 2 : end], name), ""]


def _definitions(entries, name):
    """A definition list of the entries of a numpydoc section."""
    found = []
    for at, line in enumerate(entries):
        if not line.strip() or line.startswith(" "):
            found.append(line)
            continue
        entry = _ENTRY.match(line)
        if entry is None:
            raise ValueError(f"{name}: {line!r} is no 'name : type' of its section; indent it or move it")
        names = ", ".join(f"``{each}``" for each in entry["names"].split(", "))
        described = at + 1 < len(entries) and entries[at + 1].startswith(" ")
        kind = entry["kind"]
        if described:
            found.append(names + (f" : {kind}" if kind else ""))
        else:
            found += [names, f"    {kind or 'See the description above.'}"]
    return found


def _escape_formulas(app, what, name, obj, options, lines):
    """Escape ||x|| and n_features_in_, which reStructuredText would take for substitutions and links."""
    inside_literal = False
    for i, line in enumerate(lines):
        inside_literal = inside_literal and (not line.strip() or line.startswith(" "))
        if not inside_literal and not line.lstrip().startswith((">>>", "..", "...")):
            parts = _CODE.split(line)
            lines[i] = "".join(part if at % 2 else _escaped(part) for at, part in enumerate(parts))
        inside_literal = inside_literal or line.rstrip().endswith("::")


def _escaped(text):
    return re.sub(r"(?<=\w)_(?=[^\w:]|$)", r"\\_", text.replace("|", r"\|"))


def _mathml(display):
    """Render formulas as MathML, which browsers display without scripts or network."""

    def visit(writer, node):
        source = node.astext()
        if _BARE.search(source):
            raise ValueError(f"{source!r}: docutils reads the 12 of \\frac12 as one number; write \\frac{{1}}{{2}}")
        if display and "\\\\" in source:
            source = rf"\begin{{aligned}}{source}\end{{aligned}}"
        markup = re.sub(r">\s+<", "><", tex2mathml(source, as_block=display))
        markup = _ACCENT.sub(r'<msub><mover accent="true">\1\3</mover>\2</msub>', markup)
        markup = _BARS.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', markup)
        markup = _AFTER_NAME.sub(rf"\1{_THIN}", _BEFORE_NAME.sub(rf"\1{_THIN}", markup))
        writer.body.append(f'<p class="formula">{markup}</p>' if display else markup)
        raise SkipNode

    return visit, None


def _write_math_font(app, error):
    """Copy the letters of STIX Two Math (SIL Open Font License) that formulas need: parentheses grow only with it."""
    if error is not None or app.builder.format != "html":
        return
    source = Path(ziamath.__file__).parent / "fonts" / "STIXTwoMath-Regular.ttf"
    options = subset.Options(layout_features=["*"], flavor="woff", notdef_outline=True)
    font = subset.load_font(str(source), options)
    ranges = ((0x20, 0x17F), (0x2B0, 0x3FF), (0x2000, 0x2BFF), (0x1D400, 0x1D7FF))
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for low, high in ranges for code in range(low, high + 1)])
    subsetter.subset(font)
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    subset.save_font(font, str(folder / "stix-two-math.woff"), options)


def setup(app):
    app.add_html_math_renderer("mathml", inline_renderers=_mathml(False), block_renderers=_mathml(True))
    app.connect("autodoc-process-docstring", _prepare_sections, priority=400)  # before napoleon reads the sections
    app.connect("autodoc-process-docstring", _escape_formulas, priority=600)  # after it
    app.connect("build-finished", _write_math_font)
