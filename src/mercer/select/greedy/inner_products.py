"""Inner products between candidates and the target, from rows in memory or from a Gram matrix alone.

A forward selection needs the (centered) sums of squares of all candidates and their products with the target, and, once
a candidate joins the basis q_1, q_2, ..., the products of the new direction with all candidates. From rows that is one
product X'q per step, q orthogonalized twice against the others; from a Gram matrix it is one row of a pivoted Cholesky
factor. All sums carry the weights of rows. The target may have several columns, such as the indicators of classes; a
squared error is then the sum over all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.linear.ridge.overflow import refuse_overflow
from mercer.select.greedy.candidates import ColumnCandidates
from mercer.select.greedy.prefetch import MIN_COLUMNS, DirectionPrefetch
from mercer.stats.gram import Normal

if TYPE_CHECKING:
    from mercer.select.greedy.forward import SelectionState

#: Fraction of its sum of squares that remains of a candidate that depends on the others, in float64.
_DEPENDENT = 1e-10


class RowInnerProducts:
    """Inner products of candidates over rows in memory.

    `squares` : sums of squares of all candidates; `target_products` : their products with each target (one row each);
    `target_squares` : sum of squares of the target; `min_squares` : sums of squares at or below which a candidate
    depends on the selected ones; `weight` : sum of the row weights.
    """

    def __init__(self, candidates: ColumnCandidates, y: np.ndarray, weight: np.ndarray | None, centered: bool):
        self.candidates, self.row_weight = candidates, np.ones(len(y)) if weight is None else weight
        self.weight = float(self.row_weight.sum())
        moments = candidates.moments(self.row_weight, centered)
        refuse_overflow(moments.squares)
        self.mean, self.squares = moments.mean, moments.squares
        fraction = max(_DEPENDENT, 64 * candidates.rounding)
        self.min_squares = np.maximum(fraction * self.squares, moments.min_squares)
        targets = y.reshape(len(y), -1)
        self.y_mean = self.row_weight @ targets / self.weight if centered else np.zeros(targets.shape[1])
        self.y = targets - self.y_mean
        self.target_squares = float(np.sum(self.row_weight @ self.y**2))
        refuse_overflow(self.target_squares)
        self.target_products = np.stack([self._with_vector(each) for each in self.y.T])
        self.basis = np.empty((0, len(y)))
        self.restart()

    def restart(self) -> None:
        """Clear the basis."""
        self.n_basis = 0
        plain = type(self.candidates) is ColumnCandidates and not self.candidates.sparse
        self.prefetch = DirectionPrefetch(self) if plain and self.candidates.size >= MIN_COLUMNS else None

    def direction(self, j: int, state: SelectionState | None = None) -> tuple[np.ndarray, np.ndarray] | None:
        """Add candidate j to the basis; return the products of the new vector with all candidates, and coordinates.

        The coordinates are those of candidate j in the basis. Returns None if candidate j depends on the basis. `state`
        is that of the selection, from which the choices after j are predicted.
        """
        if state is not None and self.prefetch is not None and (state.steps_left > 1 or self.prefetch.queue):
            return self.prefetch.direction(j, state)
        coordinates = self.orthogonalize(j)
        if coordinates is None:
            return None
        self.n_basis += 1
        return self._with_vector(self.basis[self.n_basis - 1]), coordinates

    def orthogonalize(self, j: int) -> np.ndarray | None:
        """Write the direction of candidate j after the end of the basis; return its coordinates, None if dependent."""
        x = self.candidates.column(j) - self.mean[j]
        basis = self.basis[: self.n_basis]
        coordinates = np.zeros(self.n_basis)
        for _ in range(2):
            part = basis @ (self.row_weight * x)
            x -= part @ basis
            coordinates += part
        norm = float(self.row_weight @ x**2)
        if not norm > self.min_squares[j]:
            return None
        self.basis = _with_row(self.basis, self.n_basis, x / np.sqrt(norm))
        return np.append(coordinates, np.sqrt(norm))

    def with_candidate(self, j: int) -> np.ndarray:
        """Return the products of candidate j with all candidates."""
        return self._with_vector(self.candidates.column(j) - self.mean[j])

    def block(self, members: np.ndarray) -> np.ndarray:
        """Return the Gram matrix of some candidates."""
        columns = np.stack([self.candidates.column(j) - self.mean[j] for j in members], axis=1)
        return columns.T @ (self.row_weight[:, None] * columns)

    def _with_vector(self, x: np.ndarray) -> np.ndarray:
        v = self.row_weight * x
        return self.candidates.products(v) - self.mean * v.sum()


class GramInnerProducts:
    """The same inner products from normal equations, without any row.

    `error` is the relative rounding error of the Gram matrix.
    """

    def __init__(self, normal: Normal, error: float, centered: bool, z_origin: Any = 0.0, y_origin: Any = 0.0):
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
        self.squares, self.target_squares = np.maximum(squares, 0.0), max(float(target.sum()), 0.0)
        shifted = normal.z - self.weight * self.mean
        self.target_products = normal.B.T - np.outer(normal.y, self.mean) - np.outer(self.y_mean, shifted)
        noise = max(64 * np.finfo(float).eps, 100 * error)
        self.min_squares = np.maximum(max(_DEPENDENT, noise) * self.squares, noise * diagonal)
        self.factor = np.empty((0, len(self.mean)))
        self.restart()

    def restart(self) -> None:
        """Clear the basis."""
        self.n_basis = 0

    def direction(self, j: int, state: SelectionState | None = None) -> tuple[np.ndarray, np.ndarray] | None:
        """As in `RowInnerProducts`: the next row of the Cholesky factor of G, pivots in the order of the calls."""
        above = self.factor[: self.n_basis]
        coordinates = above[:, j].copy()
        row = self.with_candidate(j) - coordinates @ above
        if not row[j] > self.min_squares[j]:
            return None
        row /= np.sqrt(row[j])
        self.factor = _with_row(self.factor, self.n_basis, row)
        self.n_basis += 1
        return row, np.append(coordinates, row[j])

    def with_candidate(self, j: int) -> np.ndarray:
        """Return row j of the centered Gram matrix, of which few rows are ever needed."""
        normal = self.normal
        return normal.G[j] - self.mean * normal.z[j] - self.mean[j] * (normal.z - self.weight * self.mean)

    def block(self, members: np.ndarray) -> np.ndarray:
        """Return the Gram matrix of some candidates."""
        return self.restrict(members).about(self.mean[members], self.y_mean)[0]

    def restrict(self, members: np.ndarray | list[int], normal: Normal | None = None) -> Normal:
        """Return the normal equations (these, or others of the same columns) of some columns."""
        of, index = self.normal if normal is None else normal, np.asarray(members, dtype=np.intp)
        return replace(of, z=of.z[index], G=of.G[np.ix_(index, index)], B=of.B[index])


def _with_row(buffer: np.ndarray, n: int, row: np.ndarray) -> np.ndarray:
    """Write row n of a buffer, which is doubled if it is full."""
    if n == len(buffer):
        larger = np.empty((max(16, 2 * n), len(row)))
        larger[:n] = buffer
        buffer = larger
    buffer[n] = row
    return buffer
