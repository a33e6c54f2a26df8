"""Base of linear projections: number of components, blocks of rows, the matrix on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from mercer._numeric.block import Block
from mercer._runtime.pool import for_each
from mercer.base import StreamingTransformer, seed_of
from mercer.bounds import DistanceCertificate, jl_dimension
from mercer.bounds.arguments import check_accuracy, check_delta
from mercer.stats import Statistic

_LARGEST_MATRIX = 1 << 27  # entries that `matrix` is willing to write out: 1 GB
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class RowCount(Statistic):
    """Number of rows."""

    n: int = 0

    def of(self, block: Block) -> RowCount:
        return RowCount(len(block))

    def _merge(self, other: RowCount) -> RowCount:
        return RowCount(self.n + other.n)

    def finish(self) -> int:
        return self.n


class Projection(DistanceCertificate, ClassNamePrefixFeaturesOutMixin, StreamingTransformer):
    """A random linear map A from d columns to m, with E||Ax||^2 = ||x||^2.

    A subclass states `_draw()`, what of A it keeps, and `_write(X, rows, out)`, the product for some rows of X.
    The map depends on the data through d only, and with ``n_components="auto"`` through the number of rows.
    """

    def _check_parameters(self) -> None:
        auto = isinstance(self.n_components, str) and self.n_components == "auto"
        if not auto and (not _whole(self.n_components) or self.n_components < 1):
            raise ValueError(f"n_components must be 'auto' or a whole number of at least 1, not {self.n_components!r}.")
        check_accuracy(self.eps)
        check_delta(self.delta)

    def _empty(self) -> RowCount | None:
        return RowCount() if self.n_components == "auto" else None

    def _finish(self, learned: int | None) -> None:
        self.n_components_ = int(self.n_components) if learned is None else self._components_for(learned)
        drawn = (seed_of(self.random_state), self.n_components_, self.n_features_in_)
        if getattr(self, "_drawn", None) != drawn:
            self._drawn = drawn
            self._draw()

    def _components_for(self, n_rows: int) -> int:
        """The dimension that keeps the distances of n_rows points, or an error if it exceeds the number of columns."""
        m = self._possible(jl_dimension(self.eps, self.delta, n=max(n_rows, 2)))
        if m > self.n_features_in_:
            raise ValueError(
                f"To keep all squared distances of n_samples={n_rows} points within eps={self.eps} with "
                f"probability 1 - {self.delta} takes {m:,} components, but there are only "
                f"n_features={self.n_features_in_:,} columns: a projection would not reduce the dimension. "
                "Allow a larger eps or delta, set n_components, or omit the projection."
            )
        return m

    def _possible(self, m: int) -> int:
        """The smallest number of components from m on that this projection can have."""
        return m

    def _apply(self, X: Any) -> np.ndarray:
        out = np.empty((X.shape[0], self.n_components_), dtype=X.dtype)
        step = self._rows_per_block(out.itemsize)
        spans = [slice(i, min(i + step, len(out))) for i in range(0, len(out), step)]
        over_all(lambda rows: self._write(X, rows, out[rows]), spans)
        return out

    def _rows_per_block(self, itemsize: int) -> int:
        return max(1, _BLOCK_BYTES // (itemsize * self.n_components_))

    def matrix(self) -> np.ndarray:
        """The m x d matrix A of the map, written out (transform is x -> A x).

        For inspection and tests: transform does not need it, and only `GaussianProjection` stores it.
        """
        if self.n_components_ * self.n_features_in_ > _LARGEST_MATRIX:
            raise ValueError(
                f"The matrix of this map has {self.n_components_:,} x {self.n_features_in_:,} entries, too many to "
                "write out. Transform the rows of interest instead."
            )
        return np.ascontiguousarray(self._apply(np.eye(self.n_features_in_)).T)

    def _draw(self) -> None:
        """Draw what the map keeps, from the seed, `n_components_` and `n_features_in_`."""

    def _write(self, X: Any, rows: slice, out: np.ndarray) -> None:
        """Write A x for the named rows x of X, dense or CSR, into out."""
        raise NotImplementedError

    @property
    def _seed(self) -> int:
        return self._drawn[0]

    @property
    def _n_features_out(self) -> int:
        return self.n_components_


def over_all(function: Callable[[Any], None], spans: Sequence[Any]) -> None:
    """Call `function` on every span on all cores; a single one runs in the calling thread."""
    if len(spans) == 1:
        function(spans[0])
    else:
        for_each(function, spans)


def _whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
