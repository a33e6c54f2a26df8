"""Class labels of a target: one per row, none missing, of types that can be sorted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from mercer._runtime.errors import DataError


def class_labels(y: Any) -> np.ndarray:
    """A vector of class labels; a continuous target is refused as scikit-learn does."""
    y = column_or_1d(y, warn=True)
    refuse_unsorted(y)
    assert_all_finite(y, input_name="y")
    with np.errstate(invalid="ignore"):  # it compares numbers with integers, which cannot hold large ones
        check_classification_targets(y)
    return y


def refuse_unsorted(y: np.ndarray) -> None:
    """Refuse objects among which labels are missing, or of types that cannot be compared."""
    if y.dtype.kind != "O":
        return
    missing = np.flatnonzero([label is None for label in y.ravel()])
    if len(missing):
        raise DataError(f"The target is missing in row {missing[0]}.", remedy="Leave out the rows without one.")
    kinds = set(map(_kind, y.ravel()))
    if len(kinds) > 1:
        names = " and ".join(sorted(kinds))
        raise DataError(f"The target mixes {names}.", remedy="Convert all labels to text, or all to numbers.")


def _kind(label: Any) -> str:
    if isinstance(label, str):
        return "text"
    is_number = isinstance(label, (int, float, np.number, np.bool_))
    return "numbers" if is_number else f"values of type {type(label).__name__}"
