"""What the Lasso needs to know of its data: correlations with the residual, from a Gram matrix or from columns.

A problem holds centered columns X (d of them) and a centered target y, and answers `gram(rows, columns)` = X'X and
`look(places, w, penalty)`: the correlations X'r of r = y - X w, wherever they could exceed the penalty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

#: A share of columns beyond which reading all of them is as cheap as gathering those.
_MANY = 0.2
#: Directions of which the products with all columns are kept.
_SPAN = 16
#: Sparse data of so few entries, zeros included, are faster dense.
_SMALL = 2**18
#: Centering by formula instead of by a copy is safe while no mean exceeds its column's spread by more.
_OFFSET = 100.0


class Look(NamedTuple):
    """Correlations X'r: exact at `places`, and elsewhere certainly not above the penalty in size."""

    places: np.ndarray
    exact: np.ndarray
    guess: np.ndarray  # one per column, exact at `places`
    yr: float
    rr: float


class GramProblem:
    """The data as centered G = X'X, b = X'y and yy = y'y."""

    def __init__(self, G, b, yy):
        self.G, self.b, self.yy = G, b, float(yy)
        self.everywhere = np.arange(len(b))

    def gram(self, rows, columns):
        return self.G[np.ix_(rows, columns)]

    def look(self, places, w, penalty) -> Look:
        q = self.b - w @ self.G[places]
        yr = self.yy - w @ self.b[places]
        return Look(self.everywhere, q, q, yr, yr - w @ q[places])


class ColumnProblem:
    """The data as columns in memory: dense, or sparse and centered by formula only.

    Most columns are cleared without being read: with an orthonormal basis Q of a few former residuals, whose products
    P = X'Q are kept, Cauchy-Schwarz bounds every correlation by

        |x_j'r| <= |P_j Q'r| + ||x_j|| ||r - Q Q'r||,

    and residuals along a path lie close to the span of a few of them.
    """

    def __init__(self, X, y, weight=None):
        root = np.ones(len(y)) if weight is None else np.sqrt(weight)
        total = float(root @ root)
        self.y_mean = float(root**2 @ y) / total
        self.y = root * (y - self.y_mean)
        if self.y @ self.y <= 1e-24 * total * self.y_mean**2:  # constant up to rounding
            self.y = np.zeros_like(self.y)
        self.yy = float(self.y @ self.y)
        self.root, self.total = root, total
        self.XT = _rows_are_columns(X, None if weight is None else root)
        self._center()
        self.b = self._times(self.y)
        length = np.sqrt(self.yy)
        self.Q = np.zeros((0, len(y)))
        self.P = np.zeros((0, len(self.b)))
        if length > 0:
            self._remember(self.y / length, self.b / length)

    def _center(self):
        self.mean = np.asarray(self.XT @ self.root) / self.total
        square = _row_squares(self.XT)
        left = square - self.total * self.mean**2
        self.shift = self.mean
        far = square > (1.0 + _OFFSET**2) * np.maximum(left, 0.0)
        if not sparse.issparse(self.XT) and np.any(far & (square > 0)):
            self.XT = self.XT - np.outer(self.mean, self.root)
            self.shift = np.zeros_like(self.mean)
            left = _row_squares(self.XT)
        rounding = 1e-14 * square  # what is left of a constant column is noise
        self.square = np.where(left > rounding, left, 0.0)
        self.norm = np.sqrt(self.square)

    def _times(self, r, places=None):
        """X'r for an r without a component along the weights' roots."""
        if places is None:
            product = np.asarray(self.XT @ r) - self.shift * (self.root @ r)
            return np.where(self.square > 0, product, 0.0)
        product = np.asarray(self.XT[places] @ r) - self.shift[places] * (self.root @ r)
        return np.where(self.square[places] > 0, product, 0.0)

    def gram(self, rows, columns):
        A, B = self.XT[rows], self.XT[columns]
        product = (A @ B.T).toarray() if sparse.issparse(A) else A @ B.T
        product -= np.outer(self.total * self.shift[rows], self.shift[columns])
        product[self.square[rows] == 0] = 0.0
        product[:, self.square[columns] == 0] = 0.0
        return product

    def as_gram(self) -> GramProblem:
        """The same data as a Gram matrix of all columns."""
        G = self.XT @ self.XT.T
        G -= np.outer(self.total * self.shift, self.shift)
        flat = self.square == 0
        G[flat], G[:, flat] = 0.0, 0.0
        return GramProblem(G, self.b, self.yy)

    def residual(self, places, w):
        fitted = np.asarray(self.XT[places].T @ w) - self.root * (self.shift[places] @ w)
        return self.y - fitted

    def look(self, places, w, penalty) -> Look:
        r = self.residual(places, w)
        inside = self.Q @ r
        outside = r - inside @ self.Q
        left = float(np.linalg.norm(outside))
        guess = inside @ self.P
        bound = np.abs(guess) + left * self.norm
        open_ = np.flatnonzero(bound > (1.0 - 1e-12) * penalty)
        if len(open_) > _MANY * len(guess):
            rest = self._times(outside)
            guess = guess + rest
            if left > 1e-9 * np.sqrt(self.yy):  # else rounding has made its direction
                self._remember(outside / left, rest / left)
            open_ = np.arange(len(guess))
        else:
            guess[open_] = self._times(r, open_)
        return Look(open_, guess[open_], guess, float(self.y @ r), float(r @ r))

    def _remember(self, direction, product):
        self.Q = np.vstack([self.Q[-(_SPAN - 1) :], direction])
        self.P = np.vstack([self.P[-(_SPAN - 1) :], product])


def _rows_are_columns(X, root):
    """X', row by row in memory, each column of X weighed by `root`."""
    if sparse.issparse(X) and X.shape[0] * X.shape[1] <= _SMALL:
        X = X.toarray()
    if sparse.issparse(X):
        XT = sparse.csr_array(X.T.tocsr()).astype(np.float64)
        return XT if root is None else sparse.csr_array(XT.multiply(root[None, :]).tocsr())
    XT = np.ascontiguousarray(X.T, dtype=np.float64)
    return XT if root is None else XT * root


def _row_squares(A):
    if sparse.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", A, A)
