"""Randomly pivoted Cholesky: a low-rank approximation of a positive semidefinite matrix from some of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._numeric.linalg import dense
from mercer._runtime.blas import single_threaded_blas
from mercer._runtime.pool import for_each

ROWS = 1024  # rows updated at a time: fixed, so that the result does not depend on the number of threads
PROPOSALS = 128
#: A residual below minus this fraction of the diagonal is not rounding: the matrix has negative eigenvalues.
NEGATIVE_TOLERANCE = 1e-6

Gram = Callable[[Any, Any], np.ndarray]


def rounding_tolerance(dtype: Any) -> float:
    """Fraction of the diagonal below which a residual is rounding error, for rows of this dtype."""
    return 64 * float(np.finfo(np.float32 if dtype == np.float32 else np.float64).eps)


@dataclass(frozen=True)
class Pivots:
    """Pivots in the order of selection, and the weighted trace of the residual after 0, 1, 2, ... of them.

    `factor` is F = L^-1 K[S, :] with LL' = K[S, S], one row for each pivot: K ~ F'F, and F[:, S] = L'.
    """

    chosen: np.ndarray
    traces: np.ndarray
    factor: np.ndarray


def rp_cholesky(
    gram: Gram,
    diagonal: np.ndarray,
    n_pivots: int,
    rng: np.random.Generator,
    weight: np.ndarray | None = None,
    target: float = 0.0,
    rounding: float | None = None,
    n_proposals: int | None = None,
) -> Pivots:
    """Draw pivots sequentially with probability proportional to weight times residual diagonal.

    With residual E = K - K[:, S] K[S, S]^-1 K[S, :], the next pivot i is drawn with probability w_i E_ii / sum w E
    (Chen, Epperly, Tropp and Webber 2023). This is the accelerated algorithm with the same distribution (Epperly, Tropp
    and Webber 2024): a batch is proposed from the current diagonal u, and proposal i is accepted with probability
    E_ii / u_i, where E accounts for the proposals accepted before it. The update of all rows is one matrix product.

    Stops when the weighted trace is at most `target`, or when the residual is rounding error; the latter gives fewer
    than `n_pivots` pivots. A longer run from the same seed starts with the pivots of a shorter one.

    Parameters
    ----------
    gram : function (rows, columns) -> K[rows, columns] in float64, for a slice or index array and an index array
    diagonal : array of K_ii
    n_pivots : int, the maximum number of pivots
    rng : numpy.random.Generator
    weight : array of positive weights, or None
    rounding : fraction of the diagonal below which a residual is rounding error; None means that of float64
    """
    rounding = rounding_tolerance(np.float64) if rounding is None else rounding
    state = _State(gram, np.asarray(diagonal, dtype=np.float64), weight, min(n_pivots, len(diagonal)), rounding)
    n_proposals = n_proposals or max(1, min(PROPOSALS, len(diagonal) // 8))
    with single_threaded_blas():
        while len(state.chosen) < state.limit and state.traces[-1] > target and state.open.any():
            proposed = state.propose(n_proposals, rng)
            accepted, block_factor = state.accept(proposed, rng.random(n_proposals))
            if block_factor is not None:
                state.extend(accepted, block_factor, target)
    factor = state.factor[: len(state.chosen)]
    return Pivots(np.array(state.chosen, dtype=np.intp), np.array(state.traces), factor)


class _State:
    """Current factor, K ~ F'F with one row of F per pivot, and the diagonal of the residual."""

    def __init__(self, gram: Gram, diagonal: np.ndarray, weight: np.ndarray | None, limit: int, rounding: float):
        self.gram, self.first, self.limit, self.rounding = gram, diagonal, limit, rounding
        self.weight = np.ones(len(diagonal)) if weight is None else np.asarray(weight, dtype=np.float64)
        if len(diagonal) and diagonal.min() < 0:
            raise ValueError(f"k(x, x) = {diagonal.min():.3g} < 0 for some row: {_ADVICE}")
        self.residual = diagonal.copy()
        self.open = diagonal > 0  # candidates: neither chosen nor rounding error
        self.factor = np.empty((limit, len(diagonal)))  # pages are allocated as rows are written
        self.chosen: list[int] = []
        self.traces = [float(self.weight @ diagonal)]

    def propose(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw n rows with replacement, with probability proportional to weight times residual."""
        rows = np.flatnonzero(self.open)
        steps = np.cumsum(self.weight[rows] * self.residual[rows])
        drawn = np.searchsorted(steps, rng.random(n) * steps[-1], side="right")
        return rows[np.minimum(drawn, len(rows) - 1)]

    def accept(self, proposed: np.ndarray, uniforms: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Rejection sampling: the accepted proposals, and the Cholesky factor of their residual block."""
        known = self.factor[: len(self.chosen), proposed]
        block = self.gram(proposed, proposed) - known.T @ known
        before = np.diagonal(block).copy()
        floor = self.rounding * self.first[proposed]
        self.open[proposed[before <= floor]] = False
        columns, kept = [], []
        for i, (size, uniform) in enumerate(zip(before, uniforms, strict=True)):
            left = block[i, i]
            if left <= floor[i] or uniform * size >= left:
                continue
            column = block[:, i] / np.sqrt(left)
            block -= np.multiply.outer(column, column)
            columns.append(column)
            kept.append(i)
        return proposed[kept], np.array(columns).T[kept] if kept else None

    def extend(self, accepted: np.ndarray, small: np.ndarray, target: float) -> None:
        """Add the accepted pivots up to the limit or until the trace reaches the target."""
        count = min(len(accepted), self.limit - len(self.chosen))
        accepted, small = accepted[:count], small[:count, :count]
        done = len(self.chosen)
        new = self.factor[done : done + count]
        spans = [slice(start, start + ROWS) for start in range(0, len(self.first), ROWS)]
        write_all = for_each if len(spans) > 1 else _each
        write_all(lambda rows: self._write(new, rows, accepted, small), spans)
        traces = self.traces[-1] - np.cumsum([float(self.weight @ (row * row)) for row in new])
        reached = np.flatnonzero(traces <= target)
        count = int(reached[0]) + 1 if len(reached) else count
        self.residual -= np.einsum("ij,ij->j", new[:count], new[:count])
        self._refuse_negative()
        self.chosen.extend(accepted[:count].tolist())
        self.residual[accepted[:count]] = 0.0
        np.maximum(self.residual, 0.0, out=self.residual)
        self.open &= self.residual > self.rounding * self.first
        self.traces.extend(np.maximum(traces[:count], 0.0).tolist())
        if not len(reached):  # free of the rounding errors of the subtractions
            self.traces[-1] = float(self.weight @ self.residual)

    def _write(self, new: np.ndarray, rows: slice, accepted: np.ndarray, small: np.ndarray) -> None:
        known = self.factor[: len(self.chosen)]
        left = self.gram(rows, accepted).T - known[:, accepted].T @ known[:, rows]
        new[:, rows] = dense.solve_triangular(small, left, lower=True, check_finite=False)

    def _refuse_negative(self) -> None:
        worst = np.argmin(self.residual + NEGATIVE_TOLERANCE * self.first)
        if self.residual[worst] < -NEGATIVE_TOLERANCE * self.first[worst]:
            raise ValueError(
                f"The similarity is not positive semidefinite: after {len(self.chosen)} landmarks a residual is "
                f"{self.residual[worst]:.3g}. {_ADVICE}"
            )


def _each(function: Callable[[Any], Any], items: Iterable[Any]) -> None:
    """Serial `for_each`, for updates smaller than the overhead of the pool."""
    for item in items:
        function(item)


_ADVICE = (
    "It is not a Mercer kernel (see mercer.kernels.check_mercer). Plain similarities to uniformly chosen landmarks "
    "need none: choose='uniform', whiten=False."
)
