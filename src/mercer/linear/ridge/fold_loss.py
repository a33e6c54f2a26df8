"""Ridge regression with one penalty per block of columns: exact K-fold losses, their gradients, and weights.

With A and B the centered normal equations of the rows outside fold k, and G_k, B_k, Y_k the sums of the fold itself,

    W = (A + diag(lambda))^{-1} B,      L_k = tr Y_k - 2 <W, B_k> + <W, G_k W>,
    V = (A + diag(lambda))^{-1} (G_k W - B_k),
    dL_k / d log lambda_b = -2 lambda_b sum over the columns j of block b of <V_j, W_j>.

One Cholesky factor per fold gives the loss and its derivatives in all penalties.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._numeric.linalg import dense
from mercer._runtime.pool import ordered_map
from mercer.stats.gram import GramPerFold, Normal

#: Centered matrices of all folds are cached up to this many entries in total.
_MAX_CACHED_ENTRIES = 6e7
#: Up to this matrix size a fold is solved faster than a thread is woken.
_MAX_SERIAL_SIZE = 64
#: How many times the penalty floor is raised tenfold before equations count as unsolvable.
_MAX_FLOOR_RAISES = 6


class OutOfTime(Exception):
    """Raised by `FoldLoss.score` when `should_stop` returns true."""


@dataclass(frozen=True)
class FoldScore:
    """Squared error of held-out rows.

    per_fold : sums over the rows and targets of each fold
    loss : the mean per row
    gradient : derivatives of the loss in the logarithms of the penalties
    """

    per_fold: np.ndarray
    loss: float
    gradient: np.ndarray

    _former = {"slope": "gradient"}


def never() -> bool:
    """The `should_stop` of a search without a time limit."""
    return False


class FoldLoss(ABC):
    """The K-fold loss of ridge regression as a function of the penalties of the blocks.

    Parameters
    ----------
    blocks : the block index of each column
    n_folds : number of folds that have rows
    weight : total weight of the rows that are evaluated
    should_stop : asked before each score but the first; true raises `OutOfTime`
    tested : the numbers of the folds that are evaluated, by default all
    """

    def __init__(
        self,
        blocks: np.ndarray,
        n_folds: int,
        weight: float,
        should_stop: Callable[[], bool] = never,
        tested: list[int] | None = None,
    ):
        self.blocks, self.n_folds, self.weight = np.asarray(blocks), n_folds, weight
        self.tested = list(range(n_folds)) if tested is None else tested
        self.n_blocks = int(self.blocks.max()) + 1 if len(self.blocks) else 0
        self.n_factored, self.size = 0, len(self.blocks)  # size : of the matrices that are factored
        self.best: tuple[np.ndarray, FoldScore] | None = None  # the penalties of smallest loss so far
        self._should_stop = should_stop

    def score(self, penalties: np.ndarray, gradient: bool = True) -> FoldScore:
        """Return the exact K-fold loss of these penalties, one per block; without `gradient` that part is zero."""
        if self.best is not None and self._should_stop():
            raise OutOfTime
        system = self._system(np.asarray(penalties, dtype=np.float64))
        each_fold = map if self.size <= _MAX_SERIAL_SIZE else ordered_map
        parts = list(each_fold(lambda k: self._held_out(k, system, gradient), self.tested))
        self.n_factored += len(parts)
        per_fold = np.array([loss for loss, _ in parts])
        gradients = np.sum([each for _, each in parts], axis=0) * penalties / self.weight
        score = FoldScore(per_fold, float(per_fold.sum() / self.weight), gradients)
        if np.isfinite(score.loss) and (self.best is None or score.loss < self.best[1].loss):
            self.best = np.array(penalties, dtype=np.float64), score
        return score

    def clear_cache(self) -> None:
        """Free the memory that only `score` needs."""
        return

    @abstractmethod
    def scale(self) -> np.ndarray:
        """Return the mean square of each block's centered columns, summed over rows: the unit of its penalty."""

    @abstractmethod
    def floor(self) -> np.ndarray:
        """Return the smallest penalty of each block that rounding allows."""

    @abstractmethod
    def weights(self, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return weights and intercepts fitted to all rows."""

    @abstractmethod
    def weights_without(self, k: int, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return weights and intercepts fitted to the rows outside the k-th fold that has any."""

    @abstractmethod
    def _system(self, penalties: np.ndarray) -> Any:
        """Return what all folds share for these penalties."""

    @abstractmethod
    def _held_out(self, k: int, system: Any, gradient: bool) -> tuple[float, np.ndarray]:
        """Return the squared error on the k-th fold of the weights of the others, and its derivatives / lambda."""


class GramFoldLoss(FoldLoss):
    """The K-fold loss from Gram matrices per fold; `blocks` and `should_stop` as in `FoldLoss`."""

    def __init__(self, gram: GramPerFold, blocks: np.ndarray, should_stop: Callable[[], bool] = never):
        weight = gram.total.weight
        if gram.planned is not None:
            weight = float(sum(gram.folds[k].weight for k in gram.tested))
        super().__init__(blocks, len(gram.folds), weight, should_stop, gram.tested)
        self.gram = gram
        self._cache: list | None = None

    def scale(self) -> np.ndarray:
        total = self.gram.total
        squares = np.maximum(np.diag(total.G) - total.z**2 / total.weight, 0.0)
        sums = np.bincount(self.blocks, weights=squares, minlength=self.n_blocks)
        counts = np.bincount(self.blocks, minlength=self.n_blocks)
        return np.where(sums > 0, sums / np.maximum(counts, 1), 1.0)

    def floor(self) -> np.ndarray:
        """Return ten times the rounding error of the Gram matrix, in each block's own scale.

        The entry G_ij rounds by about eps sqrt(G_ii G_jj), so the whole by E = eps tr G, and columns divided by their
        lengths by sqrt(D) E / tr G: long columns of one block do not raise the floor of another.
        """
        squares = np.diag(self.gram.total.G)
        counts = np.maximum(np.bincount(self.blocks, minlength=self.n_blocks), 1)
        mean = np.bincount(self.blocks, weights=squares, minlength=self.n_blocks) / counts
        relative = self.gram.error * np.sqrt(len(squares)) / max(float(squares.sum()), np.finfo(float).tiny)
        return 10.0 * np.maximum(relative * mean, 4 * np.finfo(float).eps * float(np.max(squares, initial=0.0)))

    def clear_cache(self) -> None:
        self._cache = None

    def _system(self, penalties: np.ndarray) -> np.ndarray:
        return penalties[self.blocks]

    def _held_out(self, k: int, system: np.ndarray, gradient: bool) -> tuple[float, np.ndarray]:
        A, B, G, C, squares = self._fold(k)
        factor = cholesky(A, system)
        if factor is None:
            return np.inf, np.zeros(self.n_blocks)
        W = cholesky_solve(factor, B)
        residual = G @ W - C
        loss = float(squares + (W * (residual - C)).sum())
        if loss < 0:  # rounding
            return np.inf, np.zeros(self.n_blocks)
        if not gradient:
            return loss, np.zeros(self.n_blocks)
        per_column = (cholesky_solve(factor, residual) * W).sum(axis=1)
        return loss, -2.0 * np.bincount(self.blocks, weights=per_column, minlength=self.n_blocks)

    def _fold(self, k: int) -> tuple:
        if 2.0 * self.n_folds * len(self.blocks) ** 2 > _MAX_CACHED_ENTRIES:
            return self._centered(k)
        if self._cache is None:
            self._cache = [None] * self.n_folds
        if self._cache[k] is None:
            self._cache[k] = self._centered(k)
        return self._cache[k]

    def _centered(self, k: int) -> tuple:
        fold, train = self.gram.folds[k], self.gram.outside(k)
        means = train.means()
        A, B, _ = train.about(*means)
        G, C, Y = fold.about(*means)
        return A, B, G, C, np.trace(Y)

    def with_products(self, sums: np.ndarray, products: np.ndarray, squares: np.ndarray) -> GramFoldLoss:
        """Return the equations of other targets t: for each fold the sums of w t, w z t' and w t t' over its rows.

        Where folds are planned, the sums are those of each part of the rows.
        """
        made, gram = copy(self), self.gram
        parts = [
            replace(part, y=t, B=B - np.outer(gram.z_origin, t), Y=T)
            for part, t, B, T in zip(
                gram.folds if gram.planned is None else gram.planned.parts, sums, products, squares, strict=True
            )
        ]
        planned = None if gram.planned is None else replace(gram.planned, parts=parts)
        folds = parts if planned is None else planned.folds
        y, B, Y = (sum(getattr(part, name) for part in parts) for name in ("y", "B", "Y"))
        total = replace(gram.total, y=y, B=B, Y=Y)
        made.gram = replace(gram, folds=folds, total=total, y_origin=np.zeros(sums.shape[1]), planned=planned)
        made._cache, made.best = None, None
        return made

    def weights(self, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._weights_of(self.gram.total, penalties)

    def weights_without(self, k: int, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._weights_of(self.gram.outside(k), penalties)

    def _weights_of(self, rows: Normal, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z_mean, y_mean = rows.means()
        A, B, _ = rows.about(z_mean, y_mean)
        factor, floor = cholesky(A, np.asarray(penalties)[self.blocks]), self.floor()
        for _ in range(_MAX_FLOOR_RAISES if factor is None else 0):  # chosen on fewer rows, which round by less
            penalties, floor = np.maximum(penalties, floor), 10 * floor
            factor = cholesky(A, penalties[self.blocks])
            if factor is not None:
                break
        if factor is None:
            raise ValueError("The normal equations cannot be solved with these penalties: raise them.")
        self.n_factored += 1
        coef = cholesky_solve(factor, B)
        return coef, y_mean + self.gram.y_origin - (z_mean + self.gram.z_origin) @ coef


def cholesky(A: np.ndarray, diagonal: np.ndarray) -> np.ndarray | None:
    """Return the Cholesky factor of A + diag(diagonal), None unless that is positive definite."""
    shifted = A.copy()
    shifted.flat[:: len(A) + 1] += diagonal
    factor, failed = dense.lapack("dpotrf", shifted.T, lower=0, clean=0, overwrite_a=1)
    return None if failed else factor


def cholesky_solve(factor: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the solution of the factored equations for the right-hand sides B."""
    return dense.lapack("dpotrs", factor, B, lower=0)[0]
