"""What a target is, numbers or classes, and its columns of numbers for sums per level, bin or leaf."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, check_array

from mercer._numeric.block import Block
from mercer.source import Source

TASKS = ("auto", "regression", "classification")
#: Whole numbers with more distinct values than this are quantities, not classes.
MOST_CLASSES = 20


def check_task(task) -> None:
    """Refuse a task that is none."""
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, not {task!r}.")


def checked_target(y) -> np.ndarray:
    """A target of finite numbers (one column or several) or of labels, as an array."""
    y = np.asarray(y)
    if y.dtype.kind in "fiub":
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if y.ndim != 1:
        raise ValueError(f"A target of labels must have one column, not the shape {y.shape}.")
    assert_all_finite(y, input_name="y")
    return y


def classes_in(source: Source, task: str) -> np.ndarray | None:
    """The sorted classes of the target, or None if it is a quantity.

    "auto" takes strings, truth values and whole numbers of at most 20 different values for classes.
    """
    if task == "regression":
        return None
    labels: np.ndarray | None = None
    for block in source.blocks():
        if len(block) == 0:
            continue
        if task == "auto" and _is_quantity(block.y):
            return None
        found = np.unique(np.asarray(block.y))
        labels = found if labels is None else np.union1d(labels, found)
        if task == "auto" and labels.dtype.kind in "fiu" and len(labels) > MOST_CLASSES:
            return None
    return labels


def _is_quantity(y: Any) -> bool:
    return y.ndim == 2 or (y.dtype.kind == "f" and bool(np.any(y != np.rint(y))))


def numeric_target(y: Any, classes: np.ndarray | None) -> np.ndarray:
    """Columns of float64: the quantities, or the indicators of the classes (for two classes of the second)."""
    if classes is None:
        if y.dtype.kind not in "fiub":
            raise ValueError(f"A quantity must be a number, not {y.ravel()[0]!r}: use task='classification'.")
        return y.astype(np.float64).reshape(len(y), -1)
    shown = classes[1:] if len(classes) == 2 else classes
    return (y[:, None] == shown).astype(np.float64)


def with_numeric_target(source: Source, classes: np.ndarray | None) -> Source:
    """The same rows with the columns of `numeric_target` for a target."""

    def rewritten(block: Block) -> Block:
        return replace(block, y=numeric_target(block.y, classes)) if len(block) else block

    return source.map(rewritten)


def target_names(classes: np.ndarray | None, n_targets: int) -> list[str]:
    """What tells the columns of several targets or classes apart; one empty name for a single column."""
    if classes is not None and len(classes) > 2:
        return [str(label) for label in classes.tolist()]
    return [""] if n_targets == 1 else [str(i) for i in range(n_targets)]
