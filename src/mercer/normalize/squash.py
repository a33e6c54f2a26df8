"""Maps that tame large values: clipping, the sigmoid, the logarithm."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.special import expit, logit
from sklearn.base import OneToOneFeatureMixin

from mercer.base import InvertibleTransformer, StreamingTransformer
from mercer.normalize.elementwise import finite, refuse_sparse, rewritten, rewritten_entries
from mercer.normalize.ranks import columns_of, quantiles
from mercer.stats import Extremes, Sample, Together


class Clip(OneToOneFeatureMixin, StreamingTransformer):
    """Cut off large values: f <- sign(f) min(b, |f|), b > 0.

    Clipping says that beyond b a value means nothing more. It has no inverse, is idempotent, and keeps a
    sparse matrix sparse.

    Parameters
    ----------
    bound : None, number or array of n_features, default None
        b, one for all columns or one for each. None learns b from the data: median + 5 IQR of |f|, from a
        sample of 16,384 rows that does not depend on how the data are cut. It is 4.8 standard deviations for
        Gaussian columns, so ordinary values pass, and a quarter of the rows may be arbitrarily wrong before
        it moves far (a high quantile such as 99.5 % would move with half a percent). Where the IQR is zero it
        says nothing about the spread, and b = 5 median; where that is zero too (a column mostly of zeros), b
        = max |f|. A column of zeros alone is not clipped (b = inf).

    Attributes
    ----------
    bound_ : array of n_features_in_
        b of each column.

    Examples
    --------
    >>> from mercer.normalize import Clip
    >>> Clip(bound=1.0).fit_transform([[0.5], [-3.0], [100.0]])
    array([[ 0.5],
           [-1. ],
           [ 1. ]])
    """

    def __init__(self, bound=None):
        self.bound = bound

    def _check_parameters(self):
        if self.bound is not None and not np.all(np.asarray(self.bound, dtype=np.float64) > 0):
            raise ValueError(f"bound must be positive (or None to learn it), not {self.bound!r}.")

    def _empty(self):
        return Together(sample=Sample(), extremes=Extremes()) if self.bound is None else None

    def _finish(self, learned):
        if learned is None:
            self.bound_ = self._given_bound()
            return
        sample, (low, high) = learned["sample"], learned["extremes"]
        most = np.maximum(np.abs(low), np.abs(high))
        pairs = zip(columns_of(sample.X), most, strict=True)
        self.bound_ = np.array([_robust_bound(np.abs(f), sample.weight, m) for f, m in pairs])

    def _given_bound(self):
        bound = np.asarray(self.bound, dtype=np.float64)
        if bound.ndim and bound.shape != (self.n_features_in_,):
            raise ValueError(f"bound has shape {bound.shape}, but X has {self.n_features_in_} columns.")
        return np.broadcast_to(bound, self.n_features_in_).copy()

    def _apply(self, X):
        bound = _rounded_down(self.bound_, X.dtype)
        if hasattr(X, "tocsr"):
            return rewritten_entries(X, lambda x, j: np.clip(x, -bound[j], bound[j]))

        def cut(X, Z):  # np.clip with one bound per column is ten times slower
            np.minimum(np.maximum(X, -bound, out=Z), bound, out=Z)

        return rewritten(X, cut)


class Sigmoid(OneToOneFeatureMixin, InvertibleTransformer):
    """Squash into (0, 1): f <- 1 / (1 + exp(-slope f)).

    Nothing is learned from the data. Large values round to 0 and 1, from where there is no exact way back:
    `inverse_transform` reads them as the nearest numbers inside (0, 1), so they return as finite numbers,
    about -744/slope and 36.7/slope in float64. In general a number p returns with an error of about eps / (p
    (1 - p)).

    Parameters
    ----------
    slope : positive number, default 1.0

    Examples
    --------
    >>> from mercer.normalize import Sigmoid
    >>> Sigmoid().fit_transform([[0.0], [-1e200], [1e200]])
    array([[0.5],
           [0. ],
           [1. ]])
    """

    _check_X = {"dtype": [np.float64, np.float32]}

    def __init__(self, slope=1.0):
        self.slope = slope

    def _check_parameters(self):
        _check_positive("slope", self.slope)

    def _checked_X(self, X, reset, start=0):
        refuse_sparse(X, "Sigmoid", "it maps zero to 1/2", "Use X.toarray() if memory allows, or Log or Clip.")
        return super()._checked_X(X, reset, start)

    def _apply(self, X):
        return rewritten(X, self._forward)

    def _forward(self, X, Z):
        with np.errstate(over="ignore", under="ignore"):
            expit(np.multiply(X, self.slope, out=Z), out=Z)

    def _invert(self, X):
        refuse_sparse(X, "Sigmoid", "the way back is dense", "Use X.toarray().")
        bad = np.argwhere(~((X >= 0) & (X <= 1)))
        if len(bad):
            row, column = bad[0]
            raise ValueError(f"Sigmoid has values in [0, 1]; column {column}, row {row} is {X[row, column]}.")
        kind = np.finfo(X.dtype)
        least, most = float(kind.smallest_subnormal), 1.0 - float(kind.epsneg)

        def backward(p, x):
            with np.errstate(over="ignore"):
                finite(np.divide(logit(np.clip(p, least, most, out=x)), self.slope, out=x))

        return rewritten(X, backward)


class Log(OneToOneFeatureMixin, InvertibleTransformer):
    """Compress by the logarithm, on both sides of zero: f <- sign(f) log(1 + |f| / offset).

    For f >= 0 this is log(offset + f) - log(offset): the logarithm of the notes up to a constant, which an
    intercept absorbs. log(offset + f) itself is not defined for f <= -offset; the signed form is for every f,
    is odd, behaves like f / offset near zero and keeps a sparse matrix sparse. Nothing is learned from the
    data.

    Parameters
    ----------
    offset : positive number, default 1.0
        Where the map turns from linear to logarithmic.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.normalize import Log
    >>> Log().fit_transform([[0.0], [np.e - 1], [1 - np.e**2]]).round(12)
    array([[ 0.],
           [ 1.],
           [-2.]])
    """

    def __init__(self, offset=1.0):
        self.offset = offset

    def _check_parameters(self):
        _check_positive("offset", self.offset)

    def _apply(self, X):
        return self._each(X, self._forward)

    def _invert(self, X):
        return self._each(X, self._backward)

    def _each(self, X, function):
        if not hasattr(X, "tocsr"):
            return rewritten(X, function)
        return rewritten_entries(X, lambda x, columns: function(x, np.empty_like(x)))

    def _forward(self, X, Z):
        with np.errstate(over="ignore"):
            np.divide(np.abs(X, out=Z), self.offset, out=Z)
        beyond = np.isinf(Z)
        np.log1p(Z, out=Z)
        if beyond.any():  # there the 1 does not count
            Z[beyond] = np.log(np.abs(X[beyond])) - np.log(self.offset)
        return np.copysign(Z, X, out=Z)

    def _backward(self, Z, X):
        with np.errstate(over="ignore"):
            np.expm1(np.abs(Z, out=X), out=X)
            beyond = np.isinf(X)
            X *= self.offset
            if beyond.any():
                X[beyond] = np.exp(np.abs(Z[beyond]) + np.log(self.offset))
        return np.copysign(finite(X), Z, out=X)


def _robust_bound(size: np.ndarray, weight: np.ndarray, most: float) -> float:
    """The learned bound of a column with magnitudes `size` in the sample and at most `most` in the data."""
    quarter, median, three_quarters = quantiles(size, weight, [0.25, 0.5, 0.75])
    with np.errstate(over="ignore"):
        bound = median + 5.0 * (three_quarters - quarter) if three_quarters > quarter else 5.0 * median
    return float(bound or most or np.inf)


def _rounded_down(bound: np.ndarray, dtype) -> np.ndarray:
    """The bounds rounded to the precision of `dtype`, never up; float64."""
    with np.errstate(over="ignore"):
        rounded = bound.astype(dtype)
    return np.where(rounded > bound, np.nextafter(rounded, dtype.type(0)), rounded).astype(np.float64)


def _check_positive(name, value):
    if not isinstance(value, Real) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a positive number, not {value!r}.")
