"""The whole Hessian of the softmax loss, where it is small: classes bend together, and Newton's steps are exact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.linear.losses import LogLoss
from mercer.stats.base import Statistic

#: The most entries of a point (weights and intercepts of all classes) for which the whole Hessian is formed.
MOST_ENTRIES = 512


@dataclass(frozen=True)
class JointCurvature:
    """sum of w (diag(p) - p p') x (z, 1)(z, 1)', an array (classes, D + 1, classes, D + 1)."""

    H: np.ndarray

    def solver(self, alpha: float) -> Callable[[np.ndarray], np.ndarray]:
        """x -> the inverse of the Hessian with the penalty alpha ||w||^2, times x (D + 1 rows, a column per class)."""
        from scipy.linalg import cho_factor, cho_solve

        C, rows = self.H.shape[:2]
        H = self.H.copy()
        for a in range(C):
            H[a, np.arange(rows - 1), a, np.arange(rows - 1)] += 2 * alpha
        # One number added to all intercepts changes nothing: that direction is held.
        H[:, -1, :, -1] += max(np.trace(H[:, -1, :, -1]), np.finfo(float).tiny) / C
        H = H.reshape(C * rows, C * rows)
        H[np.diag_indices_from(H)] += 1e-14 * np.trace(H)
        factor = cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
        return lambda x: cho_solve(factor, x.T.ravel(), check_finite=False).reshape(C, rows).T


@dataclass(frozen=True)
class JointHessian(Statistic):
    """The Hessian at a point (D + 1 rows, the intercepts last; a column per class), rows measured from `origin`."""

    point: np.ndarray
    origin: np.ndarray
    n: int = 0
    H: Any = None

    def of(self, block):
        if len(block) == 0:
            return replace(self, n=0)
        X = block.X.toarray() if hasattr(block.X, "tocsr") else block.X
        Z = np.hstack([X.astype(np.float64) - self.origin, np.ones((len(X), 1))])
        p = LogLoss().probabilities(Z @ self.point)
        weight = np.ones(len(X)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        rows, C = self.point.shape
        H = np.empty((C, rows, C, rows))
        for a in range(C):
            for b in range(a, C):
                bend = weight * p[:, a] * ((a == b) - p[:, b])
                H[a, :, b] = (Z.T * bend) @ Z
                H[b, :, a] = H[a, :, b].T
        return replace(self, n=len(X), H=H)

    def _merge(self, other):
        return replace(self, n=self.n + other.n, H=self.H + other.H)

    def finish(self) -> JointCurvature:
        return JointCurvature(self.H)
