"""The source tree: unique class names, small folders, short functions, annotations, the table of folders."""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from pathlib import Path

import pytest

import mercer

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "mercer"
MODULES = sorted(SOURCE.rglob("*.py"))
MAX_FILES, MAX_LINES = 20, 40


def nodes(*kinds):
    """(path from the root, node) of all syntax nodes of these kinds in the package."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kinds):
                yield path.relative_to(ROOT).as_posix(), node


def folders():
    """Every folder of code and data of the package and of the compiled core, as a path from the root."""
    below = [path for top in (SOURCE, ROOT / "native") for path in top.rglob("*") if path.is_dir()]
    found = [path for path in below if path.name != "__pycache__" and any(each.is_file() for each in path.iterdir())]
    return sorted(path.relative_to(ROOT).as_posix() for path in [*found, ROOT / "native"])


def test_class_names_are_unique():
    found = defaultdict(list)
    for path, node in nodes(ast.ClassDef):
        if not node.name.startswith("_"):
            found[node.name].append(path)
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_no_folder_is_crowded():
    counts = defaultdict(int)
    for path in [*MODULES, *(ROOT / "native").rglob("*.cpp"), *(ROOT / "native").rglob("*.h")]:
        counts[path.parent.relative_to(ROOT).as_posix()] += path.name != "__init__.py"
    assert {folder: n for folder, n in counts.items() if n > MAX_FILES} == {}


def test_functions_are_short():
    long = []
    for path, node in nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        body = node.body[1:] if ast.get_docstring(node) else node.body
        if body and body[-1].end_lineno - body[0].lineno >= MAX_LINES:
            long.append(f"{path}:{node.lineno} {node.name}")
    assert long == []


def listed_folders():
    """The folders of the table in CONTRIBUTING.md: the first cell of a row, and its sub-folders named in the second."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| `")]
    for first, second in rows:
        (folder,) = re.findall(r"`([\w/.]+)`", first)
        if folder.endswith("/"):
            yield folder.rstrip("/")
            yield from (folder + name for name in re.findall(r"`(\w+)/`", second))
        else:
            assert (ROOT / folder).is_file(), folder


def test_contributing_lists_every_folder_once():
    assert sorted(listed_folders()) == folders()


def test_contributing_names_files_that_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:src|tests|docs|native)/[\w/.]+)`", text)) - {"src/mercer/auto/search/quantiles.py"}
    named |= {f"src/mercer/{name}" for name in re.findall(r"`(?:mercer/)?((?:_\w+|io|kernels)/[\w/]+\.py)`", text)}
    assert len(named) > 20
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def public_callables(name):
    """(label, function) of a public function, or of the public methods and the constructor of a public class."""
    thing = getattr(mercer, name)
    if inspect.isfunction(thing):
        yield name, thing
    if not inspect.isclass(thing):
        return
    for kind in thing.__mro__:
        if not kind.__module__.startswith("mercer."):
            continue
        for attribute, value in vars(kind).items():
            if attribute.startswith("_") and attribute not in ("__init__", "__call__"):
                continue
            function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if inspect.isfunction(function) and function.__module__.startswith("mercer."):
                yield f"{kind.__name__}.{attribute}", function


def missing_annotations(function):
    signature = inspect.signature(function)
    missing = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.annotation is inspect.Parameter.empty and parameter.name not in ("self", "cls")
    ]
    returns = function.__name__ == "__init__" or signature.return_annotation is not inspect.Signature.empty
    return missing + ([] if returns else ["return"])


CALLABLES = dict(pair for name in mercer._HOMES for pair in public_callables(name))
HOMES = sorted({function.__module__.split(".")[1] for function in CALLABLES.values()})


@pytest.mark.parametrize("home", HOMES)
def test_public_functions_are_annotated(home):
    here = {label: each for label, each in CALLABLES.items() if each.__module__.split(".")[1] == home}
    found = {label: missing_annotations(function) for label, function in here.items()}
    assert {label: missing for label, missing in found.items() if missing} == {}
