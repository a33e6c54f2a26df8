"""Projections with independent normal entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.project.base import Projection, over_all

#: Components drawn from one stream of random numbers.
_STREAM = 64
#: Without a key of its own, seed 0 would draw the very numbers of `numpy.random.default_rng(0)`, from which the data of
#: many experiments come: a matrix that repeats the data stretches them twentyfold.
_KEY = 0x4761757373


class GaussianProjection(Projection):
    """A x with independent entries A_ij ~ N(0, 1/m).

    For every fixed x, m ||A x||^2 / ||x||^2 has exactly the chi-square law with m degrees of freedom (Johnson and
    Lindenstrauss 1984; Dasgupta and Gupta 2003), so ``n_components="auto"`` is exact: the smallest m whose
    chi-square tails keep every squared distance of the n rows seen by `fit` within a factor of 1 +- eps, all at once,
    with probability 1 - delta (`mercer.bounds.jl_dimension`).

    The matrix is stored, d x m numbers. For many columns, or sparse ones, use `SparseProjection`.

    Use it for dense rows where the exact guarantee counts; `HadamardProjection` is faster for thousands of columns. A
    row costs d m operations.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of output columns m. "auto" counts the rows in one pass; a number needs no pass.
    eps, delta : float, default=0.1, 0.01
        Accuracy and probability of failure that "auto" guarantees.
    random_state : int, RandomState or None, default=0
        The same seed gives the same map on any machine; up to the scale 1/sqrt(m) a smaller map is the beginning of a
        larger one.

    Attributes
    ----------
    n_components_ : int, the m used
    components_ : array of shape (m, n_features), the matrix A

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.project import GaussianProjection
    >>> X = np.random.default_rng(0).normal(size=(50, 10_000))
    >>> Y = GaussianProjection(eps=0.3).fit_transform(X)
    >>> Y.shape
    (50, 490)
    >>> before, after = np.sum((X[0] - X[1]) ** 2), np.sum((Y[0] - Y[1]) ** 2)
    >>> print(f"squared distance times {after / before:.2f}")
    squared distance times 0.98
    """

    def __init__(
        self, n_components: int | str = "auto", eps: float = 0.1, delta: float = 0.01, random_state: Any = 0
    ) -> None:
        self.n_components = n_components
        self.eps = eps
        self.delta = delta
        self.random_state = random_state

    def _draw(self) -> None:
        # d x m: its rows are what a sparse product reads.
        drawn = np.empty((self.n_features_in_, self.n_components_))
        over_all(lambda first: self._draw_stream(first, drawn), range(0, self.n_components_, _STREAM))
        self._columns = {np.dtype(np.float64): drawn}

    def _draw_stream(self, first: int, drawn: np.ndarray) -> None:
        part = drawn[:, first : first + _STREAM]
        stream = np.random.default_rng([_KEY, self._seed, first // _STREAM])
        part[...] = stream.standard_normal(part.shape[::-1]).T / np.sqrt(self.n_components_)

    def _apply(self, X: Any) -> np.ndarray:
        if X.dtype not in self._columns:
            self._columns[X.dtype] = self._columns[np.dtype(np.float64)].astype(X.dtype)
        return super()._apply(X)

    def _write(self, X: Any, rows: Any, out: np.ndarray) -> None:
        if hasattr(X, "tocsr"):
            out[...] = X[rows] @ self._columns[X.dtype]
        else:
            np.matmul(X[rows], self._columns[X.dtype], out=out)

    def _rows_per_block(self, itemsize: int) -> int:
        return 512  # a product of fewer rows does not reach the speed of the machine

    @property
    def components_(self) -> np.ndarray:
        return self._columns[np.dtype(np.float64)].T

    def matrix(self) -> np.ndarray:
        """The m x d matrix A of the map."""
        return self.components_.copy()

    def __getstate__(self) -> dict[str, Any]:
        # The float32 copy is made again where it is needed.
        state = super().__getstate__()
        if "_columns" in state:
            double = np.dtype(np.float64)
            state = {**state, "_columns": {double: state["_columns"][double]}}
        return state
