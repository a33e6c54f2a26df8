"""Check of plain values against the `TypedDict`s of the schema."""

import types
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict


def conforms(value, kind, where="value"):
    """The first difference of a value from a type of the schema, as text; None if there is none.

    Numbers must be finite. Keys that the type does not have, and missing ones that it requires, are differences.
    """
    origin = get_origin(kind)
    if kind is Any:
        return None if plain(value) else f"{where} is not made of plain values: {value!r}"
    if is_typeddict(kind):
        return _typed_dict(value, kind, where)
    if origin is NotRequired:
        return conforms(value, get_args(kind)[0], where)
    if origin is Literal:
        return None if value in get_args(kind) else f"{where} is {value!r}, none of {get_args(kind)}"
    if origin in (Union, types.UnionType):
        found = [conforms(value, each, where) for each in get_args(kind)]
        return None if None in found else found[0]
    if origin in (list, dict) and type(value) is not origin:
        return f"{where} is no {origin.__name__} but {value!r}"
    if origin is list:
        return _first(conforms(each, get_args(kind)[0], f"{where}[{k}]") for k, each in enumerate(value))
    if origin is dict:
        return _first(conforms(each, get_args(kind)[1], f"{where}[{k!r}]") for k, each in value.items())
    return _single(value, kind, where)


def plain(value):
    """True for dicts, lists, strings, booleans, None and finite numbers."""
    if isinstance(value, dict):
        return all(type(key) is str and plain(each) for key, each in value.items())
    if type(value) is list:
        return all(plain(each) for each in value)
    if type(value) is float:
        return abs(value) < float("inf")
    return value is None or type(value) in (str, bool, int)


def _typed_dict(value, kind, where):
    if type(value) is not dict:
        return f"{where} is no dict but {value!r}"
    hints = get_type_hints(kind, include_extras=True)
    required = {name for name, hint in hints.items() if get_origin(hint) is not NotRequired}
    if not required <= value.keys():
        return f"{where} lacks {sorted(required - value.keys())}"
    if not value.keys() <= hints.keys():
        return f"{where} has unknown keys {sorted(value.keys() - hints.keys())}"
    return _first(conforms(each, hints[name], f"{where}.{name}") for name, each in value.items())


def _single(value, kind, where):
    if kind in (None, type(None)):
        return None if value is None else f"{where} is {value!r}, not None"
    if kind is str:  # a `Message` is one
        return None if isinstance(value, str) else f"{where} is {value!r}, no str"
    right = plain(value) and type(value) in ((int, float) if kind is float else (kind,))
    return None if right else f"{where} is {value!r}, no {kind.__name__}"


def _first(found):
    return next((each for each in found if each is not None), None)
