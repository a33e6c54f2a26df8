"""Exact leave-one-out errors of every ridge penalty, from one more look at the rows.

The error that row i would have if the fit had not seen it is e_i = (y_i - yhat_i) / (1 - h_i), where
h_i = min(w_i, 1) (1/W + z_i' (G + alpha)^{-1} z_i) is its leverage, z_i measured from the mean and W the sum of weights
(Allen 1974). A weight of 3 is three rows, of which one is left out; a weight of 1/2 is half a row, and left out. In
the eigenvectors of G all penalties share one rotation of the row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.linear.ridge.factor import Spectral
from mercer.stats.base import Statistic

_ROWS = 1024
#: A row that fits itself to within this says nothing about the rest.
_LEAST_LEFT = 1e-10


@dataclass(frozen=True)
class LeaveOneOut(Statistic):
    """sum of w_i e_i^2 for each penalty, all targets together.

    Rows z = scale * (x - center) are those that `factor` was made of; targets are measured from `y_center`. `labels`
    turn targets into the indicators of classes.
    """

    factor: Spectral
    alphas: np.ndarray
    center: np.ndarray
    y_center: np.ndarray
    scale: Any = 1.0
    labels: Any = None
    n: int = 0
    losses: Any = None

    def of(self, block):
        losses = np.zeros(len(self.alphas))
        weight = np.ones(len(block)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        rotation = self.factor.vectors * np.reshape(self.scale, (-1, 1))
        inverses = np.stack([self.factor.inverse(alpha) for alpha in self.alphas])
        for start in range(0, len(block), _ROWS):
            rows = slice(start, start + _ROWS)
            losses += self._losses(block.X[rows], self._targets(block.y[rows]), weight[rows], rotation, inverses)
        return replace(self, n=len(block), losses=losses)

    def _targets(self, y):
        if self.labels is not None:
            return (np.asarray(y)[:, None] == self.labels) - self.y_center
        return np.asarray(y, dtype=np.float64).reshape(len(y), -1) - self.y_center

    def _losses(self, X, Y, weight, rotation, inverses):
        U = X @ rotation - self.center @ rotation if hasattr(X, "tocsr") else (X - self.center) @ rotation
        left = 1.0 - np.minimum(weight, 1.0)[:, None] * (1.0 / self.factor.weight + (U * U) @ inverses.T)
        fits = inverses[:, :, None] * self.factor.rotated_B
        errors = Y[:, None, :] - np.tensordot(U, fits, axes=(1, 1))
        told = left > _LEAST_LEFT
        shares = np.where(told[:, :, None], errors / np.where(told, left, 1.0)[:, :, None], np.inf)
        return weight @ np.sum(shares * shares, axis=2)

    def _merge(self, other):
        return replace(self, n=self.n + other.n, losses=self.losses + other.losses)

    def finish(self) -> np.ndarray:
        """The (weighted) mean squared error of each penalty."""
        return self.losses / self.factor.weight
