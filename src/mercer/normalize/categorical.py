"""Categorical columns: numbers, strings or any mixture, unconverted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from mercer.base import MixedTransformer


class CategoricalTransformer(MixedTransformer):
    """Base of transformers of categorical columns, in which missing values are a category."""

    def _checked_X(self, X: Any, reset: bool | None, start: int = 0) -> Any:
        if hasattr(X, "columns"):  # column by column: a common type would convert integers to floats
            X = validate_data(self, X, reset=reset, skip_check_array=True)
            return check_array(_objects(X), dtype=None, ensure_all_finite=False, estimator=self)
        X = super()._checked_X(X, reset, start)
        return X.astype(object) if X.dtype.kind in "US" else X  # later blocks may mix strings and numbers


def _objects(frame: Any) -> np.ndarray:
    """The values of a pandas, polars or pyarrow table unconverted, also integers beside missing values."""
    names = getattr(frame, "column_names", frame.columns)  # `column_names` in pyarrow
    values = np.empty((len(frame), len(names)), dtype=object)
    for j, name in enumerate(names):
        column = frame[name]
        values[:, j] = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    return values
