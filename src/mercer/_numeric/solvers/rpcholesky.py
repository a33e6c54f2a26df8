"""Randomly pivoted Cholesky: a few columns of a positive semidefinite matrix that nearly span it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._runtime.pool import for_each, single_threaded_blas

ROWS = 1024  # rows updated at a time: fixed, so that the result does not depend on the number of threads
PROPOSALS = 128
#: A residual this far below zero is not rounding: the matrix has negative eigenvalues.
NEGATIVE_TOLERANCE = 1e-6

Gram = Callable[[Any, Any], np.ndarray]


def rounding_tolerance(dtype) -> float:
    """A residual below this share of the diagonal is the rounding of steps before, on rows of such numbers."""
    return 64 * float(np.finfo(np.float32 if dtype == np.float32 else np.float64).eps)


@dataclass(frozen=True)
class Pivots:
    """The chosen rows in their order, and the weighted trace of the residual after 0, 1, 2, ... of them.

    `factor` is F = L^-1 K[S, :] with LL' = K[S, S], one row for each pivot: K ~ F'F, and F[:, S] = L'.
    """

    chosen: np.ndarray
    traces: np.ndarray
    factor: np.ndarray


def rp_cholesky(
    gram: Gram, diagonal, n_pivots: int, rng, weight=None, target=0.0, rounding=None, n_proposals=None
) -> Pivots:
    """Pivots drawn one after the other with probability weight times residual diagonal.

    With residual E = K - K[:, S] K[S, S]^-1 K[S, :], the next pivot i is drawn with probability w_i E_ii / sum w E
    (Chen, Epperly, Tropp and Webber 2023). This is the accelerated form with the same law (Epperly, Tropp and Webber
    2024): a batch is proposed from the present diagonal u, and going through it proposal i is kept with probability
    E_ii / u_i, where E has been updated for those kept before. The update of all rows is then one matrix product.

    Stops when the weighted trace is at most `target`, or when all that is left is rounding: then there are fewer
    pivots than asked for. A longer run from the same seed begins with a shorter one.

    Parameters
    ----------
    gram : function (rows, columns) -> K[rows, columns] in float64, for a slice or index array and an index array
    diagonal : array of K_ii
    n_pivots : int, the most pivots to draw
    rng : numpy.random.Generator
    weight : array of positive weights, or None
    rounding : share of the diagonal below which nothing but rounding is left; None is that of float64
    """
    rounding = rounding_tolerance(np.float64) if rounding is None else rounding
    state = _State(gram, np.asarray(diagonal, dtype=np.float64), weight, min(n_pivots, len(diagonal)), rounding)
    n_proposals = n_proposals or max(1, min(PROPOSALS, len(diagonal) // 8))
    with single_threaded_blas():
        while len(state.chosen) < state.limit and state.traces[-1] > target and state.open.any():
            proposed = state.propose(n_proposals, rng)
            chances = rng.random(n_proposals)
            accepted, factor = state.accept(proposed, chances)
            if len(accepted):
                state.extend(accepted, factor, target)
    factor = state.factor[: len(state.chosen)]
    return Pivots(np.array(state.chosen, dtype=np.intp), np.array(state.traces), factor)


class _State:
    """The factor so far, K ~ F'F with one row of F per pivot, and the diagonal of what is left."""

    def __init__(self, gram, diagonal, weight, limit, rounding):
        self.gram, self.first, self.limit, self.rounding = gram, diagonal, limit, rounding
        self.weight = np.ones(len(diagonal)) if weight is None else np.asarray(weight, dtype=np.float64)
        if len(diagonal) and diagonal.min() < 0:
            raise ValueError(f"k(x, x) = {diagonal.min():.3g} < 0 for some row: {_ADVICE}")
        self.residual = diagonal.copy()
        self.open = diagonal > 0  # what may still be drawn: neither chosen nor rounding
        self.factor = np.empty((limit, len(diagonal)))  # memory is taken as rows are written
        self.chosen: list[int] = []
        self.traces = [float(self.weight @ diagonal)]

    def propose(self, n, rng):
        """Draw n rows, with repetition, by weight times residual."""
        rows = np.flatnonzero(self.open)
        steps = np.cumsum(self.weight[rows] * self.residual[rows])
        drawn = np.searchsorted(steps, rng.random(n) * steps[-1], side="right")
        return rows[np.minimum(drawn, len(rows) - 1)]

    def accept(self, proposed, chances):
        """The proposals that survive, and the Cholesky factor of their residual block."""
        known = self.factor[: len(self.chosen), proposed]
        block = self.gram(proposed, proposed) - known.T @ known
        before = np.diagonal(block).copy()
        floor = self.rounding * self.first[proposed]
        self.open[proposed[before <= floor]] = False
        columns, kept = [], []
        for i, (size, chance) in enumerate(zip(before, chances, strict=True)):
            left = block[i, i]
            if left <= floor[i] or chance * size >= left:
                continue
            column = block[:, i] / np.sqrt(left)
            block -= np.multiply.outer(column, column)
            columns.append(column)
            kept.append(i)
        return proposed[kept], np.array(columns).T[kept] if kept else None

    def extend(self, accepted, small, target):
        """Add the accepted pivots, as many as are wanted."""
        count = min(len(accepted), self.limit - len(self.chosen))
        accepted, small = accepted[:count], small[:count, :count]
        done = len(self.chosen)
        new = self.factor[done : done + count]
        spans = [slice(start, start + ROWS) for start in range(0, len(self.first), ROWS)]
        write_all = for_each if len(spans) > 1 else _each
        write_all(lambda rows: self._write(new, rows, accepted, small), spans)
        traces = self.traces[-1] - np.cumsum([float(self.weight @ (row * row)) for row in new])
        enough = np.flatnonzero(traces <= target)
        count = int(enough[0]) + 1 if len(enough) else count
        self.residual -= np.einsum("ij,ij->j", new[:count], new[:count])
        self._refuse_negative()
        self.chosen.extend(accepted[:count].tolist())
        self.residual[accepted[:count]] = 0.0
        np.maximum(self.residual, 0.0, out=self.residual)
        self.open &= self.residual > self.rounding * self.first
        self.traces.extend(np.maximum(traces[:count], 0.0).tolist())
        if not len(enough):  # without the rounding of all the subtractions
            self.traces[-1] = float(self.weight @ self.residual)

    def _write(self, new, rows, accepted, small):
        from scipy.linalg import solve_triangular

        known = self.factor[: len(self.chosen)]
        left = self.gram(rows, accepted).T - known[:, accepted].T @ known[:, rows]
        new[:, rows] = solve_triangular(small, left, lower=True, check_finite=False)

    def _refuse_negative(self):
        worst = np.argmin(self.residual + NEGATIVE_TOLERANCE * self.first)
        if self.residual[worst] < -NEGATIVE_TOLERANCE * self.first[worst]:
            raise ValueError(
                f"The similarity is not positive semidefinite: after {len(self.chosen)} landmarks a residual is "
                f"{self.residual[worst]:.3g}. {_ADVICE}"
            )


def _each(function, items):
    """Without the pool, which costs more than a small update."""
    for item in items:
        function(item)


_ADVICE = (
    "It is not a Mercer kernel (see mercer.kernels.check_mercer). Plain similarities to uniformly chosen landmarks "
    "need none: choose='uniform', whiten=False."
)
