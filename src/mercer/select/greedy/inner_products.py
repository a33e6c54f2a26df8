"""Inner products between candidates and the target, from rows in memory or from a Gram matrix alone.

Both answer the same questions of a forward selection: what are the (centered) squares of all candidates and their
products with the target, and, once a candidate joins the basis q_1, q_2, ..., what are the products of the new
direction with all candidates? From rows that is one product X'q per step, q orthogonalized twice against the others;
from a Gram matrix it is one row of a pivoted Cholesky factor. Sums carry the weights of rows throughout. The target may
have several columns, such as the indicators of classes; a squared error is then the sum over all of them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer.linear.ridge.overflow import refuse_overflow
from mercer.select.greedy.candidates import Columns
from mercer.select.greedy.lookahead import LEAST_COLUMNS, Lookahead
from mercer.stats.gram import Normal

#: What is left of a candidate's squares once it depends on the others, in float64 (rounding adds to it elsewhere).
_DEPENDENT = 1e-10


class FromRows:
    """Geometry of candidates over rows in memory.

    `squares`, `products` : of all candidates, with themselves and with each target (a row); `target` : squares of it;
    `least` : squares at or below which a candidate depends on what is chosen; `weight` : sum of the weights.
    """

    def __init__(self, candidates: Columns, y: np.ndarray, weight: np.ndarray | None, centered: bool):
        self.candidates, self.row_weight = candidates, np.ones(len(y)) if weight is None else weight
        self.weight = float(self.row_weight.sum())
        spread = candidates.spread(self.row_weight, centered)
        refuse_overflow(spread.squares)
        self.mean, self.squares = spread.mean, spread.squares
        share = max(_DEPENDENT, 64 * candidates.rounding)
        self.least = np.maximum(share * self.squares, spread.least)
        targets = y.reshape(len(y), -1)
        self.y_mean = self.row_weight @ targets / self.weight if centered else np.zeros(targets.shape[1])
        self.y = targets - self.y_mean
        self.target = float(np.sum(self.row_weight @ self.y**2))
        refuse_overflow(self.target)
        self.products = np.stack([self._with_all(each) for each in self.y.T])
        self.basis = np.empty((0, len(y)))
        self.restart()

    def restart(self) -> None:
        """Forget the basis."""
        self.n_basis = 0
        wide = type(self.candidates) is Columns and not self.candidates.sparse and self.candidates.size >= LEAST_COLUMNS
        self.ahead = Lookahead(self) if wide else None

    def direction(self, j: int, state=None) -> tuple[np.ndarray, np.ndarray] | None:
        """The new basis vector's products with all candidates, and candidate j's coordinates in the basis.

        None, and no new vector, if candidate j depends on the basis. `state` is that of the selection, from which the
        choices after j can be guessed.
        """
        if state is not None and self.ahead is not None and (state.left > 1 or self.ahead.queue):
            return self.ahead.direction(j, state)
        coordinates = self.orthogonalized(j)
        if coordinates is None:
            return None
        self.n_basis += 1
        return self._with_all(self.basis[self.n_basis - 1]), coordinates

    def orthogonalized(self, j: int) -> np.ndarray | None:
        """Write what candidate j adds to the basis behind its end; its coordinates, or None if it adds nothing."""
        x = self.candidates.column(j) - self.mean[j]
        basis = self.basis[: self.n_basis]
        coordinates = np.zeros(self.n_basis)
        for _ in range(2):
            part = basis @ (self.row_weight * x)
            x -= part @ basis
            coordinates += part
        norm = float(self.row_weight @ x**2)
        if not norm > self.least[j]:
            return None
        self._keep(x / np.sqrt(norm))
        return np.append(coordinates, np.sqrt(norm))

    def inner(self, j: int) -> np.ndarray:
        """Products of candidate j with all candidates."""
        return self._with_all(self.candidates.column(j) - self.mean[j])

    def block(self, members: np.ndarray) -> np.ndarray:
        """Products among some candidates."""
        columns = np.stack([self.candidates.column(j) - self.mean[j] for j in members], axis=1)
        return columns.T @ (self.row_weight[:, None] * columns)

    def _with_all(self, x):
        v = self.row_weight * x
        return self.candidates.products(v) - self.mean * v.sum()

    def _keep(self, q):
        if self.n_basis == len(self.basis):
            room = np.empty((max(16, 2 * self.n_basis), len(q)))
            room[: self.n_basis] = self.basis
            self.basis = room
        self.basis[self.n_basis] = q


class FromGram:
    """The same geometry from normal equations alone: no row is looked at.

    `error` is the relative rounding error of the Gram matrix.
    """

    def __init__(self, normal: Normal, error: float, centered: bool, z_origin=0.0, y_origin=0.0):
        self.normal = normal
        if centered:
            self.mean, y_mean = normal.means()
        else:
            self.mean, y_mean = -z_origin * np.ones(len(normal.z)), -np.ravel(y_origin)
        self.y_mean, self.weight = y_mean, float(normal.weight)
        diagonal = normal.G.diagonal()
        squares = diagonal + self.mean * (self.weight * self.mean - 2.0 * normal.z)
        target = normal.Y.diagonal() + self.y_mean * (self.weight * self.y_mean - 2.0 * normal.y)
        refuse_overflow(np.append(squares, target))
        self.squares, self.target = np.maximum(squares, 0.0), max(float(target.sum()), 0.0)
        moved = normal.z - self.weight * self.mean
        self.products = normal.B.T - np.outer(normal.y, self.mean) - np.outer(self.y_mean, moved)
        noise = max(64 * np.finfo(float).eps, 100 * error)
        self.least = np.maximum(max(_DEPENDENT, noise) * self.squares, noise * diagonal)
        self.factor = np.empty((0, len(self.mean)))
        self.restart()

    def restart(self):
        """Forget the basis."""
        self.n_basis = 0

    def direction(self, j, state=None):
        """As in `FromRows`: row t of the Cholesky factor of G with pivots in the order of the calls."""
        above = self.factor[: self.n_basis]
        coordinates = above[:, j].copy()
        row = self.inner(j) - coordinates @ above
        if not row[j] > self.least[j]:
            return None
        row /= np.sqrt(row[j])
        self._keep(row)
        return row, np.append(coordinates, row[j])

    def inner(self, j):
        """Row j of the Gram matrix about the means, of which few rows are ever needed."""
        normal = self.normal
        return normal.G[j] - self.mean * normal.z[j] - self.mean[j] * (normal.z - self.weight * self.mean)

    def block(self, members):
        return self.only(members).about(self.mean[members], self.y_mean)[0]

    def only(self, members, normal: Normal | None = None) -> Normal:
        """The normal equations (these, or others of the same columns) of some columns."""
        of = self.normal if normal is None else normal
        return replace(of, z=of.z[members], G=of.G[np.ix_(members, members)], B=of.B[members])

    def _keep(self, row):
        if self.n_basis == len(self.factor):
            room = np.empty((max(16, 2 * self.n_basis), len(row)))
            room[: self.n_basis] = self.factor
            self.factor = room
        self.factor[self.n_basis] = row
        self.n_basis += 1
