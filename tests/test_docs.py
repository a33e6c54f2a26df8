"""The documentation: examples print what they say, and what it mentions, links to and shows exists."""

import doctest
import inspect
import re
import runpy
import shlex
import textwrap
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import mercer
from estimates import LONG
from mercer.cli import _run, cli

ROOT = Path(__file__).parents[1]
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
PAGES = [*sorted(DOCS.glob("*.rst")), *sorted((DOCS / "guide").glob("*.rst"))]
#: Examples that take long: `make docs` and the long form of the tests run them.
SLOW = ("plot_network_features",)


def module(path):
    """A module of docs/, which is not a package."""
    spec = spec_from_file_location(path.stem, path)
    found = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_print_what_they_say(page):
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_every_module_on_the_map_exists():
    text = (DOCS / "internals.rst").read_text(encoding="utf-8")
    packages = "|".join(path.parent.name for path in Path(mercer.__file__).parent.glob("*/__init__.py"))
    named = re.findall(rf"(?<!`)`((?:{packages})(?:\.\w+)*)`(?!`)", text)
    assert len(set(named)) > 50
    assert sorted({name for name in named if find_spec(f"mercer.{name}") is None}) == []


def test_every_page_is_in_the_table_of_contents():
    index = (DOCS / "index.rst").read_text(encoding="utf-8")
    built = {"sg_execution_times"}  # left by a build of the gallery
    pages = {page.stem for page in DOCS.glob("*.rst")} - {"index"} - built
    assert pages <= set(index.split())


def listed_names():
    """The names of docs/api.rst by subpackage."""
    listed, home = {}, ""
    for line in (DOCS / "api.rst").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: mercer."):
            home = line.rpartition(".")[2]
        elif re.fullmatch(r"   \w+", line):
            listed.setdefault(home, []).append(line.strip())
    return listed


@pytest.mark.parametrize("package", mercer._PUBLIC)
def test_reference_lists_every_public_name_once(package):
    listed = listed_names()[package]
    public = [name for name in mercer._PUBLIC[package].split() if callable(getattr(mercer, name))]
    assert sorted(listed) == sorted(public)


#: Results that functions return, base classes and sources that `read` makes: the examples of those show them.
SHOWN_ELSEWHERE = {
    "Accumulator",
    "Certificate",
    "Changes",
    "Collisions",
    "ColumnBlock",
    "Comparison",
    "DataComparison",
    "DelayedSource",
    "Dialect",
    "DistanceCertificate",
    "Engine",
    "EngineError",
    "ExecutorEngine",
    "Explanation",
    "Explanations",
    "HashingRisk",
    "Kernel",
    "KernelCertificate",
    "KernelParameter",
    "LiftSearch",
    "LiftTrial",
    "MercerReport",
    "Model",
    "NotMercerWarning",
    "ParquetSource",
    "Role",
    "Source",
    "Stationary",
    "Statistic",
    "TableSource",
}


@pytest.mark.parametrize("package", mercer._PUBLIC)
def test_every_public_name_has_a_runnable_example(package):
    public = [name for name in mercer._PUBLIC[package].split() if callable(getattr(mercer, name))]
    assert all(getattr(mercer, name).__doc__ for name in public)
    bare = {name for name in public if ">>> " not in getattr(mercer, name).__doc__}
    assert bare == SHOWN_ELSEWHERE & set(public)


#: Bases and helpers, which nobody chooses between, and kernels by operators that have no alternative.
NOT_CHOSEN = {"Kernel", "KernelParameter", "MercerReport", "Stationary"}
GUIDANCE = re.compile(r"\b(Use (it|them)|[Pp]refer|[Mm]ade for|[Rr]ather than|instead of)\b")


def chosen_names():
    """Public estimators and kernels: what a reader chooses between."""
    for package, names in mercer._PUBLIC.items():
        for name in names.split():
            found = getattr(mercer, name)
            kernel = package == "kernels" and isinstance(found, type) and issubclass(found, mercer.Kernel)
            if isinstance(found, type) and (hasattr(found, "fit") or kernel) and name not in NOT_CHOSEN:
                yield name


@pytest.mark.parametrize("name", sorted(chosen_names()))
def test_docstrings_of_estimators_and_kernels_are_complete(name):
    """A statement, when to use it, parameters if there are any, and an example."""
    found = getattr(mercer, name)
    text = re.sub(r"\s+", " ", found.__doc__)
    assert GUIDANCE.search(text), "say when to use it, and when something else"
    assert ">>> " in text
    parameters = inspect.signature(found).parameters
    parts = {"kernel", "left", "right", "A", "scale", "columns", "value"}  # what operators and methods pass
    undocumented = [each for each in parameters if each not in parts and not re.search(rf"\b{each}\b", text)]
    assert undocumented == []


#: Base classes and what others return or raise.
NOT_MADE = {"Accumulator", "Columns", "Engine", "EngineError", "Source", "Statistic"}


def called_names():
    """Public functions, statistics and sources of rows."""
    for package, names in mercer._PUBLIC.items():
        for name in names.split():
            found = getattr(mercer, name)
            made = package in {"stats", "source"} and name not in NOT_MADE
            if callable(found) and (made or not isinstance(found, type)):
                yield name


@pytest.mark.parametrize("name", sorted(called_names()))
def test_docstrings_of_functions_and_statistics_say_when_to_use_them(name):
    assert GUIDANCE.search(re.sub(r"\s+", " ", getattr(mercer, name).__doc__)), "say when to use it, and when not"


def test_links_between_pages_and_pictures_exist():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r":doc:`(?:[^`<]*<)?/?([\w/.]+)>?`", text):
            place = (DOCS if "`/" in text and f"`/{target}" in text else page.parent) / f"{target}.rst"
            assert place.exists() or target.startswith("gallery/") or (page.parent / f"{target}.rst").exists(), (
                page,
                target,
            )
        for picture in re.findall(r"^ *\.\. (?:image|figure):: (\S+)", text, flags=re.MULTILINE):
            if "gallery/" in picture:  # made by the build from examples/
                folder, example = re.search(r"gallery/(\w+)/images/sphx_glr_(\w+)_\d+\.png", picture).groups()
                assert (EXAMPLES / folder / f"{example}.py").exists(), (page, picture)
            else:
                assert (page.parent / picture).exists(), (page, picture)
        for folder, example in re.findall(r"sphx_glr_gallery_(\w+?)_(plot_\w+)\.py", text):
            assert (EXAMPLES / folder / f"{example}.py").exists(), (page, example)


def test_every_page_of_the_guide_has_a_picture():
    pages = set((DOCS / "guide").glob("*.rst")) - {DOCS / "guide" / "index.rst"}
    bare = [page.stem for page in pages if not re.search(r"\.\. (image|figure):: ", page.read_text(encoding="utf-8"))]
    assert bare == []


def test_gallery_lists_every_example_once():
    listed = module(DOCS / "_sections.py").GALLERY
    found = {path.name: sorted(each.stem for each in path.glob("*.py")) for path in EXAMPLES.iterdir() if path.is_dir()}
    assert {folder: sorted(names) for folder, names in listed.items()} == found


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/plot_*.py")), ids=lambda path: path.stem)
def test_examples_run_and_draw(path, monkeypatch):
    if path.stem in SLOW and not LONG:
        return
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)
    try:
        runpy.run_path(str(path), run_name="__main__")
        assert plt.get_fignums()
    finally:
        plt.close("all")


def code_blocks(text, language):
    """Blocks of code of a page in Markdown or reStructuredText."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    blocks += re.findall(rf"^ *\.\. code-block:: {language}\n\n((?: +.*\n|\n)+)", text, flags=re.MULTILINE)
    return [textwrap.dedent(block) for block in blocks]


def commands(text):
    """All `mercer ...` lines in blocks of shell code."""
    lines = "\n".join(code_blocks(text, "sh")).splitlines()
    return [line.strip() for line in lines if line.strip().startswith("mercer ")]


def test_the_tour_can_be_followed(tmp_path, monkeypatch):
    text = (DOCS / "start.rst").read_text(encoding="utf-8").partition("A table to follow along")[2]
    monkeypatch.chdir(tmp_path)
    exec(code_blocks(text, "python")[0], {})
    for line in commands(text):
        assert _run(shlex.split(line, comments=True)[1:]) == 0, line
    assert {path.name for path in tmp_path.iterdir()} >= {"houses.mercer", "houses.report.html", "prices.csv"}


def test_commands_of_the_documentation_exist_with_their_options():
    pages = [ROOT / "README.md", *PAGES]
    found = [(page.name, line) for page in pages for line in commands(page.read_text(encoding="utf-8"))]
    assert len(found) > 20
    for page, line in found:
        words = shlex.split(line, comments=True)
        words = words[1 : words.index("|")] if "|" in words else words[1:]
        if not words or words[0].startswith("-"):
            continue
        assert words[0] in cli.commands, (page, line)
        known = {
            option
            for parameter in cli.commands[words[0]].params
            for option in (*parameter.opts, *parameter.secondary_opts)
        }
        for word in words[1:]:
            if word.startswith("-") and word != "-" and not re.match(r"-\d", word):
                assert word.partition("=")[0] in known | {"--help"}, (page, line)


HTML = """<html><head><link rel="stylesheet" href="{style}"></head>
<body id="top"><img src="{image}"><a href="other.html#there">x</a><a href="#top">y</a><a href="https://example.org">z</a></body></html>"""


def test_checks_of_built_pages_find_remote_addresses_and_broken_links(tmp_path):
    checks = module(DOCS / "_checks.py")
    (tmp_path / "style.css").write_text("@font-face { src: url('font.woff') }")
    (tmp_path / "picture.png").touch()
    (tmp_path / "page.html").write_text(HTML.format(style="style.css", image="picture.png"))
    (tmp_path / "other.html").write_text('<p id="there">text</p>')
    assert [*checks.remote_loads(tmp_path), *checks.broken_links(tmp_path)] == []
    (tmp_path / "page.html").write_text(HTML.format(style="https://cdn.example/a.css", image="lost.png"))
    (tmp_path / "other.html").write_text("<p>text</p>")
    (tmp_path / "style.css").write_text("@font-face { src: url('//cdn.example/font.woff') }")
    assert len(list(checks.remote_loads(tmp_path))) == 2
    assert len(list(checks.broken_links(tmp_path))) == 2
