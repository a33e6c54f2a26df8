"""Imputation of missing values, with missingness indicators."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from mercer._runtime.checks import refuse_missing
from mercer.base import StreamingTransformer
from mercer.normalize.elementwise import rewritten_entries
from mercer.normalize.ranks import columns_of, quantiles
from mercer.stats import Moments, Sample, Together
from mercer.stats.sample import SampledRows


class Impute(StreamingTransformer):
    """Fill missing values and append missingness indicators: f <- (f or fill, 1[f is missing]).

    NaN and None are missing; infinities are refused. No value is imputed silently: a column with missing values in
    `fit` gets an indicator after the columns of X, and a missing value in any other column is an error in
    `transform`. A sparse matrix stays sparse: its stored NaN are missing, its zeros are zeros.

    Use it before any map or linear model on columns with gaps. The indicators let a model learn from the fact that a
    value is missing; trees of `TreeFeatures` need no imputation. It costs one pass.

    Parameters
    ----------
    strategy : "median", "mean" or "constant", default "median"
        Fill with the median of the present entries (of a sample of 16,384 rows that does not depend on how the
        data are split into blocks; exact up to that size), with their exact mean, or with `fill`.
    fill : number, default 0.0
        For strategy "constant", and for columns without present entries.
    indicators : True, "all" or False, default True
        True: an indicator for each column with missing values in `fit`. "all": for every column, so
        `transform` accepts missing values anywhere. False: none, and `transform` imputes anywhere.

    Attributes
    ----------
    fill_ : array of n_features_in_
        Fill value of each column.
    indicated_ : int array
        Columns with an indicator.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.normalize import Impute
    >>> impute = Impute().fit([[1.0, 5.0], [np.nan, 6.0], [3.0, 7.0], [2.0, 8.0]])
    >>> impute.transform([[np.nan, 5.0], [1.0, 6.0]])
    array([[2., 5., 1.],
           [1., 6., 0.]])
    >>> impute.get_feature_names_out().tolist()
    ['x0', 'x1', 'x0=missing']
    """

    _allow_missing = True

    def __init__(self, strategy: str = "median", fill: float = 0.0, indicators: bool | str = True):
        self.strategy = strategy
        self.fill = fill
        self.indicators = indicators

    def _check_parameters(self) -> None:
        if self.strategy not in ("median", "mean", "constant"):
            raise ValueError(f"strategy must be 'median', 'mean' or 'constant', not {self.strategy!r}.")
        if not isinstance(self.fill, Real) or not np.isfinite(float(self.fill)):
            raise ValueError(f"fill must be a finite number, not {self.fill!r}.")
        if self.indicators not in (True, False, "all"):
            raise ValueError(f"indicators must be True, False or 'all', not {self.indicators!r}.")

    def _checked_X(self, X: Any, reset: bool | None, start: int = 0) -> Any:
        X = super()._checked_X(X, reset, start)
        refuse_missing(X, getattr(self, "feature_names_in_", None), start, allow_nan=True)
        return X

    def _empty(self) -> Together:
        moments = Moments(skip_missing=True)
        return Together(moments=moments, sample=Sample()) if self.strategy == "median" else Together(moments=moments)

    def _finish(self, learned: dict[str, Any]) -> None:
        moments = learned["moments"]
        if self.strategy == "constant":
            fill = np.full(self.n_features_in_, float(self.fill))
        elif self.strategy == "mean":
            fill = moments.mean
        else:
            fill = _present_medians(learned["sample"])
            fill = np.where(np.isnan(fill), moments.mean, fill)  # no present entry in the sample
        self.fill_ = np.where(np.isnan(fill), float(self.fill), fill)
        everywhere = np.full(self.n_features_in_, self.indicators == "all")
        self.indicated_ = np.flatnonzero(everywhere | moments.missing if self.indicators else ~everywhere & False)

    def _apply(self, X: Any) -> Any:
        missing = np.isnan(X.data) if hasattr(X, "tocsr") else np.isnan(X)
        if self.indicators is True and missing.any():
            self._refuse_unexpected(X)
        if hasattr(X, "tocsr"):
            return self._apply_sparse(X, missing)
        d = X.shape[1]
        result = np.empty((X.shape[0], d + len(self.indicated_)), dtype=X.dtype)
        result[:, :d] = X
        result[:, d:] = missing[:, self.indicated_]
        rows, columns = np.nonzero(missing)
        result[rows, columns] = self.fill_[columns]
        return result

    def _apply_sparse(self, X: Any, missing: np.ndarray) -> Any:
        filled = rewritten_entries(X, lambda x, j: np.where(np.isnan(x), self.fill_[j], x))
        pattern = type(X)((missing.astype(X.dtype), X.indices.copy(), X.indptr.copy()), shape=X.shape)
        pattern.eliminate_zeros()
        return sparse.hstack([filled, pattern[:, self.indicated_]], format="csr", dtype=X.dtype)

    def _refuse_unexpected(self, X: Any) -> None:
        """Refuse missing values in columns without an indicator."""
        indicated = np.zeros(self.n_features_in_, dtype=bool)
        indicated[self.indicated_] = True
        rows, columns = _missing_entries(X)
        unexpected = np.flatnonzero(~indicated[columns])
        if len(unexpected):
            row, column = rows[unexpected[0]], columns[unexpected[0]]
            raise ValueError(
                f"Column {self._input_names()[column]!r} is missing at row {row}, but had no missing values "
                "in fit and has no indicator. Use indicators='all' to allow missing values in any column."
            )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns, then `name=missing` for each indicator."""
        names = self._input_names(input_features)
        return np.array(names + [f"{names[j]}=missing" for j in self.indicated_], dtype=object)


def _missing_entries(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of each missing entry, in row order."""
    if not hasattr(X, "tocsr"):
        rows, columns = np.nonzero(np.isnan(X))
        return rows, columns
    missing = np.flatnonzero(np.isnan(X.data))
    return np.searchsorted(X.indptr, missing, side="right") - 1, X.indices[missing]


def _present_medians(sample: SampledRows) -> np.ndarray:
    """Median of the present entries of each column of the sample; NaN if there are none."""
    medians = np.full(sample.X.shape[1], np.nan)
    for j, column in enumerate(columns_of(sample.X)):
        present = ~np.isnan(column)
        if present.any():
            medians[j] = quantiles(column[present], sample.weight[present], [0.5])[0]
    return medians
