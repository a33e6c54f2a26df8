"""Least squares from the triangular factor of the rows, where Gram matrices would lose half of the digits.

The solution of R w = Q'y has the error of an orthogonal factorization (Wedin 1973). Where rows can be read again,
residuals in extended precision correct it by the semi-normal equations

    R'R d = X'(y - X w),   w <- w + d,

with one pass over rows in a stream for each correction (Bjorck 1987).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mercer._numeric.linalg import dense
from mercer.source import MemorySource, Source
from mercer.stats.gram import GramPerFold

_ROUNDOFF = np.finfo(np.float64).eps / 2
_CORRECTIONS = 6
#: Estimated errors from which on the rows are read again.
_MAX_ERROR = 1e-10
#: Entries of rows in memory that are always corrected, and at most.
_FEW_ENTRIES, _MAX_ENTRIES = 100_000, 20_000_000


class Solution(NamedTuple):
    """Weights (columns, targets), an estimate of their relative error, and the condition number of the columns."""

    coef: np.ndarray
    intercept: np.ndarray
    error: float
    condition: float


@dataclass(frozen=True)
class PivotedQR:
    """The centered columns of the factor, those that vary divided by powers of two near their lengths: A P = Q R."""

    varying: np.ndarray
    scale: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    order: np.ndarray

    @classmethod
    def of(cls, A: np.ndarray, varying: np.ndarray) -> PivotedQR:
        """Factor the varying columns of A."""
        scale = np.ldexp(1.0, -np.frexp(dense.norm(A[:, varying], axis=0))[1])
        Q, R, order = dense.pivoted_qr(A[:, varying] * scale)
        return cls(varying, scale, Q, R, order)

    def independent(self, tolerance: float) -> bool:
        """Whether no column depends on the others up to rounding."""
        pivots = np.abs(self.R.diagonal())
        return len(self.R) == self.R.shape[1] and bool(np.all(pivots > tolerance * pivots[:1].max(initial=0.0)))

    def solve(self, rotated: np.ndarray) -> np.ndarray:
        """R w = rotated, for all columns; 0 for those that do not vary."""
        return self._in_place(dense.solve_triangular(self.R, rotated))

    def solve_normal(self, gradient: np.ndarray) -> np.ndarray:
        """R'R w = gradient."""
        g = (gradient[self.varying] * self.scale[:, None])[self.order]
        return self._in_place(dense.solve_triangular(self.R, dense.solve_triangular(self.R, g, trans=1)))

    def _in_place(self, found: np.ndarray) -> np.ndarray:
        chosen = np.empty(found.shape)
        chosen[self.order] = found
        coef = np.zeros((len(self.varying), found.shape[1]))
        coef[self.varying] = chosen * self.scale[:, None]
        return coef

    def condition(self) -> float:
        """The condition number of the scaled columns."""
        values = dense.svd(self.R, compute_uv=False)
        return float(values[0] / values[-1]) if len(values) and values[-1] > 0 else 1.0

    def error(self, coef: np.ndarray, residual: np.ndarray) -> float:
        """The relative error of the worst weight, to first order: u |e_j R^-1| |R| (|w| + |R^-1| |r|) / |w_j|.

        A weight that contributes less than a millionth of the largest is compared with that.
        """
        if not len(self.R):
            return 0.0
        inverse = dense.solve_triangular(self.R, np.eye(len(self.R)))
        weights = ((coef[self.varying] / self.scale[:, None])[self.order]).astype(np.float64)
        size, amplified = dense.norm(weights, axis=0), dense.norm(inverse, ord=2) * residual
        bound = np.outer(dense.norm(inverse, axis=1), dense.norm(self.R) * (size + amplified))
        scale = np.maximum(np.abs(weights), 1e-6 * np.abs(weights).max(axis=0))
        return float(_ROUNDOFF * np.max(bound / np.where(scale > 0, scale, np.inf)))


def solve(learned: GramPerFold, rows: Source | None) -> Solution:
    """The weights of least squares, of smallest norm if columns depend on one another."""
    R, D = learned.triangle.R, len(learned.z_origin)
    R = np.vstack([R, np.zeros((R.shape[1] - len(R), R.shape[1]))])
    A, targets = R[1:, 1 : 1 + D], R[1:, 1 + D :]
    tolerance = 4 * learned.triangle.precision * np.sqrt(learned.n)
    # What is left of a constant column is rounding.
    offset = np.abs(R[0, 1 : 1 + D] + R[0, 0] * learned.z_origin)
    columns = PivotedQR.of(A[:D], dense.norm(A, axis=0) > tolerance * offset)
    if not columns.independent(tolerance):
        coef = _smallest_norm(A[:D] * columns.varying, targets[:D], tolerance)
        return Solution(coef, _intercept(learned, R, coef), 0.0, np.inf)
    coef = columns.solve(columns.Q.T @ targets[:D])
    error = columns.error(coef, dense.norm(targets[D:], axis=0))
    found = Solution(coef, _intercept(learned, R, coef), error, columns.condition())
    return found if rows is None else _corrected(found, rows, columns, learned, tolerance)


def _corrected(found: Solution, rows: Source, columns: PivotedQR, learned: GramPerFold, tolerance: float) -> Solution:
    in_memory = isinstance(rows, MemorySource) and not hasattr(rows.X, "tocsr") and rows.X.size <= _MAX_ENTRIES
    if isinstance(rows, MemorySource) and in_memory and (rows.X.size <= _FEW_ENTRIES or found.error > _MAX_ERROR):
        return _by_rows(rows.read(0, rows.n_rows), columns.varying, tolerance, found)
    return _by_passes(rows, columns, learned, found) if found.error > _MAX_ERROR else found


def _smallest_norm(A: np.ndarray, targets: np.ndarray, tolerance: float) -> np.ndarray:
    """The solution of smallest norm, by singular values."""
    U, values, V = dense.svd(A, full_matrices=False)
    reached = values > tolerance * values[:1].max(initial=0.0)
    return (V[reached].T / values[reached]) @ (U[:, reached].T @ targets)


def _intercept(learned: GramPerFold, R: np.ndarray, coef: np.ndarray) -> np.ndarray:
    D = len(coef)
    extended = coef.astype(np.longdouble)
    inner = (R[0, 1 + D :] - R[0, 1 : 1 + D] @ extended) / R[0, 0]
    return (learned.y_origin + inner - learned.z_origin @ extended).astype(np.float64)


def _by_rows(block: Any, varying: np.ndarray, tolerance: float, found: Solution) -> Solution:
    """QR of the centered columns, with residuals in extended precision."""
    X, Y = np.asarray(block.X, dtype=np.longdouble), np.asarray(block.y, dtype=np.longdouble).reshape(len(block), -1)
    weight = np.ones(len(X)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    total = weight.sum(dtype=np.longdouble)
    center, y_center = weight @ X / total, weight @ Y / total
    root = np.sqrt(weight)[:, None]
    X, Y = root * (X - center), root * (Y - y_center)
    columns = PivotedQR.of(X.astype(np.float64), varying)
    if not columns.independent(tolerance):
        return found
    coef, step = columns.solve(columns.Q.T @ Y.astype(np.float64)).astype(np.longdouble), np.zeros(0)
    for _ in range(3):
        step = columns.solve_normal((X.T @ (Y - X @ coef)).astype(np.float64))
        coef = coef + step
    intercept = (y_center - center @ coef).astype(np.float64)
    return Solution(coef.astype(np.float64), intercept, _relative(step, coef), found.condition)


def _by_passes(source: Source, columns: PivotedQR, learned: GramPerFold, found: Solution) -> Solution:
    """Corrected semi-normal equations; a correction that does not shrink is the last."""
    z_mean, y_mean = learned.total.means()
    center, y_center = learned.z_origin + z_mean, learned.y_origin + y_mean
    coef, mean, last = found.coef.astype(np.longdouble), np.zeros(found.coef.shape[1]), found.error
    for _ in range(_CORRECTIONS):
        gradient, mean = _gradient(source, coef, center, y_center)
        step = columns.solve_normal(gradient.astype(np.float64))
        size = _relative(step, coef)
        if not size < 0.5 * last:
            break
        coef, last = coef + step, size
        if size < 4 * _ROUNDOFF:
            break
    intercept = (y_center + mean - center @ coef).astype(np.float64)
    return Solution(coef.astype(np.float64), intercept, last, found.condition)


def _gradient(
    source: Source, coef: np.ndarray, center: np.ndarray, y_center: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """X'(y - X w) of centered rows, and the mean of the residuals, in one pass in extended precision."""
    D, targets = coef.shape
    gradient = np.zeros((D, targets), dtype=np.longdouble)
    columns, residuals, total = np.zeros(D, np.longdouble), np.zeros(targets, np.longdouble), 0.0
    for block in source.blocks():
        X = block.X.toarray() if hasattr(block.X, "toarray") else block.X
        X = np.asarray(X, dtype=np.longdouble) - center
        r = np.asarray(block.y, dtype=np.longdouble).reshape(len(X), -1) - y_center - X @ coef
        weight = np.ones(len(X)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        gradient += X.T @ (weight[:, None] * r)
        columns, residuals, total = columns + weight @ X, residuals + weight @ r, total + float(weight.sum())
    mean = residuals / total
    return gradient - np.outer(columns, mean), mean


def _relative(step: np.ndarray, coef: np.ndarray) -> float:
    size = np.abs(coef).max(axis=0, initial=0.0)
    return float(np.max(np.abs(step).max(axis=0, initial=0.0) / np.where(size > 0, size, 1.0), initial=0.0))
