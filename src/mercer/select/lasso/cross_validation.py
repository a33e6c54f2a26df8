"""Lasso problems of all rows and of all rows without one fold, from Gram matrices per fold or from rows in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer._numeric.linalg import dense
from mercer.select.base import row_weights
from mercer.select.lasso.datafit import ColumnDatafit, GramDatafit, Solution
from mercer.stats.gram import GramPerFold, Normal

#: A column whose centered sum of squares is below this fraction of weight * mean^2 holds nothing but rounding.
_CONSTANT = 1e-24


@dataclass(frozen=True)
class CenteredProblem:
    """A data fit over some rows: its total weight, and the means that centered its columns and target."""

    datafit: Any
    weight: float
    x_mean: np.ndarray
    y_mean: float


class GramCrossValidation:
    """Problems from Gram matrices per fold."""

    #: Penalties solved before the next fold's problem is made: centering a Gram matrix costs as much as several.
    round_size = 40

    def __init__(self, learned: GramPerFold):
        self.learned = learned
        self.n_folds = len(learned.folds)

    def all_rows(self) -> CenteredProblem:
        return self._problem(self.learned.total)

    def without_fold(self, k: int) -> CenteredProblem:
        return self._problem(self.learned.total - self.learned.folds[k])

    def _problem(self, normal: Normal) -> CenteredProblem:
        z_mean, y_mean = normal.means()
        G, B, Y = normal.about(z_mean, y_mean)
        x_mean = z_mean + self.learned.z_origin
        constant = np.diag(G) <= _CONSTANT * normal.weight * x_mean**2
        G[constant], G[:, constant], B[constant] = 0.0, 0.0, 0.0
        center = float(y_mean[0] + self.learned.y_origin[0])
        if Y[0, 0] <= _CONSTANT * normal.weight * center**2:
            B, Y = np.zeros_like(B), np.zeros_like(Y)
        return CenteredProblem(GramDatafit(G, B[:, 0].copy(), Y[0, 0]), float(normal.weight), x_mean, center)

    def fold_losses(self, k: int, problem: CenteredProblem, solutions: list[Solution]) -> np.ndarray:
        """Return the sum of squared errors of each solution on the rows of fold k."""
        x_mean = problem.x_mean - self.learned.z_origin
        y_mean = np.array([problem.y_mean]) - self.learned.y_origin
        G, B, Y = self.learned.folds[k].about(x_mean, y_mean)
        return np.array([Y[0, 0] - 2 * w @ B[S, 0] + w @ G[np.ix_(S, S)] @ w for S, w in solutions])


class RowCrossValidation:
    """Problems from rows in memory; with `gram` each is solved from the Gram matrix of all its columns."""

    #: Penalties solved before the next fold's problem is made: one copy of the rows exists at a time.
    round_size = 10

    def __init__(self, block: Block, n_folds: int = 1, seed: int = 0, gram: bool = False):
        self.block, self.gram = block, gram
        self.weight = row_weights(block)
        self._n_folds_and_seed = n_folds, seed

    @cached_property
    def fold(self) -> np.ndarray:
        """The fold of each row, by its hash; empty folds are not counted."""
        return np.unique(fold_of(self.block.ids, *self._n_folds_and_seed), return_inverse=True)[1]

    @property
    def n_folds(self) -> int:
        return int(self.fold.max()) + 1

    def all_rows(self) -> CenteredProblem:
        return self._problem(self.block)

    def without_fold(self, k: int) -> CenteredProblem:
        return self._problem(self.block.rows(np.flatnonzero(self.fold != k)))

    def _problem(self, block: Block) -> CenteredProblem:
        columns = ColumnDatafit(block.X, np.asarray(block.y, dtype=np.float64), block.weight)
        datafit = columns.as_gram() if self.gram else columns
        return CenteredProblem(datafit, columns.total, columns.mean, columns.y_mean)

    def fold_losses(self, k: int, problem: CenteredProblem, solutions: list[Solution]) -> np.ndarray:
        """Return the sum of squared errors of each solution on the rows of fold k."""
        rows = np.flatnonzero(self.fold == k)
        X, y, weight = self.block.X[rows], np.asarray(self.block.y)[rows], self.weight[rows]
        errors = []
        for S, w in solutions:
            r = y - problem.y_mean - (np.asarray(X[:, S] @ w) - problem.x_mean[S] @ w)
            errors.append(weight @ r**2)
        return np.array(errors)


def debiased(datafit: GramDatafit | ColumnDatafit, solutions: list[Solution]) -> list[Solution]:
    """Refit the columns of each solution by least squares; of minimum norm where that is not unique."""
    refits = []
    for S, w in solutions:
        if len(S):
            G = datafit.gram(S, S)
            scale = 1.0 / np.sqrt(np.diag(G))  # a selected column is not constant
            w = scale * dense.lstsq(scale[:, None] * G * scale, scale * datafit.b[S], rcond=1e-12)
        refits.append((S, w))
    return refits
