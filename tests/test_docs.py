"""The documentation: examples print what they say, and the modules and names that it mentions exist."""

import doctest
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import mercer

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [*sorted(DOCS.glob("*.rst")), *sorted((DOCS / "guide").glob("*.rst"))]


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
