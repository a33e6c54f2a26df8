"""How scores change as single columns take other values, block by block: a block computes only what a column touches.

With thousands of columns, computing all features of all rows for every column would cost the square of their number.
Columns and bins are additive, so each change stands alone. Trees and products read few columns, and are evaluated for
these alone. The phase <omega, x> of a random Fourier feature changes by omega_j times the change of x_j.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from mercer.auto.features.union import Features

#: Numbers in the rows of a path that are computed at once.
BATCH_ENTRIES = 2**22


class ComputesFeatures(Protocol):
    """Anything that computes features of rows."""

    def features(self, X: np.ndarray) -> np.ndarray:
        """The features of the rows X."""


class ScoreChanges:
    """The scores of one block for fixed rows, as columns of these take other values."""

    #: Whether a change of several columns is the sum of their changes, wherever the others are.
    additive = False

    def changed(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The change of the scores of the rows as these columns take other values."""
        raise NotImplementedError

    def path(self, x: np.ndarray, groups: list[np.ndarray]) -> np.ndarray:
        """The change by each group of columns as the first row becomes x, group after group."""
        raise NotImplementedError


class AdditiveChanges(ScoreChanges):
    """Changes that add up over columns: no path is needed."""

    additive = True


class RecomputedChanges(ScoreChanges):
    """A block that reads the columns `used`, evaluated again on these alone."""

    def __init__(self, block: ComputesFeatures, used: np.ndarray, X: np.ndarray, coef: np.ndarray):
        self.used, self.block = used, block
        self.position = np.full(X.shape[1], -1)
        self.position[used] = np.arange(len(used))
        self.X, self.coef = X[:, used], coef
        self.before = block.features(self.X) @ coef

    def changed(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        position = self.position[columns]
        if not np.any(position >= 0):
            return np.zeros_like(self.before)
        other = self.X.copy()
        other[:, position[position >= 0]] = values[:, position >= 0]
        return self.block.features(other) @ self.coef - self.before

    def path(self, x: np.ndarray, groups: list[np.ndarray]) -> np.ndarray:
        gains = np.zeros((len(groups), self.coef.shape[1]))
        read = [(k, index[index >= 0]) for k, index in enumerate(self.position[columns] for columns in groups)]
        read = [(k, index) for k, index in read if len(index)]
        row, before, goal = self.X[0].copy(), self.before[:1], x[self.used]
        batch = max(1, BATCH_ENTRIES // max(len(row), 1))
        for start in range(0, len(read), batch):
            some = read[start : start + batch]
            rows = np.empty((len(some), len(row)))
            for out, (_, index) in zip(rows, some, strict=True):
                row[index] = goal[index]
                out[:] = row
            scores = self.block.features(rows) @ self.coef
            gains[[k for k, _ in some]] = np.diff(np.vstack([before, scores]), axis=0)
            before = scores[-1:]
        return gains


class Perturbations:
    """The scores of a linear model on features for rows X, as columns of these take other values."""

    def __init__(self, features: Features, coef: np.ndarray, X: np.ndarray):
        X = np.asarray(X, dtype=np.float64)
        self.n_outputs = coef.shape[1]
        self.parts = [
            block.score_changes(X, coef[columns])
            for block, columns in zip(features.blocks, features.slices(), strict=True)
        ]

    def changed(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The change of the scores of the rows as some columns take other values."""
        first, *others = (part.changed(columns, values) for part in self.parts)
        return sum(others, first)

    def mean_path(self, x: np.ndarray, groups: list[np.ndarray], orders: Iterable[np.ndarray]) -> np.ndarray:
        """The change by each group as the only row becomes x, averaged over orders of the groups."""
        orders = list(orders)
        total = np.zeros((len(groups), self.n_outputs))
        for part in self.parts:
            if part.additive:
                total += np.vstack([part.changed(columns, x[None, columns]) for columns in groups])
                continue
            for order in orders:
                total[order] += part.path(x, [groups[index] for index in order]) / len(orders)
        return total
