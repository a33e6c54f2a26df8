"""Columns of levels: numbers, strings or any mixture, as they come."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from mercer.base import StreamingTransformer


class LevelTransformer(StreamingTransformer):
    """A map of columns whose values are names of levels; missing values are a level too."""

    _check_X = {"dtype": None}
    _allow_missing = True

    def _checked_X(self, X, reset, start=0):
        if hasattr(X, "columns"):  # column by column: a common type would turn integers into floats
            X = validate_data(self, X, reset=reset, skip_check_array=True)
            return check_array(_objects(X), dtype=None, ensure_all_finite=False, estimator=self)
        X = super()._checked_X(X, reset, start)
        return X.astype(object) if X.dtype.kind in "US" else X  # so that blocks of strings and numbers may follow

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _objects(frame) -> np.ndarray:
    """The values of a pandas, polars or pyarrow table as they are, integers beside missing values too."""
    names = getattr(frame, "column_names", frame.columns)  # pyarrow calls them so
    values = np.empty((len(frame), len(names)), dtype=object)
    for j, name in enumerate(names):
        column = frame[name]
        values[:, j] = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    return values
