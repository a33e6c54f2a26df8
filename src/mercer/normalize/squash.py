"""Maps that compress large values: clipping, the sigmoid, the logarithm."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.base import OneToOneFeatureMixin

from mercer.base import InvertibleTransformer, StreamingTransformer
from mercer.normalize.elementwise import finite, refuse_sparse, rewritten, rewritten_entries
from mercer.normalize.ranks import columns_of, quantiles
from mercer.stats import Extremes, Sample, Together


class Clip(OneToOneFeatureMixin, StreamingTransformer):
    """Clip large values: f <- sign(f) min(b, |f|), b > 0.

    Clipping has no inverse, is idempotent, and keeps a sparse matrix sparse.

    Use it against few wild values whose size means nothing; it loses the order beyond the bound, which `Log` and
    `Quantile` keep. Each value costs one comparison.

    Parameters
    ----------
    bound : None, number or array of n_features, default None
        b, one for all columns or one for each. None learns b from the data: median + 5 IQR of |f|, from a
        sample of 16,384 rows that does not depend on how the data are split into blocks. For Gaussian columns b is
        4.8 standard deviations. It has a breakdown point of 25 % (a quantile such as 99.5 % has 0.5 %). If the IQR
        is zero, b = 5 median; if the median is zero too (a column mostly of zeros), b = max |f|. A column of zeros
        is not clipped (b = inf).

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

    def __init__(self, bound: Any = None):
        self.bound = bound

    def _check_parameters(self) -> None:
        if self.bound is not None and not np.all(np.asarray(self.bound, dtype=np.float64) > 0):
            raise ValueError(f"bound must be positive (or None to learn it), not {self.bound!r}.")

    def _empty(self) -> Together | None:
        return Together(sample=Sample(), extremes=Extremes()) if self.bound is None else None

    def _finish(self, learned: dict[str, Any] | None) -> None:
        if learned is None:
            self.bound_ = self._given_bound()
            return
        sample, (low, high) = learned["sample"], learned["extremes"]
        largest = np.maximum(np.abs(low), np.abs(high))
        pairs = zip(columns_of(sample.X), largest, strict=True)
        self.bound_ = np.array([_robust_bound(np.abs(f), sample.weight, m) for f, m in pairs])

    def _given_bound(self) -> np.ndarray:
        bound = np.asarray(self.bound, dtype=np.float64)
        if bound.ndim and bound.shape != (self.n_features_in_,):
            raise ValueError(f"bound has shape {bound.shape}, but X has {self.n_features_in_} columns.")
        return np.broadcast_to(bound, self.n_features_in_).copy()

    def _apply(self, X: Any) -> Any:
        bound = _rounded_down(self.bound_, X.dtype)
        if hasattr(X, "tocsr"):
            return rewritten_entries(X, lambda x, j: np.clip(x, -bound[j], bound[j]))

        def clip(X: np.ndarray, Z: np.ndarray) -> None:  # np.clip with one bound per column is ten times slower
            np.minimum(np.maximum(X, -bound, out=Z), bound, out=Z)

        return rewritten(X, clip)


class Sigmoid(OneToOneFeatureMixin, InvertibleTransformer):
    """Logistic sigmoid into (0, 1): f <- 1 / (1 + exp(-slope f)).

    Nothing is learned from the data. Large values round to 0 and 1, which have no exact inverse:
    `inverse_transform` replaces them by the nearest numbers inside (0, 1), so it returns finite numbers, about
    -744/slope and 36.7/slope in float64. The error of the inverse at p is about eps / (p (1 - p)).

    Use it to bound a column smoothly, after standardizing it. Values beyond a few units become alike; use `Quantile` to
    keep them apart. Each value costs one exponential.

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

    def __init__(self, slope: float = 1.0):
        self.slope = slope

    def _check_parameters(self) -> None:
        _check_positive("slope", self.slope)

    def _checked_X(self, X: Any, reset: bool | None, start: int = 0) -> Any:
        refuse_sparse(X, "Sigmoid", "it maps zero to 1/2", "Use X.toarray() if memory allows, or Log or Clip.")
        return super()._checked_X(X, reset, start)

    def _apply(self, X: Any) -> Any:
        return rewritten(X, self._forward)

    def _forward(self, X: np.ndarray, Z: np.ndarray) -> None:
        with np.errstate(over="ignore", under="ignore"):
            expit(np.multiply(X, self.slope, out=Z), out=Z)

    def _invert(self, X: Any) -> Any:
        refuse_sparse(X, "Sigmoid", "the inverse is dense", "Use X.toarray().")
        bad = np.argwhere(~((X >= 0) & (X <= 1)))
        if len(bad):
            row, column = bad[0]
            raise ValueError(f"Values must be in [0, 1], but column {column} is {X[row, column]} at row {row}.")
        kind = np.finfo(X.dtype)
        smallest, largest = float(kind.smallest_subnormal), 1.0 - float(kind.epsneg)

        def backward(p: np.ndarray, x: np.ndarray) -> None:
            with np.errstate(over="ignore"):
                finite(np.divide(logit(np.clip(p, smallest, largest, out=x)), self.slope, out=x))

        return rewritten(X, backward)


class Log(OneToOneFeatureMixin, InvertibleTransformer):
    """Signed logarithm: f <- sign(f) log(1 + |f| / offset).

    For f >= 0 this is log(offset + f) - log(offset), a shifted logarithm up to a constant, which an intercept
    absorbs. log(offset + f) itself is undefined for f <= -offset; the signed form is defined everywhere, odd,
    about f / offset near zero, and keeps a sparse matrix sparse. Nothing is learned from the data.

    Use it for amounts, counts and other columns with a long tail, before a linear model or a kernel. It compresses
    differences among large values: leave columns alone that act linearly. Each value costs one logarithm.

    Parameters
    ----------
    offset : positive number, default 1.0
        Magnitude at which the map changes from linear to logarithmic.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.normalize import Log
    >>> Log().fit_transform([[0.0], [np.e - 1], [1 - np.e**2]]).round(12)
    array([[ 0.],
           [ 1.],
           [-2.]])
    """

    def __init__(self, offset: float = 1.0):
        self.offset = offset

    def _check_parameters(self) -> None:
        _check_positive("offset", self.offset)

    def _apply(self, X: Any) -> Any:
        return self._each(X, self._forward)

    def _invert(self, X: Any) -> Any:
        return self._each(X, self._backward)

    def _each(self, X: Any, function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Any:
        if not hasattr(X, "tocsr"):
            return rewritten(X, function)
        return rewritten_entries(X, lambda x, columns: function(x, np.empty_like(x)))

    def _forward(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            np.divide(np.abs(X, out=Z), self.offset, out=Z)
        beyond = np.isinf(Z)
        np.log1p(Z, out=Z)
        if beyond.any():  # where the 1 is negligible
            Z[beyond] = np.log(np.abs(X[beyond])) - np.log(self.offset)
        return np.copysign(Z, X, out=Z)

    def _backward(self, Z: np.ndarray, X: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            np.expm1(np.abs(Z, out=X), out=X)
            beyond = np.isinf(X)
            X *= self.offset
            if beyond.any():
                X[beyond] = np.exp(np.abs(Z[beyond]) + np.log(self.offset))
        return np.copysign(finite(X), Z, out=X)


def _robust_bound(size: np.ndarray, weight: np.ndarray, largest: float) -> float:
    """The learned bound of a column with magnitudes `size` in the sample and at most `largest` in the data."""
    quarter, median, three_quarters = quantiles(size, weight, [0.25, 0.5, 0.75])
    with np.errstate(over="ignore"):
        bound = median + 5.0 * (three_quarters - quarter) if three_quarters > quarter else 5.0 * median
    return float(bound or largest or np.inf)


def _rounded_down(bound: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The bounds rounded down to the precision of `dtype`, as float64."""
    with np.errstate(over="ignore"):
        rounded = bound.astype(dtype)
    return np.where(rounded > bound, np.nextafter(rounded, dtype.type(0)), rounded).astype(np.float64)


def _check_positive(name: str, value: Any) -> None:
    if not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name} must be a positive number, not {value!r}.")
