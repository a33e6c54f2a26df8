"""Missing values: filled, and said to have been missing."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy import sparse

from mercer._runtime.checks import refuse_missing
from mercer.base import StreamingTransformer
from mercer.normalize.elementwise import rewritten_entries
from mercer.normalize.ranks import columns_of, quantiles
from mercer.stats import Moments, Sample, Together


class Impute(StreamingTransformer):
    """Fill missing values and add indicator columns that say where: f <- (f or fill, 1[f is missing]).

    NaN and None are missing; infinities are refused. Nothing is filled silently: a column that had missing
    values in `fit` gets an indicator column after the columns of X, and a missing value in any other column
    is an error in `transform`. A sparse matrix stays sparse: its stored NaN are missing, its zeros are zeros.

    Parameters
    ----------
    strategy : "median", "mean" or "constant", default "median"
        What to fill with: the median of the present entries (of a sample of 16,384 rows that does not depend
        on how the data are cut; exact up to there), their exact mean, or `fill`.
    fill : number, default 0.0
        For strategy "constant", and for columns that have no present entry.
    indicators : True, "all" or False, default True
        True: an indicator for each column with missing values in `fit`. "all": for every column, so
        `transform` accepts missing values anywhere. False: none, and `transform` fills anywhere without a
        trace.

    Attributes
    ----------
    fill_ : array of n_features_in_
        What each column is filled with.
    indicated_ : int array
        The columns that have an indicator.

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

    def __init__(self, strategy="median", fill=0.0, indicators=True):
        self.strategy = strategy
        self.fill = fill
        self.indicators = indicators

    def _check_parameters(self):
        if self.strategy not in ("median", "mean", "constant"):
            raise ValueError(f"strategy must be 'median', 'mean' or 'constant', not {self.strategy!r}.")
        if not isinstance(self.fill, Real) or not np.isfinite(self.fill):
            raise ValueError(f"fill must be a finite number, not {self.fill!r}.")
        if self.indicators not in (True, False, "all"):
            raise ValueError(f"indicators must be True, False or 'all', not {self.indicators!r}.")

    def _checked_X(self, X, reset, start=0):
        X = super()._checked_X(X, reset, start)
        refuse_missing(X, getattr(self, "feature_names_in_", None), start, allow_nan=True)
        return X

    def _empty(self):
        moments = Moments(skip_missing=True)
        return Together(moments=moments, sample=Sample()) if self.strategy == "median" else Together(moments=moments)

    def _finish(self, learned):
        moments = learned["moments"]
        if self.strategy == "constant":
            fill = np.full(self.n_features_in_, float(self.fill))
        elif self.strategy == "mean":
            fill = moments.mean
        else:
            fill = _present_medians(learned["sample"])
            fill = np.where(np.isnan(fill), moments.mean, fill)  # so rarely present that the sample has none
        self.fill_ = np.where(np.isnan(fill), float(self.fill), fill)
        everywhere = np.full(self.n_features_in_, self.indicators == "all")
        self.indicated_ = np.flatnonzero(everywhere | moments.missing if self.indicators else ~everywhere & False)

    def _apply(self, X):
        gaps = np.isnan(X.data) if hasattr(X, "tocsr") else np.isnan(X)
        if self.indicators is True and gaps.any():
            self._refuse_unforeseen(X)
        if hasattr(X, "tocsr"):
            return self._apply_sparse(X, gaps)
        d = X.shape[1]
        result = np.empty((X.shape[0], d + len(self.indicated_)), dtype=X.dtype)
        result[:, :d] = X
        result[:, d:] = gaps[:, self.indicated_]
        rows, columns = np.nonzero(gaps)
        result[rows, columns] = self.fill_[columns]
        return result

    def _apply_sparse(self, X, gaps):
        filled = rewritten_entries(X, lambda x, j: np.where(np.isnan(x), self.fill_[j], x))
        pattern = type(X)((gaps.astype(X.dtype), X.indices.copy(), X.indptr.copy()), shape=X.shape)
        pattern.eliminate_zeros()
        return sparse.hstack([filled, pattern[:, self.indicated_]], format="csr", dtype=X.dtype)

    def _refuse_unforeseen(self, X):
        foreseen = np.zeros(self.n_features_in_, dtype=bool)
        foreseen[self.indicated_] = True
        rows, columns = _gaps(X)
        unforeseen = np.flatnonzero(~foreseen[columns])
        if len(unforeseen):
            row, column = rows[unforeseen[0]], columns[unforeseen[0]]
            raise ValueError(
                f"Column {self._input_names()[column]!r} is missing at row {row}, but had no missing values "
                "in fit, so there is no indicator column to say so. Use indicators='all' to provide for this."
            )

    def get_feature_names_out(self, input_features=None):
        """The names of the columns, then `name=missing` for each indicator."""
        names = self._input_names(input_features)
        return np.array(names + [f"{names[j]}=missing" for j in self.indicated_], dtype=object)


def _gaps(X):
    """Row and column of each missing entry, in the order of rows."""
    if not hasattr(X, "tocsr"):
        return np.nonzero(np.isnan(X))
    gaps = np.flatnonzero(np.isnan(X.data))
    return np.searchsorted(X.indptr, gaps, side="right") - 1, X.indices[gaps]


def _present_medians(sample) -> np.ndarray:
    """The median of the present entries of each column of the sample; NaN if there are none."""
    medians = np.full(sample.X.shape[1], np.nan)
    for j, column in enumerate(columns_of(sample.X)):
        present = ~np.isnan(column)
        if present.any():
            medians[j] = quantiles(column[present], sample.weight[present], [0.5])[0]
    return medians
