"""The rank transform: every column gets the same distribution."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.base import OneToOneFeatureMixin

from mercer._runtime.loaded import require, require_increasing
from mercer._runtime.pool import ordered_map
from mercer.base import InvertibleTransformer
from mercer.normalize.elementwise import refuse_sparse
from mercer.normalize.ranks import columns_of, interpolate, knots, mid_ranks
from mercer.stats import Sample
from mercer.stats.sample import SAMPLE_ROWS, SampledRows

_MIN_RANK = 1e-7  # normal scores are limited to Phi^-1(1e-7) = -5.2


class Quantile(OneToOneFeatureMixin, InvertibleTransformer):
    """Replace each value by its rank: f <- F(f), or Phi^-1(F(f)) with the normal distribution function Phi.

    F is the mid-distribution function of the column, F(v) = (P(V < v) + P(V <= v)) / 2, at the knots and linear in
    between: nondecreasing, ties share their mid-rank, and the n-th of N distinct values has rank (n - 1/2)/N. The
    mean of F is 1/2, a constant column maps to 1/2 (normal: 0), and normal scores are at most 5.2 in absolute value.
    New values outside the range seen by `fit` map to the rank of its end.

    F is learned in one pass from a sample of `sample_size` distinct rows (those with the smallest hashes), the same
    for any split of the data into blocks. It is exact up to that many distinct rows. Beyond, the inequality of
    Dvoretzky, Kiefer, Wolfowitz and Massart bounds the error of all ranks of a column of k sampled rows
    simultaneously:

        |F - F_true| <= sqrt(ln(2/delta) / (2 k)) with probability 1 - delta

    (0.0127 for k = 16,384 and delta = 0.01); knots add at most 1/(n_quantiles - 1).

    Use it where only the order of values should count: heavy tails, arbitrary units. It distorts columns that act
    linearly; prefer `Standardize` there. It costs one pass with a sample.

    Parameters
    ----------
    n_quantiles : int >= 2, default 1000
        Number of probabilities at which quantiles are kept as knots; up to that many distinct values, all are.
    output : "uniform" or "normal", default "uniform"
    sample_size : int, default 16384

    Attributes
    ----------
    quantiles_ : list of n_features_in_ arrays
        Knots of each column, in increasing order.
    ranks_ : list of n_features_in_ arrays
        F at these knots.
    exact_ : bool
        Whether the sample contains all distinct rows.

    Examples
    --------
    >>> from mercer.normalize import Quantile
    >>> Quantile().fit_transform([[1.0], [10.0], [10.0], [1000.0]])
    array([[0.125],
           [0.5  ],
           [0.5  ],
           [0.875]])
    """

    _check_X = {"dtype": [np.float64, np.float32]}

    def __init__(self, n_quantiles: int = 1000, output: str = "uniform", sample_size: int = SAMPLE_ROWS):
        self.n_quantiles = n_quantiles
        self.output = output
        self.sample_size = sample_size

    def _check_parameters(self) -> None:
        if self.output not in ("uniform", "normal"):
            raise ValueError(f"output must be 'uniform' or 'normal', not {self.output!r}.")
        for name, minimum in (("n_quantiles", 2), ("sample_size", 1)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or int(value) < minimum:
                raise ValueError(f"{name} must be a whole number of at least {minimum}, not {value!r}.")

    def _empty(self) -> Sample:
        return Sample(size=int(self.sample_size))

    def _finish(self, learned: SampledRows) -> None:
        self.quantiles_: list[np.ndarray] = []
        self.ranks_: list[np.ndarray] = []
        for column in columns_of(learned.X):
            values, ranks, fraction = mid_ranks(column, learned.weight)
            kept = knots(fraction, self.n_quantiles)
            kept = kept[np.diff(ranks[kept], prepend=-1.0) > 0]  # a tiny weight may not change the rank
            self.quantiles_.append(values[kept])
            self.ranks_.append(ranks[kept])
        self.exact_ = learned.complete

    def _check_loaded(self) -> None:
        if hasattr(self, "quantiles_"):
            require_increasing("the knots of a column", self.quantiles_)
            require_increasing("the ranks of a column", self.ranks_)
            same = [len(knots) for knots in self.quantiles_] == [len(ranks) for ranks in self.ranks_]
            require(same, "a column has other knots than ranks")

    def _checked_X(self, X: Any, reset: bool | None, start: int = 0) -> Any:
        refuse_sparse(
            X,
            "Quantile",
            "the rank of zero is not zero",
            "Use X.toarray() if memory allows, or Log or Clip, which keep zeros.",
        )
        return super()._checked_X(X, reset, start)

    def _apply(self, X: np.ndarray) -> np.ndarray:
        return _by_column(X, self._forward)

    def _invert(self, X: Any) -> np.ndarray:
        refuse_sparse(X, "Quantile", "the inverse is dense", "Use X.toarray().")
        return _by_column(X, self._backward)

    def _forward(self, x: np.ndarray, j: int) -> np.ndarray:
        rank = interpolate(x, self.quantiles_[j], self.ranks_[j])
        if self.output == "uniform":
            return rank
        return ndtri(np.clip(rank, _MIN_RANK, 1.0 - _MIN_RANK))

    def _backward(self, z: np.ndarray, j: int) -> np.ndarray:
        rank = z if self.output == "uniform" else ndtr(z)
        return interpolate(rank, self.ranks_[j], self.quantiles_[j])


def _by_column(X: np.ndarray, function: Callable[[np.ndarray, int], np.ndarray]) -> np.ndarray:
    """Apply `function(column, j)` to every column of X."""
    out = np.empty_like(X, subok=False)
    columns = ordered_map(lambda j: function(X[:, j].astype(np.float64), j), range(X.shape[1]))
    for j, column in enumerate(columns):
        out[:, j] = column
    return out
