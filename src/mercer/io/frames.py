"""Data frames of any library, through narwhals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from mercer._runtime.errors import DataError
from mercer.io.columns import choose_features, refuse_text, require_column
from mercer.source import MemorySource


def frame_source(frame: nw.DataFrame, target: Any, weight: Any, columns: Iterable[str] | None) -> MemorySource:
    """The numeric columns of a frame as one array in memory, with target and weight."""
    where = "The frame"
    if len(frame) == 0:
        raise DataError(f"{where} has no rows: there is nothing to learn from.")
    frame = frame.rename({name: str(name) for name in frame.columns if not isinstance(name, str)})
    named = [name for name in (target, weight) if isinstance(name, str)]
    for name, what in ((target, "target"), (weight, "weight")):
        if isinstance(name, str):
            require_column(name, frame.columns, what, where)
    features = choose_features(frame.columns, named, columns, where)
    schema = frame.schema
    refuse_text({name: str(schema[name]) for name in features if not _is_number(schema[name])}, where)
    return MemorySource(
        _table(frame, features), _vector(frame, target, "target"), _vector(frame, weight, "weight"), features
    )


def _is_number(dtype: Any) -> bool:
    return dtype.is_numeric() or dtype == nw.Boolean


def _table(frame: nw.DataFrame, features: list[str]) -> np.ndarray:
    """float32 if every column is, else float64; a missing entry becomes NaN."""
    small = all(frame.schema[name] == nw.Float32 for name in features)
    X = np.empty((len(frame), len(features)), dtype=np.float32 if small else np.float64)
    for j, name in enumerate(features):
        column = frame[name]
        if column.null_count():
            column = column.cast(nw.Float64)
        X[:, j] = column.to_numpy()
    return X


def _vector(frame: nw.DataFrame, given: Any, what: str) -> np.ndarray | None:
    if given is None:
        return None
    if not isinstance(given, str):
        return np.asarray(given)
    column = frame[given]
    if column.null_count():
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        problem = f"The {what} column {given!r} misses {column.null_count()} of its values, first in row {row}."
        raise DataError(problem, remedy="Drop those rows before reading.", parameter=what, column=given, row=row)
    return column.to_numpy()
