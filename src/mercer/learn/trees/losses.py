"""Losses of boosted trees: initial scores, gradients and Hessians, and the loss of held-out rows."""

from __future__ import annotations

import numpy as np

from mercer import _numeric
from mercer.linear.losses import LogLoss

#: Initial class probabilities lie at least this far from 0 and 1.
_MIN_PROBABILITY = 1e-4


class TreeLoss:
    """A loss of rows (targets, weight) in scores of the same shape; `logistic` chooses the gradients."""

    logistic: bool
    targets: np.ndarray
    weight: np.ndarray | None

    @property
    def ordering_target(self) -> np.ndarray:
        """One number per row, whose means order categories."""
        raise NotImplementedError

    def base(self, rows: np.ndarray) -> np.ndarray:
        """The best constant scores of some rows."""
        raise NotImplementedError

    def at(self, rows: np.ndarray) -> TreeLoss:
        """The loss of some of the rows."""
        raise NotImplementedError

    def loss(self, scores: np.ndarray) -> float:
        """The weighted sum of losses."""
        raise NotImplementedError

    def weights(self) -> np.ndarray:
        """The weight of each row."""
        return np.ones(len(self.targets)) if self.weight is None else np.asarray(self.weight, dtype=np.float64)

    def gradients(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and Hessian of each output (down) and row (across)."""
        return _numeric.tree_gradients(scores, self.targets, self.weights(), self.logistic)

    def _weight_of(self, rows: np.ndarray | slice) -> np.ndarray | None:
        return None if self.weight is None else self.weight[rows]

    def _mean_target(self, rows: np.ndarray | slice) -> np.ndarray:
        return np.average(self.targets[rows], axis=0, weights=self._weight_of(rows))

    def _sum(self, losses: np.ndarray) -> float:
        return float(np.sum(losses) if self.weight is None else self.weight @ losses)


class SquaredTreeLoss(TreeLoss):
    """Squared error (s - y)^2; trees go by the gradient s - y and the Hessian 1 of its half."""

    logistic = False

    def __init__(self, y: np.ndarray, weight: np.ndarray | None = None):
        targets = np.asarray(y, dtype=np.float64)
        self.targets = targets[:, None] if targets.ndim == 1 else targets
        self.weight = weight

    @property
    def ordering_target(self) -> np.ndarray:
        """The first target."""
        return self.targets[:, 0]

    def base(self, rows: np.ndarray) -> np.ndarray:
        return self._mean_target(rows)

    def at(self, rows: np.ndarray) -> SquaredTreeLoss:
        return SquaredTreeLoss(self.targets[rows], self._weight_of(rows))

    def loss(self, scores: np.ndarray) -> float:
        return self._sum(np.sum((scores - self.targets) ** 2, axis=1))


class LogisticTreeLoss(TreeLoss):
    """Logistic loss of class numbers: one column of log-odds for two classes, a softmax over columns for more."""

    logistic = True

    def __init__(self, label: np.ndarray, n_classes: int, weight: np.ndarray | None = None):
        self.label, self.n_classes, self.weight = np.asarray(label), n_classes, weight
        self.targets = np.eye(n_classes)[self.label] if n_classes > 2 else self.label[:, None].astype(np.float64)

    @property
    def ordering_target(self) -> np.ndarray:
        """The indicator of the most frequent class (of the second of two)."""
        return self.targets[:, int(self._mean_target(slice(None)).argmax())]

    def base(self, rows: np.ndarray) -> np.ndarray:
        p = np.clip(self._mean_target(rows), _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)
        return np.log(p / (1 - p)) if self.n_classes == 2 else np.log(p)

    def at(self, rows: np.ndarray) -> LogisticTreeLoss:
        return LogisticTreeLoss(self.label[rows], self.n_classes, self._weight_of(rows))

    def loss(self, scores: np.ndarray) -> float:
        return self._sum(LogLoss().value(self.label, scores))
