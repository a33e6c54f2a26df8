"""The data fit 1/2 ||y - X w||^2 of the Lasso, from a Gram matrix or from columns in memory.

A data fit holds centered columns X (d of them) and a centered target y, and returns `gram(rows, columns)` = X'X and
`residual_correlations(columns, w, penalty)`: X'r for r = y - X w, wherever it could exceed the penalty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mercer._numeric.linalg import dense

#: Indices of the columns with a nonzero weight, and the weights.
Solution = tuple[np.ndarray, np.ndarray]

#: Fraction of columns beyond which reading all of them is as cheap as gathering those.
_READ_ALL_FRACTION = 0.2
#: Number of residual directions whose products with all columns are kept.
_MAX_DIRECTIONS = 16
#: Sparse data of at most this many entries, zeros included, are made dense, which is faster.
_MAX_DENSE_ENTRIES = 2**18
#: Centering by formula instead of by a copy is safe while no |mean| exceeds this many standard deviations.
_MAX_MEAN_TO_STD = 100.0


class ResidualCorrelations(NamedTuple):
    """Correlations X'r: exact at the columns `indices`, and elsewhere certainly not above the penalty in size."""

    indices: np.ndarray
    exact: np.ndarray
    estimate: np.ndarray  # one per column, exact at `indices`
    yr: float
    rr: float


class GramDatafit:
    """The data as centered G = X'X, b = X'y and yy = y'y."""

    def __init__(self, G: np.ndarray, b: np.ndarray, yy: float):
        self.G, self.b, self.yy = G, b, float(yy)
        self.all_columns = np.arange(len(b))

    def gram(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self.G[np.ix_(rows, columns)]

    def residual_correlations(self, columns: np.ndarray, w: np.ndarray, penalty: float) -> ResidualCorrelations:
        q = self.b - w @ self.G[columns]
        yr = self.yy - w @ self.b[columns]
        return ResidualCorrelations(self.all_columns, q, q, yr, yr - w @ q[columns])


class ColumnDatafit:
    """The data as columns in memory: dense, or sparse and centered by formula only.

    Most columns are screened without being read: with an orthonormal basis Q of a few former residuals, whose products
    P = X'Q are kept, Cauchy-Schwarz bounds every correlation by

        |x_j'r| <= |P_j Q'r| + ||x_j|| ||r - Q Q'r||,

    and residuals along a path lie close to the span of a few of them.
    """

    def __init__(self, X: Any, y: np.ndarray, weight: np.ndarray | None = None):
        root = np.ones(len(y)) if weight is None else np.sqrt(weight)
        total = float(root @ root)
        self.y_mean = float(root**2 @ y) / total
        self.y = root * (y - self.y_mean)
        if self.y @ self.y <= 1e-24 * total * self.y_mean**2:  # constant up to rounding
            self.y = np.zeros_like(self.y)
        self.yy = float(self.y @ self.y)
        self.root, self.total = root, total
        self.XT = _transposed(X, None if weight is None else root)
        self._center()
        self.b = self._times(self.y)
        norm = np.sqrt(self.yy)
        self.Q = np.zeros((0, len(y)))
        self.P = np.zeros((0, len(self.b)))
        if norm > 0:
            self._append_direction(self.y / norm, self.b / norm)

    def _center(self) -> None:
        self.mean = np.asarray(self.XT @ self.root) / self.total
        square = _row_squares(self.XT)
        centered = square - self.total * self.mean**2
        self.shift = self.mean
        far = square > (1.0 + _MAX_MEAN_TO_STD**2) * np.maximum(centered, 0.0)
        if not sparse.issparse(self.XT) and np.any(far & (square > 0)):
            self.XT = self.XT - np.outer(self.mean, self.root)
            self.shift = np.zeros_like(self.mean)
            centered = _row_squares(self.XT)
        rounding = 1e-14 * square  # the centered sum of squares of a constant column is noise
        self.square = np.where(centered > rounding, centered, 0.0)
        self.norm = np.sqrt(self.square)

    def _times(self, r: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """Return X'r for an r orthogonal to the roots of the weights."""
        if columns is None:
            product = np.asarray(self.XT @ r) - self.shift * (self.root @ r)
            return np.where(self.square > 0, product, 0.0)
        product = np.asarray(self.XT[columns] @ r) - self.shift[columns] * (self.root @ r)
        return np.where(self.square[columns] > 0, product, 0.0)

    def gram(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        A, B = self.XT[rows], self.XT[columns]
        product = (A @ B.T).toarray() if sparse.issparse(A) else A @ B.T
        product -= np.outer(self.total * self.shift[rows], self.shift[columns])
        product[self.square[rows] == 0] = 0.0
        product[:, self.square[columns] == 0] = 0.0
        return product

    def as_gram(self) -> GramDatafit:
        """Return the same data as a Gram matrix of all columns."""
        G = self.XT @ self.XT.T
        G -= np.outer(self.total * self.shift, self.shift)
        constant = self.square == 0
        G[constant], G[:, constant] = 0.0, 0.0
        return GramDatafit(G, self.b, self.yy)

    def residual(self, columns: np.ndarray, w: np.ndarray) -> np.ndarray:
        fitted = np.asarray(self.XT[columns].T @ w) - self.root * (self.shift[columns] @ w)
        return self.y - fitted

    def residual_correlations(self, columns: np.ndarray, w: np.ndarray, penalty: float) -> ResidualCorrelations:
        r = self.residual(columns, w)
        inside = self.Q @ r
        outside = r - inside @ self.Q
        norm = float(dense.norm(outside))
        estimate = inside @ self.P
        bound = np.abs(estimate) + norm * self.norm
        open_ = np.flatnonzero(bound > (1.0 - 1e-12) * penalty)
        if len(open_) > _READ_ALL_FRACTION * len(estimate):
            rest = self._times(outside)
            estimate = estimate + rest
            if norm > 1e-9 * np.sqrt(self.yy):  # otherwise its direction is rounding
                self._append_direction(outside / norm, rest / norm)
            open_ = np.arange(len(estimate))
        else:
            estimate[open_] = self._times(r, open_)
        return ResidualCorrelations(open_, estimate[open_], estimate, float(self.y @ r), float(r @ r))

    def _append_direction(self, direction: np.ndarray, product: np.ndarray) -> None:
        self.Q = np.vstack([self.Q[-(_MAX_DIRECTIONS - 1) :], direction])
        self.P = np.vstack([self.P[-(_MAX_DIRECTIONS - 1) :], product])


def _transposed(X: Any, root: np.ndarray | None) -> Any:
    """Return X' in row-major order, the rows of X scaled by `root`."""
    if sparse.issparse(X) and X.shape[0] * X.shape[1] <= _MAX_DENSE_ENTRIES:
        X = X.toarray()
    if sparse.issparse(X):
        XT = sparse.csr_array(X.T.tocsr()).astype(np.float64)
        return XT if root is None else sparse.csr_array(XT.multiply(root[None, :]).tocsr())
    XT = np.ascontiguousarray(X.T, dtype=np.float64)
    return XT if root is None else XT * root


def _row_squares(A: Any) -> np.ndarray:
    if sparse.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", A, A)
