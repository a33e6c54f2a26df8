"""Fewer rows than columns: all that ridge regression can learn lies in the space of the rows.

With Z_b the features of block b, lambda_b its penalty, and t, h the places of the rows outside and inside of fold k,

    K = sum over b of Z_b Z_b' / lambda_b,      (K_tt + I) a + 1 c = Y_t,   1'a = 0,      W_b = Z_tb' a / lambda_b,
    E = K_ht a + 1 c - Y_h,     L_k = ||E||^2,      (K_tt + I) q + 1 d = K_th E,   1'q = 1'E,
    dL_k / d log lambda_b = 2 (<q, K_b,tt a> - <E, K_b,ht a>) / lambda_b,      K_b = Z_b Z_b'.

These are the weights W, intercepts c and losses of the normal equations, by matrices of rows times rows instead of
columns times columns. Rows of weight w, their targets and ones are multiplied by sqrt(w).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.auto.features.union import Features
from mercer.auto.ridge.equations import PerFold, factored, solved
from mercer.auto.rows.training import N_FOLDS, TrainingRows

#: No penalty goes below this share of the sum of the squares of a block's features: K rounds by about eps tr K.
_ROUNDING = 1e-13


def axes(Z: np.ndarray) -> np.ndarray | None:
    """An orthonormal basis of the rows where there are fewer of them than columns: there the weights lie, since a
    part of them that is orthogonal to all rows costs penalty and changes no score."""
    return np.linalg.qr(Z.T)[0] if len(Z) < Z.shape[1] else None


def coordinates(Z: np.ndarray) -> np.ndarray:
    """The rows in an orthonormal basis of them, which is not formed: all products of two rows stay what they are."""
    if len(Z) >= Z.shape[1]:
        return Z
    triangle: Any = np.linalg.qr(Z.T, mode="r")
    return np.ascontiguousarray(triangle.T)


@dataclass(frozen=True)
class BlockKernel:
    """Z_b Z_b' of a block over all rows and, where the block depends on targets, as it would be without each fold."""

    whole: np.ndarray
    apart: list[np.ndarray]

    def without(self, fold: int) -> np.ndarray:
        return self.apart[fold] if self.apart else self.whole

    def at(self, place: np.ndarray) -> BlockKernel:
        """That of some of the rows."""
        some = np.ix_(place, place)
        return BlockKernel(self.whole[some], [each[some] for each in self.apart])


class Kernels:
    """Z_b Z_b' of the blocks of a dictionary over all rows, kept for the blocks that the next one shares with it."""

    def __init__(self, rows: TrainingRows):
        self.rows = rows
        self._known: dict[int, tuple] = {}  # the block beside its kernel, so that no other can take its place

    def of(self, dictionary: Features, scores) -> list[BlockKernel]:
        """Those of each block."""
        self._known = {
            id(block): self._known.get(id(block)) or (block, self._kernels(dictionary, place, scores))
            for place, block in enumerate(dictionary.blocks)
        }
        return [self._known[id(block)][1] for block in dictionary.blocks]

    def _kernels(self, dictionary: Features, place: int, scores) -> BlockKernel:
        block = dictionary.blocks[place]
        folds = range(N_FOLDS) if block.without_fold(0) is not block else ()
        apart = [self._kernel(dictionary.without_fold(fold), place, scores) for fold in folds]
        return BlockKernel(self._kernel(dictionary, place, scores), apart)

    def _kernel(self, dictionary: Features, place: int, scores) -> np.ndarray:
        Z = dictionary.of_block(place, self.rows.X, scores).astype(np.float64)
        Z -= np.average(Z, axis=0, weights=self.rows.weight)
        return Z @ Z.T


class RowEquations(PerFold):
    """Ridge regression in the space of the rows, per fold, with one penalty per block: `Equations` for wide tables.

    Parameters
    ----------
    rows : Rows
    dictionary, scores : blocks of features, and what stands in for the score of the trees
    kernels : the products of all rows, one matrix per block
    enough : as in `PerFold`
    """

    def __init__(
        self,
        rows: TrainingRows,
        dictionary: Features,
        scores,
        kernels: list[BlockKernel],
        enough: Callable = lambda: False,
    ):
        self.rows, self.dictionary, self.scores, self.kernels = rows, dictionary, scores, kernels
        self._folds, counts = rows.folds, rows.counts
        self._labels = np.unique(self._folds)
        self._counts, self._roots = counts, np.sqrt(counts)
        self._Y = rows.Y * self._roots[:, None]
        super().__init__(dictionary.block_of_column, len(self._labels), float(counts.sum()), enough)
        self.n_blocks, self.size = len(dictionary.blocks), len(rows)

    def scale(self) -> np.ndarray:
        """The mean square of each block's centered columns in a basis of its rows, of which there are no more."""
        widths = np.array([min(block.width, len(self.rows)) for block in self.dictionary.blocks])
        squares = self._squares()
        return np.where(squares > 0, squares / np.maximum(widths, 1), 1.0)

    def floor(self) -> np.ndarray:
        return np.maximum(_ROUNDING * self._squares(), np.finfo(float).tiny)

    def _squares(self) -> np.ndarray:
        share = self._counts / self.weight
        whole = [kernel.whole for kernel in self.kernels]
        return np.array([max(self._counts @ np.diag(K) - self.weight * share @ K @ share, 0.0) for K in whole])

    def _ready(self, penalties: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
        """K of all rows, unless every fold has its own, and the penalties."""
        own = any(kernel.apart for kernel in self.kernels)
        return None if own else self._sum([kernel.whole for kernel in self.kernels], penalties), penalties

    def _sum(self, kernels: list[np.ndarray], penalties: np.ndarray) -> np.ndarray:
        total = kernels[0] / penalties[0]
        for kernel, penalty in zip(kernels[1:], penalties[1:], strict=True):
            total += kernel / penalty
        return self._weighted(total)

    def _held_out(self, k: int, ready, slope: bool):
        K, penalties = ready
        kernels = [kernel.without(self._labels[k]) for kernel in self.kernels]
        K = self._sum(kernels, penalties) if K is None else K
        train, held = (np.flatnonzero(each) for each in (self._outside(k), ~self._outside(k)))
        bordered = _Bordered.of(K[np.ix_(train, train)], self._roots[train])
        if bordered is None:
            return np.inf, np.zeros(self.n_blocks)
        a, b = bordered.solution(self._Y[train])
        across, roots = K[np.ix_(held, train)], self._roots[held]
        rest = across @ a + np.outer(roots, b) - self._Y[held]
        loss = float(np.sum(rest**2))
        if not slope:
            return loss, np.zeros(self.n_blocks)
        left, right = np.zeros_like(self._Y), np.zeros_like(self._Y)
        left[train], left[held], right[train] = bordered.solution(across.T @ rest, roots @ rest)[0], -rest, a
        left, right = left * self._roots[:, None], right * self._roots[:, None]
        along = np.array([np.sum(left * (kernel @ right)) for kernel in kernels])
        return loss, 2.0 * along / penalties**2

    def _outside(self, k: int) -> np.ndarray:
        return self._folds != self._labels[k]

    def _weighted(self, K: np.ndarray) -> np.ndarray:
        return K if self.rows.weight is None else K * np.outer(self._roots, self._roots)

    def weights(self, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kernels = [kernel.whole for kernel in self.kernels]
        return self._weights_of(np.arange(len(self.rows)), kernels, self.dictionary, penalties)

    def weights_without(self, k: int, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercepts of the dictionary as it would be without the fold."""
        fold, train = self._labels[k], np.flatnonzero(self._outside(k))
        kernels = [kernel.without(fold) for kernel in self.kernels]
        return self._weights_of(train, kernels, self.dictionary.without_fold(fold), penalties)

    def _weights_of(self, train, kernels, dictionary: Features, penalties) -> tuple[np.ndarray, np.ndarray]:
        penalties = np.asarray(penalties, dtype=np.float64)
        bordered = _Bordered.of(self._sum(kernels, penalties)[np.ix_(train, train)], self._roots[train])
        if bordered is None:
            raise ValueError("The equations of the rows cannot be solved with these penalties: raise them.")
        self.n_factored += 1
        a = bordered.solution(self._Y[train])[0] * self._roots[train, None]
        Z = dictionary.features(self.rows.X[train], None if self.scores is None else self.scores[train])
        coef = (Z.T @ a) / penalties[self.blocks][:, None]
        share = self._counts[train] / self._counts[train].sum()
        return coef, share @ self.rows.Y[train] - (share @ Z) @ coef


@dataclass(frozen=True)
class _Bordered:
    """(K + I, r; r', 0) factored: r is the column of the intercept, which no penalty holds back."""

    factor: np.ndarray
    root: np.ndarray
    along: np.ndarray  # (K + I)^{-1} r

    @classmethod
    def of(cls, K: np.ndarray, root: np.ndarray) -> _Bordered | None:
        factor = factored(K, np.ones(len(K)))
        return None if factor is None else cls(factor, root, solved(factor, root[:, None])[:, 0])

    def solution(self, B: np.ndarray, total: np.ndarray | float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """x and s with (K + I) x + r s = B and r' x = total."""
        free = solved(self.factor, B)
        s = (self.root @ free - total) / (self.root @ self.along)
        return free - np.outer(self.along, s), s


def row_equations(rows: TrainingRows, dictionary: Features, scores, enough: Callable = lambda: False) -> RowEquations:
    """The equations of all rows, for who has no kernels of the blocks yet."""
    return RowEquations(rows, dictionary, scores, Kernels(rows).of(dictionary, scores), enough)
