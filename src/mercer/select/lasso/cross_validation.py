"""The Lasso from what was seen: one problem of all rows and one per fold that is left out, from a Gram or from rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block
from mercer.select.lasso.problem import ColumnProblem, GramProblem
from mercer.stats.gram import GramPerFold, Normal

#: A column whose spread is below this share of its offset holds nothing but rounding.
_CONSTANT = 1e-24


@dataclass(frozen=True)
class Part:
    """A problem over some rows: its total weight, and the means its columns and target are measured from."""

    problem: Any
    weight: float
    x_mean: np.ndarray
    y_mean: float


class FromGram:
    """Problems from Gram matrices per fold."""

    def __init__(self, learned: GramPerFold):
        self.learned = learned
        self.n_folds = len(learned.folds)

    def whole(self) -> Part:
        return self._part(self.learned.total)

    def without(self, k: int) -> Part:
        return self._part(self.learned.total - self.learned.folds[k])

    def _part(self, normal: Normal) -> Part:
        z_mean, y_mean = normal.means()
        G, B, Y = normal.about(z_mean, y_mean)
        x_mean = z_mean + self.learned.z_origin
        constant = np.diag(G) <= _CONSTANT * normal.weight * x_mean**2
        G[constant], G[:, constant], B[constant] = 0.0, 0.0, 0.0
        center = float(y_mean[0] + self.learned.y_origin[0])
        if Y[0, 0] <= _CONSTANT * normal.weight * center**2:
            B, Y = np.zeros_like(B), np.zeros_like(Y)
        return Part(GramProblem(G, B[:, 0].copy(), Y[0, 0]), float(normal.weight), x_mean, center)

    def losses(self, k: int, part: Part, solutions) -> np.ndarray:
        """Sum of squared errors on the rows of fold k."""
        x_mean = part.x_mean - self.learned.z_origin
        y_mean = np.array([part.y_mean]) - self.learned.y_origin
        G, B, Y = self.learned.folds[k].about(x_mean, y_mean)
        return np.array([Y[0, 0] - 2 * w @ B[S, 0] + w @ G[np.ix_(S, S)] @ w for S, w in solutions])


class FromRows:
    """Problems from rows in memory."""

    def __init__(self, block: Block, n_folds: int = 1, seed: int = 0, by_gram: bool = False):
        self.block, self.by_gram = block, by_gram
        self.weight = np.ones(len(block)) if block.weight is None else block.weight
        self._asked = n_folds, seed

    @cached_property
    def fold(self) -> np.ndarray:
        """The fold of each row, by its hash; folds without rows are not counted."""
        n_folds, seed = self._asked
        fold = _numeric.buckets(_numeric.splitmix64(self.block.ids, seed), n_folds)
        return np.unique(fold, return_inverse=True)[1]

    @property
    def n_folds(self) -> int:
        return int(self.fold.max()) + 1

    def whole(self) -> Part:
        return self._part(self.block)

    def without(self, k: int) -> Part:
        return self._part(self.block.rows(np.flatnonzero(self.fold != k)))

    def _part(self, block: Block) -> Part:
        problem = ColumnProblem(block.X, np.asarray(block.y, dtype=np.float64), block.weight)
        known = problem.as_gram() if self.by_gram else problem
        return Part(known, problem.total, problem.mean, problem.y_mean)

    def losses(self, k: int, part: Part, solutions) -> np.ndarray:
        """Sum of squared errors on the rows of fold k."""
        rows = np.flatnonzero(self.fold == k)
        X, y, weight = self.block.X[rows], np.asarray(self.block.y)[rows], self.weight[rows]
        errors = []
        for S, w in solutions:
            r = y - part.y_mean - (np.asarray(X[:, S] @ w) - part.x_mean[S] @ w)
            errors.append(weight @ r**2)
        return np.array(errors)


def debiased(problem, solutions) -> list:
    """Least squares without a penalty on the columns of each solution; of minimum norm where it is not unique."""
    refits = []
    for S, w in solutions:
        if len(S):
            G = problem.gram(S, S)
            scale = 1.0 / np.sqrt(np.diag(G))  # a selected column is not constant
            w = scale * np.linalg.lstsq(scale[:, None] * G * scale, scale * problem.b[S], rcond=1e-12)[0]
        refits.append((S, w))
    return refits
