"""Triangular factors of rows, which keep the digits that Gram matrices lose.

The factor R of a QR factorization of rows has R'R = X'X, but the condition number of the columns themselves, not its
square. Factors merge: the R of two stacked factors is the R of all their rows (tall skinny QR; Demmel, Grigori,
Hoemmen and Langou 2012).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from mercer._numeric.block import Block
from mercer._numeric.linalg import dense
from mercer._runtime.pool import ordered_map
from mercer.stats.gram import Gram, GramPerFold

#: Rows that are factored at once, at least; a multiple of the number of columns where that is more.
_ROWS = 1024


@dataclass(frozen=True)
class Triangle:
    """R of the rows sqrt(w) [1, z, y], and the unit roundoff of the values, that of float32 if any were float32.

    It has at most as many rows as columns. z and y are measured from the origins of the Gram matrices beside it.
    """

    R: np.ndarray
    precision: float


@dataclass(frozen=True)
class FactoredGram(Gram):
    """`Gram` together with the triangular factor of all rows: twice the work, and all of the digits."""

    triangle: Any = None

    def absorb(self, block: Block) -> Self:
        if len(block) == 0:
            return self
        before = self.triangle if self.n else None
        state = super().absorb(block)
        found = _of_rows(block, state.targets_of(block) - state.y_origin, state.z_origin)
        return replace(state, triangle=found if before is None else _stacked(before, found))

    def _sum(self, other: Self) -> Self:
        a, b = other.z_origin - self.z_origin, other.y_origin - self.y_origin
        R = other.triangle.R.copy()
        R[:, 1:] += np.outer(R[:, 0], np.concatenate([a, b]))
        moved = replace(other.triangle, R=R)
        return replace(super()._sum(other), triangle=_stacked(self.triangle, moved))

    def finish(self) -> GramPerFold:
        return replace(super().finish(), triangle=self.triangle)


def _of_rows(block: Block, targets: np.ndarray, origin: np.ndarray) -> Triangle:
    """The factor of a block: of slices on all cores, then of their factors."""
    root = np.ones(len(block)) if block.weight is None else np.sqrt(np.asarray(block.weight, dtype=np.float64))

    def factored(rows: slice) -> np.ndarray:
        Z = block.X[rows]
        Z = (Z.toarray() if hasattr(Z, "toarray") else np.asarray(Z)).astype(np.float64) - origin
        return upper(root[rows, None] * np.hstack([np.ones((len(Z), 1)), Z, targets[rows]]))

    step = max(_ROWS, 4 * block.X.shape[1])
    slices = [slice(start, start + step) for start in range(0, len(block), step)]
    factors = list(ordered_map(factored, slices))
    R = factors[0] if len(factors) == 1 else upper(np.vstack(factors))
    return Triangle(R, float(np.finfo(block.X.dtype).eps))


def _stacked(first: Triangle, second: Triangle) -> Triangle:
    return Triangle(upper(np.vstack([first.R, second.R])), max(first.precision, second.precision))


def upper(A: np.ndarray) -> np.ndarray:
    """The factor R of A = QR, with a diagonal that is not negative."""
    if not np.all(np.isfinite(A)):
        return np.full((min(A.shape), A.shape[1]), np.nan)  # refused by those who use it
    R = np.triu(dense.lapack("dgeqrf", A, lwork=64 * A.shape[1])[0][: min(A.shape)])
    return np.where(R.diagonal() < 0, -1.0, 1.0)[:, None] * R
