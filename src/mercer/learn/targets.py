"""Targets: numbers or classes, and their columns of numbers for sums per category, bin or leaf."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, check_array

from mercer._numeric.block import Block
from mercer._runtime.errors import DataError
from mercer._runtime.labels import refuse_unsorted
from mercer.source import Source

TASKS = ("auto", "regression", "classification")
#: Whole numbers with more distinct values than this are a continuous target, not classes.
MAX_CLASSES = 20
#: Sums of squares of up to 2^23 such values are finite.
_MAX_VALUE = 2.0**500


def check_task(task: str) -> None:
    """Raise an error for an unknown task."""
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, not {task!r}.")


def checked_target(y: Any) -> np.ndarray:
    """A target of finite numbers (one column or several) or of labels, as an array."""
    y = np.asarray(y)
    if y.dtype.kind in "fiub":
        if y.ndim == 1 and len(y) and np.isfinite(y).all():
            return y  # the usual case, without the cost of all other checks in every block of every pass
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if y.ndim != 1:
        raise ValueError(f"A target of labels must have one column, not the shape {y.shape}.")
    refuse_unsorted(y)
    assert_all_finite(y, input_name="y")
    return y


def classes_in(source: Source, task: str) -> np.ndarray | None:
    """The sorted classes of the target, or None if it is continuous.

    "auto" treats strings, booleans and whole numbers of at most 20 distinct values as classes.
    """
    if task == "regression":
        return None
    labels: np.ndarray | None = None
    for block in source.map(_target_alone).blocks():
        if len(block) == 0:
            continue
        if task == "auto" and _is_continuous(block.y):
            return None
        found = np.unique(np.asarray(block.y))
        labels = found if labels is None else np.union1d(labels, found)
        if task == "auto" and labels.dtype.kind in "fiu" and len(labels) > MAX_CLASSES:
            return None
    return labels


def _target_alone(block: Block) -> Block:
    """The target of a block without its columns, which need not travel."""
    return Block(np.empty((len(block), 0)), block.y)


def _is_continuous(y: Any) -> bool:
    return y.ndim == 2 or (y.dtype.kind == "f" and bool(np.any(y != np.rint(y))))


def numeric_target(y: Any, classes: np.ndarray | None) -> np.ndarray:
    """Columns of float64: the numbers, or the indicators of the classes (for two classes of the second)."""
    if classes is None:
        if y.dtype.kind not in "fiub":
            raise ValueError(f"A continuous target must be numeric, not {y.ravel()[0]!r}: use task='classification'.")
        return _squarable(y.astype(np.float64).reshape(len(y), -1))
    shown = classes[1:] if len(classes) == 2 else classes
    return (y[:, None] == shown).astype(np.float64)


def _squarable(values: np.ndarray) -> np.ndarray:
    """The values, refused if sums of their squares may overflow."""
    if np.max(np.abs(values), initial=0.0) > _MAX_VALUE:
        problem = "The squares of the target overflow, so nothing can be learned from it."
        raise DataError(problem, remedy="Divide it by a constant, or leave out the rows with such values.")
    return values


def with_numeric_target(source: Source, classes: np.ndarray | None) -> Source:
    """The same rows with the columns of `numeric_target` as target."""

    def rewritten(block: Block) -> Block:
        return replace(block, y=numeric_target(block.y, classes)) if len(block) else block

    return source.map(rewritten)


def target_names(classes: np.ndarray | None, n_targets: int) -> list[str]:
    """Suffixes of the columns of several targets or classes; one empty suffix for a single column."""
    if classes is not None and len(classes) > 2:
        return [str(label) for label in classes.tolist()]
    return [""] if n_targets == 1 else [str(i) for i in range(n_targets)]
