"""Ranks as features: every column gets the same distribution."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.base import OneToOneFeatureMixin

from mercer._runtime.pool import ordered_map
from mercer.base import InvertibleTransformer
from mercer.normalize.elementwise import refuse_sparse
from mercer.normalize.ranks import columns_of, interpolate, knots, mid_ranks
from mercer.stats import Sample
from mercer.stats.sample import SAMPLE_ROWS, SampledRows

_LEAST_RANK = 1e-7  # Phi^-1(1e-7) = -5.2: a normal score beyond would be a fiction


class Quantile(OneToOneFeatureMixin, InvertibleTransformer):
    """Replace each value by its rank: f <- F(f), or Phi^-1(F(f)) with the normal distribution function Phi.

    F is the mid-distribution function of the column, F(v) = (P(V < v) + P(V <= v)) / 2, at the values kept as
    knots and linear in between: never decreasing, ties share the middle of their ranks, and the n-th of N
    different values has rank (n - 1/2)/N. So the mean of F is 1/2, a constant column maps to 1/2 (normal: 0),
    and normal scores are finite (at most 5.2). New values beyond the range seen map to the rank of its end.

    F is learned in one pass from a sample of `sample_size` distinct rows (those with the smallest hashes),
    the same for any cut of the data. It is exact while there are no more distinct rows than that. Beyond, the
    inequality of Dvoretzky, Kiefer, Wolfowitz and Massart bounds the error of all ranks of a column of k
    sampled rows at once:

        |F - F_true| <= sqrt(ln(2/delta) / (2 k)) with probability 1 - delta

    (0.0127 for k = 16,384 and delta = 0.01); knots add at most 1/(n_quantiles - 1).

    Parameters
    ----------
    n_quantiles : int >= 2, default 1000
        Levels at which values are kept as knots; with no more distinct values than that all are kept.
    output : "uniform" or "normal", default "uniform"
    sample_size : int, default 16384

    Attributes
    ----------
    quantiles_ : list of n_features_in_ arrays
        The knots of each column, in increasing order.
    ranks_ : list of n_features_in_ arrays
        F at these knots.
    exact_ : bool
        Whether the sample held all distinct rows.

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

    def __init__(self, n_quantiles=1000, output="uniform", sample_size=SAMPLE_ROWS):
        self.n_quantiles = n_quantiles
        self.output = output
        self.sample_size = sample_size

    def _check_parameters(self):
        if self.output not in ("uniform", "normal"):
            raise ValueError(f"output must be 'uniform' or 'normal', not {self.output!r}.")
        for name, least in (("n_quantiles", 2), ("sample_size", 1)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < least:
                raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}.")

    def _empty(self):
        return Sample(size=int(self.sample_size))

    def _finish(self, learned: SampledRows):
        self.quantiles_, self.ranks_ = [], []
        for column in columns_of(learned.X):
            values, ranks, share = mid_ranks(column, learned.weight)
            kept = knots(share, self.n_quantiles)
            kept = kept[np.diff(ranks[kept], prepend=-1.0) > 0]  # a weight may be too small to raise the rank
            self.quantiles_.append(values[kept])
            self.ranks_.append(ranks[kept])
        self.exact_ = learned.complete

    def _checked_X(self, X, reset, start=0):
        refuse_sparse(
            X,
            "Quantile",
            "the rank of zero is not zero",
            "Use X.toarray() if memory allows, or Log or Clip, which keep zeros.",
        )
        return super()._checked_X(X, reset, start)

    def _apply(self, X):
        return _by_column(X, self._forward)

    def _invert(self, X):
        refuse_sparse(X, "Quantile", "the way back is dense", "Use X.toarray().")
        return _by_column(X, self._backward)

    def _forward(self, x, j):
        rank = interpolate(x, self.quantiles_[j], self.ranks_[j])
        if self.output == "uniform":
            return rank
        return ndtri(np.clip(rank, _LEAST_RANK, 1.0 - _LEAST_RANK))

    def _backward(self, z, j):
        rank = z if self.output == "uniform" else ndtr(z)
        return interpolate(rank, self.ranks_[j], self.quantiles_[j])


def _by_column(X, function):
    """An array like X with `function(column, j)` for its columns."""
    out = np.empty_like(X, subok=False)
    columns = ordered_map(lambda j: function(X[:, j].astype(np.float64), j), range(X.shape[1]))
    for j, column in enumerate(columns):
        out[:, j] = column
    return out
