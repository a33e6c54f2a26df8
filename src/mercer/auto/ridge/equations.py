"""Ridge regression with one penalty per block of columns, held out fold by fold: exact losses, slopes and weights.

With A and B the centered normal equations of the rows outside fold k, and G_k, B_k, Y_k the sums of the fold itself,

    W = (A + diag(lambda))^{-1} B,      L_k = tr Y_k - 2 <W, B_k> + <W, G_k W>,
    V = (A + diag(lambda))^{-1} (G_k W - B_k),
    dL_k / d log lambda_b = -2 lambda_b sum over the columns j of block b of <V_j, W_j>.

One Cholesky factor per fold gives the loss and its slope along every penalty at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._runtime.pool import ordered_map
from mercer.stats.gram import GramPerFold, Normal

#: Folds whose matrices together are larger than this (numbers) are centered anew at each step instead of being kept.
_KEEP = 6e7
#: Up to this many columns, a fold takes less time than to wake a thread for it.
_SMALL = 64
#: How many times the floor may be raised tenfold where rounding leaves equations without a solution.
_RAISED = 6


class Enough(Exception):
    """There is no time for another score."""


@dataclass(frozen=True)
class Scored:
    """Squared error of held-out rows: per fold (sums over rows and targets), their mean per row, and its slope."""

    per_fold: np.ndarray
    loss: float
    slope: np.ndarray


class PerFold:
    """A score of penalties that is a sum over folds; how a fold is held out is for those who derive from it to say.

    `blocks` says for each column which block it is of, `weight` is that of all rows. `enough` is asked before each
    score once there is one: true ends the search for penalties at the best so far.
    """

    def __init__(self, blocks, n_folds: int, weight: float, enough: Callable[[], bool] = lambda: False):
        self.blocks, self.n_folds, self.weight = np.asarray(blocks), n_folds, weight
        self.n_blocks = int(self.blocks.max()) + 1 if len(self.blocks) else 0
        self.n_factored, self.size = 0, len(self.blocks)  # size : of the matrices that are factored
        self._enough = enough
        self._best: tuple[np.ndarray, Scored] | None = None

    def score(self, penalties: np.ndarray, slope: bool = True) -> Scored:
        """The exact K-fold loss of these penalties, one per block, and its slope along their logarithms."""
        if self._best is not None and self._enough():
            raise Enough
        ready = self._ready(np.asarray(penalties, dtype=np.float64))
        each_fold = map if self.size <= _SMALL else ordered_map
        parts = list(each_fold(lambda k: self._held_out(k, ready, slope), range(self.n_folds)))
        self.n_factored += len(parts)
        per_fold = np.array([loss for loss, _ in parts])
        slopes = np.sum([each for _, each in parts], axis=0) * penalties / self.weight
        scored = Scored(per_fold, float(per_fold.sum() / self.weight), slopes)
        if np.isfinite(scored.loss) and (self._best is None or scored.loss < self._best[1].loss):
            self._best = np.array(penalties, dtype=np.float64), scored
        return scored

    def forget(self) -> None:
        """Drop what only scores need."""

    def scale(self) -> np.ndarray:
        """The mean square of each block's centered columns, summed over rows: what penalties are relative to."""
        raise NotImplementedError

    def floor(self) -> np.ndarray:
        """What rounding allows: no penalty goes below."""
        raise NotImplementedError

    def weights(self, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercepts fitted to all rows."""
        raise NotImplementedError

    def weights_without(self, k: int, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercepts fitted to the rows outside of the k-th of the folds that have any."""
        raise NotImplementedError

    def _ready(self, penalties: np.ndarray) -> Any:
        """What all folds need to know of the penalties."""
        raise NotImplementedError

    def _held_out(self, k: int, ready: Any, slope: bool) -> tuple[float, np.ndarray]:
        """The squared error of the k-th fold under the weights of the others, and its slope along each penalty."""
        raise NotImplementedError


class Equations(PerFold):
    """Normal equations per fold with one penalty per block; parameters as `PerFold`."""

    def __init__(self, gram: GramPerFold, blocks: np.ndarray, enough: Callable[[], bool] = lambda: False):
        super().__init__(blocks, len(gram.folds), gram.total.weight, enough)
        self.gram = gram
        self._kept: list | None = None

    def scale(self) -> np.ndarray:
        """The mean square of each block's centered columns, summed over rows: what penalties are relative to."""
        total = self.gram.total
        squares = np.maximum(np.diag(total.G) - total.z**2 / total.weight, 0.0)
        sums = np.bincount(self.blocks, weights=squares, minlength=self.n_blocks)
        counts = np.bincount(self.blocks, minlength=self.n_blocks)
        return np.where(sums > 0, sums / np.maximum(counts, 1), 1.0)

    def floor(self) -> np.ndarray:
        """Ten times the rounding error of the Gram matrix, as far as it is a block's: no penalty goes below.

        The entry G_ij rounds by about eps sqrt(G_ii G_jj), so the whole by E = eps tr G, and columns divided by their
        lengths by sqrt(D) E / tr G: long columns of one block say nothing of short ones of another.
        """
        squares = np.diag(self.gram.total.G)
        counts = np.maximum(np.bincount(self.blocks, minlength=self.n_blocks), 1)
        mean = np.bincount(self.blocks, weights=squares, minlength=self.n_blocks) / counts
        relative = self.gram.error * np.sqrt(len(squares)) / max(float(squares.sum()), np.finfo(float).tiny)
        return 10.0 * np.maximum(relative * mean, 4 * np.finfo(float).eps * float(np.max(squares, initial=0.0)))

    def forget(self) -> None:
        self._kept = None

    def _ready(self, penalties: np.ndarray) -> np.ndarray:
        return penalties[self.blocks]

    def _held_out(self, k: int, ready: np.ndarray, slope: bool):
        A, B, G, C, squares = self._fold(k)
        factor = factored(A, ready)
        if factor is None:
            return np.inf, np.zeros(self.n_blocks)
        W = solved(factor, B)
        rest = G @ W - C
        loss = float(squares + (W * (rest - C)).sum())
        if loss < 0:  # nothing but rounding
            return np.inf, np.zeros(self.n_blocks)
        if not slope:
            return loss, np.zeros(self.n_blocks)
        along = (solved(factor, rest) * W).sum(axis=1)
        return loss, -2.0 * np.bincount(self.blocks, weights=along, minlength=self.n_blocks)

    def _fold(self, k: int):
        keep = 2.0 * self.n_folds * len(self.blocks) ** 2 <= _KEEP
        if not keep:
            return self._centered(k)
        if self._kept is None:
            self._kept = [None] * self.n_folds
        if self._kept[k] is None:
            self._kept[k] = self._centered(k)
        return self._kept[k]

    def _centered(self, k: int):
        fold = self.gram.folds[k]
        train = self.gram.total - fold
        means = train.means()
        A, B, _ = train.about(*means)
        G, C, Y = fold.about(*means)
        return A, B, G, C, np.trace(Y)

    def weights(self, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercepts fitted to all rows."""
        return self._weights_of(self.gram.total, penalties)

    def weights_without(self, k: int, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercepts fitted to the rows outside of the k-th of the folds that have any."""
        return self._weights_of(self.gram.total - self.gram.folds[k], penalties)

    def _weights_of(self, rows: Normal, penalties) -> tuple[np.ndarray, np.ndarray]:
        z_mean, y_mean = rows.means()
        A, B, _ = rows.about(z_mean, y_mean)
        factor, floor = factored(A, np.asarray(penalties)[self.blocks]), self.floor()
        for _ in range(_RAISED if factor is None else 0):  # they were chosen on fewer rows, which round by less
            penalties, floor = np.maximum(penalties, floor), 10 * floor
            factor = factored(A, penalties[self.blocks])
            if factor is not None:
                break
        if factor is None:
            raise ValueError("The normal equations cannot be solved with these penalties: raise them.")
        self.n_factored += 1
        coef = solved(factor, B)
        return coef, y_mean + self.gram.y_origin - (z_mean + self.gram.z_origin) @ coef


def factored(A: np.ndarray, diagonal: np.ndarray):
    """The Cholesky factor of A + diag(diagonal), None if there is none."""
    from scipy.linalg import lapack

    shifted = A.copy()
    shifted.flat[:: len(A) + 1] += diagonal
    factor, failed = lapack.dpotrf(shifted.T, lower=0, clean=0, overwrite_a=1)
    return None if failed else factor


def solved(factor: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The solution of the equations that were factored."""
    from scipy.linalg import lapack

    return lapack.dpotrs(factor, B, lower=0)[0]
