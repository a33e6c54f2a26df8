"""Exact leave-one-out errors of every ridge penalty, from one more pass over the rows.

The error of row i under the fit without it is e_i = (y_i - yhat_i) / (1 - h_i), where
h_i = min(w_i, 1) (1/W + z_i' (G + alpha)^{-1} z_i) is its leverage, z_i measured from the mean and W the sum of weights
(Allen 1974). A weight of 3 is three rows, of which one is left out; a weight of 1/2 is half a row, which is left out.
In the basis of the eigenvectors of G all penalties share one rotation of the row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from mercer._numeric.block import Block
from mercer.linear.ridge.factor import Spectral
from mercer.stats.base import Statistic

_ROWS = 1024
#: Rows of leverage closer to 1 than this have an infinite leave-one-out error.
_MIN_REMAINDER = 1e-10


@dataclass(frozen=True)
class LeaveOneOut(Statistic):
    """sum of w_i e_i^2 for each penalty, all targets together.

    `factor` is of the rows z = scale * (x - center); targets are measured from `y_center`. With `labels` targets are
    the indicators of classes.
    """

    factor: Spectral
    alphas: np.ndarray
    center: np.ndarray
    y_center: np.ndarray
    scale: Any = 1.0
    labels: Any = None
    n: int = 0
    losses: Any = None

    def of(self, block: Block) -> Self:
        losses = np.zeros(len(self.alphas))
        weight = np.ones(len(block)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        rotation = self.factor.vectors * np.reshape(self.scale, (-1, 1))
        inverses = np.stack([self.factor.inverse(alpha) for alpha in self.alphas])
        for start in range(0, len(block), _ROWS):
            rows = slice(start, start + _ROWS)
            Y = self._targets(np.asarray(block.y)[rows])
            losses += self._losses(block.X[rows], Y, weight[rows], rotation, inverses)
        return replace(self, n=len(block), losses=losses)

    def _targets(self, y: Any) -> np.ndarray:
        if self.labels is not None:
            return (np.asarray(y)[:, None] == self.labels) - self.y_center
        return np.asarray(y, dtype=np.float64).reshape(len(y), -1) - self.y_center

    def _losses(
        self, X: Any, Y: np.ndarray, weight: np.ndarray, rotation: np.ndarray, inverses: np.ndarray
    ) -> np.ndarray:
        U = X @ rotation - self.center @ rotation if hasattr(X, "tocsr") else (X - self.center) @ rotation
        remainder = 1.0 - np.minimum(weight, 1.0)[:, None] * (1.0 / self.factor.weight + (U * U) @ inverses.T)
        fits = inverses[:, :, None] * self.factor.rotated_B
        errors = Y[:, None, :] - np.tensordot(U, fits, axes=(1, 1))
        defined = remainder > _MIN_REMAINDER
        left_out = np.where(defined[:, :, None], errors / np.where(defined, remainder, 1.0)[:, :, None], np.inf)
        return weight @ np.sum(left_out * left_out, axis=2)

    def _merge(self, other: Self) -> Self:
        return replace(self, n=self.n + other.n, losses=self.losses + other.losses)

    def finish(self) -> np.ndarray:
        """Return the (weighted) mean squared error of each penalty."""
        return self.losses / self.factor.weight
