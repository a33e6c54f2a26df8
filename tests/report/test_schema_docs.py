"""The guide documents every key of the schema, in its order and with its type; the sample reports follow the schema."""

from __future__ import annotations

import re
import types
from pathlib import Path
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from mercer.auto.diagnostics import schema
from report.sample_reports import SAMPLES, everything

PAGE = (Path(__file__).parents[2] / "docs/guide/report.rst").read_text(encoding="utf-8")
CLASSES = {name: each for name, each in vars(schema).items() if is_typeddict(each)}
ENTRY = re.compile(r"^- ``(\w+)`` \(``([^`]+)``\): (\S.*)", re.MULTILINE)


def section(name):
    """The part of the page below the heading of a dict."""
    return re.search(rf"^{name}\n~+\n(.*?)(?=^\w+\n~+\n|\Z)", PAGE, re.MULTILINE | re.DOTALL).group(1)


def documented(name):
    text = re.sub(r"\n  (?=\S)", " ", section(name))
    return {key: (kind.replace(" ", ""), meaning) for key, kind, meaning in ENTRY.findall(text)}


def annotation(name, key):
    written = CLASSES[name].__annotations__[key]
    text = written.__forward_arg__ if hasattr(written, "__forward_arg__") else str(written)
    return re.sub(r"^NotRequired\[(.*)\]$", r"\1", text).replace('"', "'").replace(" ", "")


@pytest.mark.parametrize("name", CLASSES)
def test_guide_documents_every_key(name):
    found = documented(name)
    assert list(found) == list(CLASSES[name].__annotations__)
    for key, (kind, meaning) in found.items():
        assert kind == annotation(name, key)
        assert ("may be absent" in meaning) == (key not in required(CLASSES[name]))


def test_guide_documents_nothing_else():
    assert set(re.findall(r"^(\w+)\n~+$", PAGE, re.MULTILINE)) == set(CLASSES)


def required(kind: Any) -> set[str]:
    """The keys that are always there."""
    hints = get_type_hints(kind, include_extras=True)
    return {key for key, each in hints.items() if get_origin(each) is not NotRequired}


def follows(value: Any, kind: Any, path: str) -> None:
    """Check a value against a type of the schema."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return
    if origin is NotRequired:
        follows(value, arguments[0], path)
    elif is_typeddict(kind):
        hints = get_type_hints(kind, include_extras=True)
        assert required(kind) <= set(value) <= set(hints), path
        for key, each in value.items():
            follows(each, hints[key], f"{path}.{key}")
    elif origin in (Union, types.UnionType):
        assert any(_fits(value, one, path) for one in arguments), path
    elif origin is Literal:
        assert value in arguments, path
    elif origin is list:
        assert isinstance(value, list), path
        for i, each in enumerate(value):
            follows(each, arguments[0], f"{path}.{i}")
    elif origin is dict:
        for key, each in value.items():
            follows(each, arguments[1], f"{path}.{key}")
    else:
        assert isinstance(value, (int, float) if kind is float else kind), path


def _fits(value: Any, kind: Any, path: str) -> bool:
    try:
        follows(value, kind, path)
    except (AssertionError, TypeError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("make", [*SAMPLES.values(), everything], ids=lambda make: make.__name__)
def test_sample_reports_follow_the_schema(make):
    follows(make(), schema.Report, "report")
