"""Ridge regression with one penalty per block in the space of the rows, for fewer rows than columns.

With Z_b the features of block b, lambda_b its penalty, and t, h the indices of the rows outside and inside fold k,

    K = sum over b of Z_b Z_b' / lambda_b,      (K_tt + I) a + 1 c = Y_t,   1'a = 0,      W_b = Z_tb' a / lambda_b,
    E = K_ht a + 1 c - Y_h,     L_k = ||E||^2,      (K_tt + I) q + 1 d = K_th E,   1'q = 1'E,
    dL_k / d log lambda_b = 2 (<q, K_b,tt a> - <E, K_b,ht a>) / lambda_b,      K_b = Z_b Z_b'.

These are the weights W, intercepts c and losses of the normal equations, by matrices of rows times rows instead of
columns times columns. Rows of weight w, their targets and ones are multiplied by sqrt(w).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer._numeric.linalg import dense
from mercer.linear.ridge.fold_loss import FoldLoss, cholesky, cholesky_solve, never
from mercer.stats.folds import RowFolds

#: The smallest penalty of a block over the sum of squares of its features: K rounds by about eps tr K.
_ROUNDING = 1e-13
#: Features that are converted to float64 at a time.
_CHUNK = 4096


def row_basis(Z: np.ndarray) -> np.ndarray | None:
    """Return an orthonormal basis of the row space of Z if there are fewer rows than columns, else None.

    Ridge weights lie in that space: a component orthogonal to all rows is penalized and changes no score.
    """
    return dense.qr(Z.T)[0] if len(Z) < Z.shape[1] else None


def row_coordinates(Z: np.ndarray) -> np.ndarray:
    """Return the rows in an orthonormal basis of their space, which is not formed; inner products of rows stay."""
    if len(Z) >= Z.shape[1]:
        return Z
    triangle: Any = dense.qr(Z.T, mode="r")
    return np.ascontiguousarray(triangle.T)


@dataclass(frozen=True)
class BlockKernel:
    """Z_b Z_b' of a block over all rows and, for a block that depends on targets, its version without each fold."""

    whole: np.ndarray
    per_fold: list[np.ndarray] = field(default_factory=list)

    @classmethod
    def of(cls, Z: np.ndarray, weight: np.ndarray | None, per_fold: Iterable[np.ndarray] = ()) -> BlockKernel:
        """Return the kernel of features Z, or of `per_fold` versions of them, about their weighted means."""
        return cls(_centered_products(Z, weight), [_centered_products(each, weight) for each in per_fold])

    def without(self, fold: int) -> np.ndarray:
        return self.per_fold[fold] if self.per_fold else self.whole

    def rows(self, indices: np.ndarray) -> BlockKernel:
        """Return the kernel of some of the rows."""
        square = np.ix_(indices, indices)
        return BlockKernel(self.whole[square], [each[square] for each in self.per_fold])


def _centered_products(Z: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    total = np.zeros((len(Z), len(Z)))
    for columns in _chunks(Z.shape[1]):
        part = Z[:, columns].astype(np.float64)
        part -= np.average(part, axis=0, weights=weight)
        total += part @ part.T
    return total


def _chunks(width: int) -> Iterator[slice]:
    """Slices of so few columns that no second copy of all of them is made; one if there are none."""
    return (slice(start, start + _CHUNK) for start in range(0, max(width, 1), _CHUNK))


class RowSpaceFoldLoss(FoldLoss):
    """The K-fold loss by systems of the size of the rows.

    Parameters
    ----------
    kernels : the products of all rows, one matrix per block
    blocks : the block index of each column
    folds : the fold of each row, or `RowFolds`
    Y : targets, one column per output
    features : (row indices, fold) -> features of these rows as learned without the fold (None: from all folds)
    weight : row weights, None if all are one
    should_stop : as in `FoldLoss`
    """

    def __init__(
        self,
        kernels: list[BlockKernel],
        blocks: np.ndarray,
        folds: np.ndarray | RowFolds,
        Y: np.ndarray,
        features: Callable[[np.ndarray, int | None], np.ndarray],
        weight: np.ndarray | None = None,
        should_stop: Callable[[], bool] = never,
    ):
        counts = np.ones(len(Y)) if weight is None else weight
        self._folds = folds = RowFolds.of(folds)
        self._labels = folds.known
        tested = [k for k, fold in enumerate(folds.known) if folds.is_tested(fold)]
        weight_tested = counts if folds.is_partition else counts[folds.tested]
        super().__init__(blocks, len(self._labels), float(weight_tested.sum()), should_stop, tested)
        self._total = float(counts.sum())
        self.kernels, self.n_blocks, self.size = kernels, len(kernels), len(Y)
        self._targets, self._features, self._weighted = Y, features, weight is not None
        self._counts, self._roots = counts, np.sqrt(counts)
        self._Y = Y * self._roots[:, None]

    def row_losses(self, penalties: np.ndarray) -> np.ndarray:
        """Return the squared error of each row times its weight, without its fold; zero for rows that none tests."""
        losses = np.zeros(self.size)
        system = self._system(np.asarray(penalties, dtype=np.float64))
        for k in self.tested:
            solved = self._solved(k, system)
            losses[self._rows(k)[1]] = np.inf if solved is None else np.sum(solved.residual**2, axis=1)
        return losses

    def scale(self) -> np.ndarray:
        """Return the mean square of each block's centered columns in a basis of the rows."""
        widths = np.minimum(np.bincount(self.blocks, minlength=self.n_blocks), self.size)
        squares = self._squares()
        return np.where(squares > 0, squares / np.maximum(widths, 1), 1.0)

    def floor(self) -> np.ndarray:
        return np.maximum(_ROUNDING * self._squares(), np.finfo(float).tiny)

    def _squares(self) -> np.ndarray:
        fractions = self._counts / self._total
        whole = [kernel.whole for kernel in self.kernels]
        return np.array([max(self._counts @ np.diag(K) - self._total * fractions @ K @ fractions, 0.0) for K in whole])

    def _system(self, penalties: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
        """Return K of all rows, None if every fold has its own, and the penalties."""
        if any(kernel.per_fold for kernel in self.kernels):
            return None, penalties
        return self._sum([kernel.whole for kernel in self.kernels], penalties), penalties

    def _sum(self, kernels: list[np.ndarray], penalties: np.ndarray) -> np.ndarray:
        total = kernels[0] / penalties[0]
        for kernel, penalty in zip(kernels[1:], penalties[1:], strict=True):
            total += kernel / penalty
        return total * np.outer(self._roots, self._roots) if self._weighted else total

    def _held_out(
        self, k: int, system: tuple[np.ndarray | None, np.ndarray], gradient: bool
    ) -> tuple[float, np.ndarray]:
        solved, penalties = self._solved(k, system), system[1]
        if solved is None:
            return np.inf, np.zeros(self.n_blocks)
        residual, (train, held) = solved.residual, self._rows(k)
        loss = float(np.sum(residual**2))
        if not gradient:
            return loss, np.zeros(self.n_blocks)
        left, right = np.zeros_like(self._Y), np.zeros_like(self._Y)
        left[train] = solved.bordered.solve(solved.across.T @ residual, self._roots[held] @ residual)[0]
        left[held], right[train] = -residual, solved.a
        left, right = left * self._roots[:, None], right * self._roots[:, None]
        per_block = np.array([np.sum(left * (kernel @ right)) for kernel in solved.kernels])
        return loss, 2.0 * per_block / penalties**2

    def _solved(self, k: int, system: tuple[np.ndarray | None, np.ndarray]) -> _SolvedFold | None:
        """Return the solution without the k-th fold and the residuals of the fold; None if there is none."""
        K, penalties = system
        kernels = [kernel.without(self._labels[k]) for kernel in self.kernels]
        K = self._sum(kernels, penalties) if K is None else K
        train, held = self._rows(k)
        bordered = _BorderedSystem.of(K[np.ix_(train, train)], self._roots[train])
        if bordered is None:
            return None
        a, c = bordered.solve(self._Y[train])
        across = K[np.ix_(held, train)]
        residual = across @ a + np.outer(self._roots[held], c) - self._Y[held]
        return _SolvedFold(kernels, bordered, a, across, residual)

    def _rows(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of the rows that the k-th fold is predicted from, and of its own."""
        return np.flatnonzero(self._outside(k)), np.flatnonzero(self._folds.inside(self._labels[k]))

    def _outside(self, k: int) -> np.ndarray:
        return self._folds.outside(self._labels[k])

    def with_targets(self, Y: np.ndarray) -> RowSpaceFoldLoss:
        """Return the equations of the same rows with other targets."""
        made = copy(self)
        made._targets, made._Y, made.best = Y, Y * self._roots[:, None], None
        return made

    def weights(self, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kernels = [kernel.whole for kernel in self.kernels]
        return self._weights_of(np.arange(self.size), kernels, None, penalties)

    def weights_without(self, k: int, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return weights and intercepts of the features as learned without the fold."""
        fold = int(self._labels[k])
        kernels = [kernel.without(fold) for kernel in self.kernels]
        return self._weights_of(np.flatnonzero(self._outside(k)), kernels, fold, penalties)

    def _weights_of(
        self, train: np.ndarray, kernels: list[np.ndarray], fold: int | None, penalties: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        penalties = np.asarray(penalties, dtype=np.float64)
        bordered = _BorderedSystem.of(self._sum(kernels, penalties)[np.ix_(train, train)], self._roots[train])
        if bordered is None:
            raise ValueError("The equations of the rows cannot be solved with these penalties: raise them.")
        self.n_factored += 1
        a = bordered.solve(self._Y[train])[0] * self._roots[train, None]
        Z = self._features(train, fold)
        fractions = self._counts[train] / self._counts[train].sum()
        coef, means = np.empty((Z.shape[1], a.shape[1])), np.empty(Z.shape[1])
        for columns in _chunks(Z.shape[1]):
            part = Z[:, columns].astype(np.float64)
            coef[columns], means[columns] = part.T @ a, fractions @ part
        coef /= penalties[self.blocks][:, None]
        return coef, fractions @ self._targets[train] - means @ coef


@dataclass(frozen=True)
class _BorderedSystem:
    """(K + I, r; r', 0) factored; r is the column of the unpenalized intercept."""

    factor: np.ndarray
    root: np.ndarray
    solved_root: np.ndarray  # (K + I)^{-1} r

    @classmethod
    def of(cls, K: np.ndarray, root: np.ndarray) -> _BorderedSystem | None:
        factor = cholesky(K, np.ones(len(K)))
        return None if factor is None else cls(factor, root, cholesky_solve(factor, root[:, None])[:, 0])

    def solve(self, B: np.ndarray, total: np.ndarray | float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Return x and s with (K + I) x + r s = B and r' x = total."""
        free = cholesky_solve(self.factor, B)
        s = (self.root @ free - total) / (self.root @ self.solved_root)
        return free - np.outer(self.solved_root, s), s


@dataclass(frozen=True)
class _SolvedFold:
    """Kernels, factored system and solution a without a fold, E = K_ht a + c - Y_h of the fold, and K_ht."""

    kernels: list[np.ndarray]
    bordered: _BorderedSystem
    a: np.ndarray
    across: np.ndarray
    residual: np.ndarray
