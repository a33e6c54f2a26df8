"""Named values: rows of dicts, token lists and tables as pairs of a name and a number.

Strings and numbers are encoded differently: `color: "red"` is the name `color=red` with the value 1, `age: 37` is the
name `age` with the value 37. A token is a name with the value 1. None is an absent entry.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from mercer.stats.counts import is_missing


@dataclass(frozen=True)
class Tokens:
    """Entries of rows: entry k names `names[codes[k]]` with `values[k]`; row i has entries indptr[i] .. indptr[i+1]."""

    names: list[str]
    codes: np.ndarray
    values: np.ndarray
    indptr: np.ndarray

    def weights(self) -> np.ndarray:
        """The sum of absolute values of each name."""
        return np.bincount(self.codes, np.abs(self.values), minlength=len(self.names))


def tokens_of(X: np.ndarray, columns: list[str], start: int = 0) -> Tokens:
    """The entries of a table of numbers or objects with named columns, or of an array of rows (one dimension)."""
    if X.ndim == 1:
        return _tokens_of_rows(X, start)
    if X.dtype.kind == "O":
        return _tokens_of_objects(X, columns, start)
    codes = np.broadcast_to(np.arange(X.shape[1]), X.shape)
    return _of_present(list(columns), codes, X, X != 0)


def _tokens_of_rows(rows: Any, start: int) -> Tokens:
    index_of: dict[str, int] = {}
    codes, values, ends = array("q"), array("d"), [0]
    for i, row in enumerate(rows):
        if type(row) in (list, tuple) and set(map(type, row)) == {str}:  # most rows of text are plain tokens
            codes.fromlist([index_of.setdefault(name, len(index_of)) for name in row])
            values.fromlist([1.0] * len(row))
        else:
            for name, value in row_entries(row, start + i):
                codes.append(index_of.setdefault(name, len(index_of)))
                values.append(value)
        ends.append(len(codes))
    return Tokens(list(index_of), np.array(codes), np.array(values), np.array(ends, np.int64))


def row_entries(row: int, where: Any) -> Iterable[tuple[str, float]]:
    """(name, number) of each entry of one row."""
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        raise ValueError(
            f"Row {where} is {row!r}: a row must be a dict of names and values, a list of tokens or of (token, value) "
            "pairs. Split a text into tokens first."
        )
    items = row.items() if isinstance(row, Mapping) else (_pair(item, where) for item in row)
    named = (_named(name, value, where) for name, value in items if not _is_absent(value))
    return (entry for entry in named if entry[1] != 0)


def cell_entries(names: Any, cells: Any, where: Any) -> Iterable[tuple[str, float]]:
    """(name, number) of each cell of one row of a table of objects, in which NaN is how a missing string is stored."""
    named = (_named(name, value, where) for name, value in zip(names, cells, strict=True) if not is_missing(value))
    return (entry for entry in named if entry[1] != 0)


def _pair(item: Any, where: Any) -> Any:
    if isinstance(item, str):
        return item, 1.0
    if isinstance(item, tuple | list) and len(item) == 2:
        return item
    raise TypeError(f"Row {where} holds {item!r}: a token must be a string or a (string, value) pair.")


def _named(name: str, value: Any, where: Any) -> tuple[str, float]:
    if type(name) is str and type(value) is float and isfinite(value):  # the common case first
        return name, value
    if not isinstance(name, str):
        raise TypeError(f"Row {where} names an entry {name!r}: names and tokens must be strings.")
    if isinstance(value, str):
        return f"{name}={value}", 1.0
    if not isinstance(value, Real | np.bool_):
        raise TypeError(
            f"Row {where} has a {type(value).__name__} under {name!r}: argument must be a string or a real number."
        )
    if not isfinite(value):
        kind = "NaN" if value != value else "infinity"
        raise ValueError(f"Row {where} contains {kind} under {name!r}. Leave the entry out, or replace it.")
    return name, float(value)


def _is_absent(value: Any) -> bool:
    """None and pandas' NA and NaT; a float NaN under a name is a mistake, not an absence."""
    return type(value) not in (float, int, str) and not isinstance(value, Real) and is_missing(value)


def _tokens_of_objects(X: np.ndarray, columns: list[str], start: int) -> Tokens:
    """Column by column, each distinct string once."""
    index_of: dict[str, int] = {}
    codes, values = np.zeros(X.shape, np.intp), np.zeros(X.shape)
    for j, column in enumerate(columns):
        known: dict[str, int] = {}  # strings of this column
        for i, value in enumerate(X[:, j].tolist()):
            if isinstance(value, str):
                if value not in known:
                    known[value] = index_of.setdefault(f"{column}={value}", len(index_of))
                codes[i, j], values[i, j] = known[value], 1.0
            elif not is_missing(value):  # in a column of objects NaN is how a missing string is stored
                name, values[i, j] = _named(column, value, start + i)
                codes[i, j] = index_of.setdefault(name, len(index_of))
    return _of_present(list(index_of), codes, values, values != 0)


def _of_present(names: list[str], codes: np.ndarray, values: np.ndarray, present: np.ndarray) -> Tokens:
    indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int64)
    return Tokens(names, codes[present], values[present], indptr)


def as_rows(X: Any) -> np.ndarray:
    """A sequence of dicts or lists as a one-dimensional array of them."""
    rows = list(X)
    kept = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        kept[i] = row
    return kept


def is_table(X: Any) -> bool:
    """Whether X is a frame, an array or nested lists of numbers rather than a sequence of dicts or tokens."""
    if hasattr(X, "columns") or hasattr(X, "tocsr"):
        return True
    if hasattr(X, "dtype") and hasattr(X, "ndim"):
        return X.ndim != 1 or X.dtype.kind != "O"
    if not isinstance(X, list | tuple):
        return not isinstance(X, Iterable) or hasattr(X, "__array__")
    if not all(isinstance(row, list | tuple | np.ndarray) for row in X):
        return all(isinstance(row, Real) for row in X)  # one row of numbers: refused as such
    return any(isinstance(entry, Real) for entry in next((row for row in X if len(row)), ()))
