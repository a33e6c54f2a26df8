"""Some of the columns, in a given order."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._numeric.linalg.distances import is_sparse
from mercer.base import StreamingTransformer
from mercer.kernels.rows import column_positions


class ColumnPicker(StreamingTransformer):
    """The given columns, in the given order; a CSR matrix stays sparse, missing values pass.

    Use it as a step of a pipeline, or before an estimator that should see some columns only.

    Parameters
    ----------
    columns : sequence of columns by index or by name; one index or name, a slice or a mask
        Negative indices count from the last column.

    Attributes
    ----------
    columns_ : array of the indices of the columns

    Examples
    --------
    >>> from mercer.expand import ColumnPicker
    >>> picker = ColumnPicker([2, 0]).fit([[1.0, 2.0, 3.0]])
    >>> picker.transform([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    array([[3., 1.],
           [6., 4.]])
    >>> picker.get_feature_names_out().tolist()
    ['x2', 'x0']
    """

    _check_X = {"dtype": [np.float64, np.float32], "accept_sparse": "csr"}
    _allow_missing = True

    def __init__(self, columns: Any) -> None:
        self.columns = columns

    def _finish(self, learned: None) -> None:
        names = getattr(self, "feature_names_in_", None)
        found = column_positions(self.columns, self.n_features_in_, None if names is None else list(names))
        self.columns_ = np.atleast_1d(np.asarray(found, dtype=np.intp))
        if len(self.columns_) == 0:
            raise ValueError(f"columns={self.columns!r} picks no column.")

    def _apply(self, X: Any) -> Any:
        return X[:, self.columns_] if is_sparse(X) else np.take(X, self.columns_, axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the picked columns."""
        names = self._input_names(input_features)
        return np.array([names[j] for j in self.columns_], dtype=object)

    @property
    def _n_features_out(self) -> int:
        return len(self.columns_)
