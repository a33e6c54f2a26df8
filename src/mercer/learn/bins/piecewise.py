"""Piecewise-linear encoding of numeric columns."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from mercer._runtime.checks import check_whole
from mercer._runtime.loaded import require_increasing
from mercer._runtime.pool import for_each
from mercer.base import StreamingTransformer
from mercer.normalize.elementwise import refuse_sparse
from mercer.normalize.ranks import balanced_edges, columns_of
from mercer.stats import Sample
from mercer.stats.sample import SAMPLE_ROWS, SampledRows

#: Numbers written at a time.
_CHUNK_ENTRIES = 1 << 17


class PiecewiseEncoding(StreamingTransformer):
    """Base of encodings along `bins_`, the increasing edges of each column."""

    _check_X = {"dtype": [np.float64, np.float32]}
    bins_: list[np.ndarray]

    def _check_loaded(self) -> None:
        require_increasing("the edges of a column", getattr(self, "bins_", ()))

    def _checked_X(self, X: Any, reset: bool | None, start: int = 0) -> Any:
        refuse_sparse(
            X,
            type(self).__name__,
            "a zero is in a bin like any number",
            "Use X.toarray() on the columns to be encoded.",
        )
        return super()._checked_X(X, reset, start)

    def _apply(self, X: Any) -> Any:
        return encode(X, self.bins_)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as `age[18:25]`: the column and the ends of the bin."""
        names = self._input_names(input_features)
        pairs = zip(names, self.bins_, strict=True)
        return np.array([label for name, edges in pairs for label in bin_names(name, edges)], dtype=object)


class PiecewiseLinear(PiecewiseEncoding):
    """Piecewise-linear basis of each column, along edges b_0 < b_1 < ... < b_T:

        z_t = clip((x - b_(t-1)) / (b_t - b_(t-1)), 0, 1),   t = 1..T,

    0 before a bin, 1 after it and linear inside, so that a linear model of z is a continuous, piecewise-linear function
    of x: a linear spline with its knots at the edges. Values beyond the first and the last edge are clipped.

    Edges are quantiles, so bins hold equal fractions of the rows; a more frequent single value has a bin of its own. A
    column of few distinct values has an edge at each, a constant column has no bins and gives no columns. Quantiles
    come from a sample of distinct rows as in `Quantile`, the same for any cut of the data.

    Use it where the effect of single columns is not linear, and to have curves to look at. It knows no interactions:
    add `ProductLift` or `TreeFeatures`. It costs one pass for the quantiles.

    Parameters
    ----------
    n_bins : int, default=24
    sample_size : int, default=16384

    Attributes
    ----------
    bins_ : list of n_features_in_ arrays, the edges of each column
    exact_ : bool, whether the sample held all distinct rows

    References
    ----------
    Gorishniy, Rubachev and Babenko, "On embeddings for numerical features in tabular deep learning", 2022.

    Examples
    --------
    >>> from mercer.learn import PiecewiseLinear
    >>> PiecewiseLinear(n_bins=2).fit([[0.0], [1.0], [5.0]]).transform([[0.5], [3.0], [9.0]])
    array([[0.5, 0. ],
           [1. , 0.5],
           [1. , 1. ]])
    """

    def __init__(self, n_bins: int = 24, sample_size: int = SAMPLE_ROWS):
        self.n_bins = n_bins
        self.sample_size = sample_size

    def _check_parameters(self) -> None:
        check_whole("n_bins", self.n_bins)
        check_whole("sample_size", self.sample_size)

    def _empty(self) -> Sample:
        return Sample(size=int(self.sample_size))

    def _finish(self, learned: SampledRows) -> None:
        self.bins_ = [balanced_edges(column, learned.weight, self.n_bins) for column in columns_of(learned.X)]
        self.exact_ = learned.complete


def encode(X: np.ndarray, bins: list[np.ndarray]) -> np.ndarray:
    """The piecewise-linear encoding of each column along its edges, side by side, in blocks of rows on all cores."""
    widths = [max(len(edges) - 1, 0) for edges in bins]
    starts = np.concatenate([[0], np.cumsum(widths)]).astype(int)
    out = np.empty((X.shape[0], starts[-1]), dtype=X.dtype)
    step = max(1, _CHUNK_ENTRIES // max(1, int(starts[-1])))

    def fill(start: int) -> None:
        rows = slice(start, start + step)
        for j, edges in enumerate(bins):
            if widths[j]:
                _progress(X[rows, j], edges, out[rows, starts[j] : starts[j + 1]])

    for_each(fill, range(0, X.shape[0], step))
    return out


def _progress(x: np.ndarray, edges: np.ndarray, out: np.ndarray) -> None:
    """Write clip((x - b_(t-1)) / (b_t - b_(t-1)), 0, 1)."""
    index, part = locate(x, edges)
    out[...] = np.tri(len(edges) - 1, k=-1, dtype=out.dtype)[index]  # ones in the bins before
    out[np.arange(len(x)), index] = part


def locate(x: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bin of each value and its relative position inside, in float64; values beyond the edges are clipped."""
    x = np.clip(x.astype(np.float64), edges[0], edges[-1])
    index = np.minimum(np.searchsorted(edges, x, side="right") - 1, len(edges) - 2)
    unit = 0.5 if max(-edges[0], edges[-1]) > 0.25 * np.finfo(np.float64).max else 1.0  # differences must not overflow
    low = unit * edges[index]
    return index, (unit * x - low) / (unit * edges[index + 1] - low)


def bin_names(name: str, edges: np.ndarray) -> list[str]:
    """`name[a:b]` for each bin, with enough digits to distinguish the edges."""
    for digits in range(3, 18):
        shown = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(shown)) == len(shown):
            break
    return [f"{name}[{low}:{high}]" for low, high in pairwise(shown)]
