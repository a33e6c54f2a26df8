"""Centering, min-max scaling and standardization: x -> (x - shift) / scale, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from mercer.base import InvertibleTransformer
from mercer.normalize.elementwise import finite, refuse_sparse, rewritten, rewritten_entries
from mercer.stats import Extremes, Moments
from mercer.stats.moments import ColumnMoments

_TINY = np.finfo(np.float64).smallest_subnormal
_FINE = 2.0**-40


class _Affine(OneToOneFeatureMixin, InvertibleTransformer):
    """x -> (x - shift - rest) / scale and its inverse.

    `rest` is the rounding error of the shift; None where it is negligible. Differences that overflow float64 are
    computed from halves, and results that overflow become its largest number.
    """

    def _set_map(
        self,
        shift: np.ndarray,
        scale: np.ndarray,
        rest: np.ndarray | None = None,
        half_scale: np.ndarray | None = None,
    ) -> None:
        """Store the map; `half_scale` is given where the scale itself may overflow float64."""
        self._shift, self._scale, self._rest, self._half_scale = shift, scale, rest, half_scale

    def _apply(self, X: Any) -> Any:
        return rewritten(X, self._forward)

    def _invert(self, X: Any) -> Any:
        refuse_sparse(X, type(self).__name__, "the inverse is dense", "Use X.toarray().")
        return rewritten(X, self._backward)

    def _forward(self, X: np.ndarray, Z: np.ndarray) -> None:
        if self._half_scale is None:
            try:
                self._divide(X, Z)
                return
            except FloatingPointError:
                pass
        with np.errstate(over="ignore"):
            finite(np.divide(0.5 * X - 0.5 * self._shift, self._halved_scale(), out=Z))

    def _divide(self, X: np.ndarray, Z: np.ndarray) -> None:
        with np.errstate(over="raise"):
            np.subtract(X, self._shift, out=Z)
            if self._rest is not None:
                Z -= self._rest
            Z /= self._scale

    def _backward(self, Z: np.ndarray, X: np.ndarray) -> None:
        if self._half_scale is None:
            try:
                self._multiply(Z, X)
                return
            except FloatingPointError:
                pass
        with np.errstate(over="ignore"):
            finite(np.multiply(2.0, Z * self._halved_scale() + 0.5 * self._shift, out=X))

    def _multiply(self, Z: np.ndarray, X: np.ndarray) -> None:
        with np.errstate(over="raise"):
            np.multiply(Z, self._scale, out=X)
            if self._rest is not None:
                X += self._rest
            X += self._shift

    def _halved_scale(self) -> np.ndarray:
        return np.maximum(0.5 * self._scale, _TINY) if self._half_scale is None else self._half_scale


class Center(_Affine):
    """Shift each column to mean zero: f <- f - mean(f).

    The mean is exact: bit-identical for any split of the data into blocks, without cancellation at any offset.
    Sparse matrices are refused, because centering would make them dense.

    Use it before methods without an intercept, and where scales carry meaning; otherwise `Standardize`. It costs one
    pass.

    Attributes
    ----------
    mean_ : array of n_features_in_
        Mean of each column, correctly rounded.

    Examples
    --------
    >>> from mercer.normalize import Center
    >>> center = Center().fit([[1.0, 10.0], [3.0, 10.0]])
    >>> center.transform([[1.0, 10.0], [5.0, 11.0]])
    array([[-1.,  0.],
           [ 3.,  1.]])
    """

    _check_X = {"dtype": [np.float64, np.float32]}

    def _empty(self) -> Moments:
        return Moments()

    def _finish(self, learned: ColumnMoments) -> None:
        self.mean_ = learned.mean
        self._set_map(learned.mean, np.ones_like(learned.mean), _visible(learned))

    def _checked_X(self, X: Any, reset: bool | None, start: int = 0) -> Any:
        refuse_sparse(
            X,
            "Center",
            "centering maps its zeros to other numbers",
            "Use X.toarray() if memory allows, or Standardize(with_mean=False), which keeps zeros.",
        )
        return super()._checked_X(X, reset, start)


class UnitRange(_Affine):
    """Min-max scaling to [0, 1]: f <- (f - min f) / (max f - min f), with 0/0 = 0.

    A constant column maps to 0 (its scale is 1). New values outside the range seen by `fit` map below 0 or above
    1, unless `clip=True`. A sparse matrix stays sparse if the minimum of every column is 0; otherwise zero would
    not map to zero, and `transform` refuses it.

    Use it where a method needs bounded columns. A single extreme value sets the range; prefer `Standardize` or
    `Quantile` for data with outliers. It costs one pass.

    Parameters
    ----------
    clip : bool, default False
        Clip results to [0, 1].

    Attributes
    ----------
    data_min_, data_max_ : arrays of n_features_in_
        Minimum and maximum of each column.
    scale_ : array of n_features_in_
        data_max_ - data_min_, or 1 for a constant column; the largest float64 where the difference overflows
        (the map itself is computed from halves and stays exact).

    Examples
    --------
    >>> from mercer.normalize import UnitRange
    >>> unit = UnitRange().fit([[1.0, 7.0], [5.0, 7.0]])
    >>> unit.transform([[2.0, 7.0], [9.0, 7.0]])
    array([[0.25, 0.  ],
           [2.  , 0.  ]])
    """

    def __init__(self, clip: bool = False):
        self.clip = clip

    def _empty(self) -> Extremes:
        return Extremes()

    def _finish(self, learned: tuple[np.ndarray, np.ndarray]) -> None:
        self.data_min_, self.data_max_ = learned
        constant = self.data_min_ == self.data_max_
        with np.errstate(over="ignore"):
            width = self.data_max_ - self.data_min_
        self.scale_ = np.where(constant, 1.0, finite(width.copy()))
        half = np.where(constant, 0.5, 0.5 * self.data_max_ - 0.5 * self.data_min_)
        self._set_map(self.data_min_, self.scale_, half_scale=half if np.isinf(width).any() else None)

    def _forward(self, X: np.ndarray, Z: np.ndarray) -> None:
        super()._forward(X, Z)
        if self.clip:
            np.clip(Z, 0.0, 1.0, out=Z)

    def _apply(self, X: Any) -> Any:
        if not hasattr(X, "tocsr"):
            return super()._apply(X)
        self._refuse_shifted_sparse()
        return rewritten_entries(X, self._forward_entries)

    def _invert(self, X: Any) -> Any:
        if not hasattr(X, "tocsr"):
            return super()._invert(X)
        self._refuse_shifted_sparse()
        with np.errstate(over="ignore"):
            return rewritten_entries(X, lambda z, j: finite(z * self.scale_[j]))

    def _forward_entries(self, x: np.ndarray, columns: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            z = finite(x / self.scale_[columns])
        return np.clip(z, 0.0, 1.0, out=z) if self.clip else z

    def _refuse_shifted_sparse(self) -> None:
        shifted = np.flatnonzero(self.data_min_ != 0)
        if len(shifted):
            j = shifted[0]
            raise ValueError(
                f"UnitRange got a sparse matrix, but column {j} has minimum {self.data_min_[j]:g}: "
                "zeros would map to other numbers. Use X.toarray() if memory allows, or "
                "Standardize(with_mean=False), which keeps zeros."
            )


class Standardize(_Affine):
    """Standardize to mean zero and variance one: f <- (f - mean(f)) / sqrt(v), with 0/0 = 0.

    v = (1/m) sum_i (f_i - mean(f))^2 is the variance of the m rows, weighted if there are weights.

    Mean and variance are exact: bit-identical for any split of the data into blocks, and accurate at an offset of
    1e15 or a value of 1e200. A constant column has scale 1 and maps to 0.

    Use it before penalties, kernels and distances, which compare columns. Trees do not need it, and for heavy tails
    `Quantile` or `Log` come first. It costs one pass.

    Parameters
    ----------
    with_mean : bool, default True
        Subtract the mean. False only scales, f <- f / sqrt(v), which keeps a sparse matrix sparse.

    Attributes
    ----------
    mean_ : array of n_features_in_
        Mean of each column.
    var_ : array of n_features_in_
        Variance v of each column (inf where it overflows; `scale_` is correct even then).
    scale_ : array of n_features_in_
        sqrt(v), or 1 for a constant column.

    Examples
    --------
    >>> from mercer.normalize import Standardize
    >>> standardize = Standardize().fit([[1.0, 7.0], [5.0, 7.0]])
    >>> standardize.transform([[1.0, 7.0], [5.0, 7.0]])
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    def __init__(self, with_mean: bool = True):
        self.with_mean = with_mean

    @property
    def _check_X(self) -> dict[str, Any]:  # type: ignore[override]
        return {"dtype": [np.float64, np.float32], "accept_sparse": False if self.with_mean else "csr"}

    def _empty(self) -> Moments:
        return Moments()

    def _finish(self, learned: ColumnMoments) -> None:
        self.mean_, self.var_ = learned.mean, learned.var
        constant = learned.min == learned.max
        self.scale_ = np.where(constant, 1.0, np.maximum(learned.std, _TINY))
        if self.with_mean:
            self._set_map(self.mean_, self.scale_, _visible(learned))
        else:
            self._set_map(np.zeros_like(self.mean_), self.scale_)

    def _checked_X(self, X: Any, reset: bool | None, start: int = 0) -> Any:
        if self.with_mean:
            refuse_sparse(
                X,
                "Standardize",
                "subtracting the mean maps its zeros to other numbers",
                "Use Standardize(with_mean=False), which keeps zeros, or X.toarray() if memory allows.",
            )
        return super()._checked_X(X, reset, start)

    def _apply(self, X: Any) -> Any:
        if not hasattr(X, "tocsr"):
            return super()._apply(X)
        with np.errstate(over="ignore"):
            return rewritten_entries(X, lambda x, j: finite(x / self.scale_[j]))

    def _invert(self, X: Any) -> Any:
        if not hasattr(X, "tocsr") or self.with_mean:
            return super()._invert(X)
        with np.errstate(over="ignore"):
            return rewritten_entries(X, lambda z, j: finite(z * self.scale_[j]))


def _visible(learned: ColumnMoments) -> np.ndarray | None:
    """The rounding error of the mean where it is not negligible against the standard deviation, else None."""
    return learned.mean_rest if np.any(np.abs(learned.mean_rest) > _FINE * learned.std) else None
