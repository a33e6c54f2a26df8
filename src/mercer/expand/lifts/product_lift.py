"""Centered and scaled products of named pairs of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from mercer.base import StreamingEstimator, StreamingTransformer, is_too_large_to_collect
from mercer.kernels.rows import column_positions
from mercer.source import Source
from mercer.stats import Moments


def _is_incremental(lift: ProductLift) -> bool:
    """Means must be known before the products that are scaled: rows given in batches are not kept."""
    raise AttributeError(f"{lift} needs all rows at once: give them to fit, as an array or a Source.")


class ProductLift(StreamingTransformer):
    """Products of pairs of columns, (x_i - c_i)(x_j - c_j) / s_ij: interactions, and squares where i = j.

    c are the column means, which makes products nearly uncorrelated with their factors, and s is the standard deviation
    of each product on the fitted rows. The rows of a `Source` are collected by `fit`; one of more than 10^8 entries is
    read twice instead.

    Use it for interactions of pairs in a model that is to be read. With hundreds of columns select the pairs first
    (`GreedySelector` with ``candidates="quadratic"``): all pairs are d (d + 1) / 2 columns.

    Parameters
    ----------
    pairs : sequence of pairs of columns, by index or by name
    center : bool, default=True
        Whether c are the weighted means of the columns; otherwise they are 0.
    scale : bool, default=True
        Whether s is the weighted standard deviation of each product (1 for a constant product); otherwise it is 1.

    Attributes
    ----------
    pairs_ : array of shape (n_pairs, 2), the indices of the columns
    centers_ : array of shape (n_pairs, 2), the means c_i and c_j
    scales_ : array of shape (n_pairs,), the standard deviations s

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.expand import ProductLift
    >>> X = np.array([[1.0, 4.0], [3.0, 0.0], [2.0, 2.0]])
    >>> lift = ProductLift([(0, 0), (0, 1)], scale=False).fit(X)
    >>> lift.get_feature_names_out().tolist()
    ['x0^2', 'x0 * x1']
    >>> lift.transform(X)
    array([[ 1., -2.],
           [ 1., -2.],
           [ 0.,  0.]])
    """

    _check_X = {"dtype": [np.float64, np.float32]}

    def __init__(self, pairs: Sequence[Any], center: bool = True, scale: bool = True) -> None:
        self.pairs = pairs
        self.center = center
        self.scale = scale

    partial_fit = available_if(_is_incremental)(StreamingEstimator.partial_fit)
    merge = available_if(_is_incremental)(StreamingEstimator.merge)

    def _check_parameters(self) -> None:
        if isinstance(self.pairs, str) or len(self.pairs) == 0 or any(len(pair) != 2 for pair in self.pairs):
            raise ValueError(
                f"pairs must be a sequence of pairs of columns, such as [(0, 1), (2, 2)], not {self.pairs!r}."
            )

    def _learn_from(self, source: Source) -> None:
        names = getattr(self, "feature_names_in_", None)
        names = None if names is None else list(names)
        pairs = [column_positions(pair, self.n_features_in_, names) for pair in self.pairs]
        self.pairs_ = np.array(pairs, dtype=np.int64)
        if is_too_large_to_collect(source, self.n_features_in_):
            self._learn_by_passes(source)
            return
        rows = source.collect()
        self.centers_, self.scales_ = np.zeros(self.pairs_.shape), np.ones(len(self.pairs_))
        if self.center:
            means = np.average(rows.X.astype(np.float64, copy=False), axis=0, weights=rows.weight)
            self.centers_ = means[self.pairs_]
        if self.scale:
            self.scales_ = self._standard_deviations(rows.X, rows.weight)

    def _learn_by_passes(self, source: Source) -> None:
        """Learn means and standard deviations in one pass each."""
        self.centers_, self.scales_ = np.zeros(self.pairs_.shape), np.ones(len(self.pairs_))
        if self.center:
            self.centers_ = source.fold(Moments()).finish().mean[self.pairs_]
        if self.scale:
            products = source.map(lambda block: block.with_X(self._products(block.X, np.dtype(np.float32))))
            with np.errstate(over="ignore", invalid="ignore"):
                found = np.sqrt(products.fold(Moments()).finish().var)
            self._refuse_infinite(found[None], np.dtype(np.float32))
            self.scales_ = np.where(found > 0, found, 1.0)

    def _standard_deviations(self, X: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            # Rounded to float32, the precision in which the search holds its features.
            products = self._products(X, np.dtype(np.float32)).astype(np.float64)
            deviations = products - np.average(products, axis=0, weights=weight)
            found = np.sqrt(np.average(deviations**2, axis=0, weights=weight))
        self._refuse_infinite(found[None], np.dtype(np.float32))
        return np.where(found > 0, found, 1.0)

    def _products(self, X: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """The products computed in float64, row by row in memory."""
        first, second = (X[:, self.pairs_[:, k]] - self.centers_[:, k] for k in (0, 1))
        return (first * second * (1.0 / self.scales_)).astype(dtype, order="C", copy=False)

    def _apply(self, X: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            products = self._products(X, X.dtype)
        self._refuse_infinite(products, X.dtype)
        return products

    def _refuse_infinite(self, products: np.ndarray, dtype: np.dtype) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(products.sum()) or np.isfinite(products).all():
                return
        name = self.get_feature_names_out()[int(np.argmin(np.isfinite(products).all(axis=0)))]
        raise ValueError(
            f"The product {name} exceeds the range of {dtype}: "
            "bring the columns to a common scale first (for example mercer.normalize.Standardize)."
        )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as "a * b", or "a^2" for a square."""
        names = self._input_names(input_features)
        pairs = self.pairs_.tolist()
        return np.array([f"{names[i]}^2" if i == j else f"{names[i]} * {names[j]}" for i, j in pairs], dtype=object)

    @property
    def _n_features_out(self) -> int:
        return len(self.pairs_)
