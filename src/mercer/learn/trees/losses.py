"""Losses of boosted trees: initial scores, gradients and Hessians, and the loss of held-out rows."""

from __future__ import annotations

import numpy as np

from mercer import _numeric
from mercer.learn.targets import numeric_target
from mercer.linear.losses import LogLoss

#: Initial class probabilities lie at least this far from 0 and 1.
_MIN_PROBABILITY = 1e-4


class TreeLoss:
    """A loss of rows (targets, weight) in scores of the same shape; `logistic` chooses the gradients."""

    logistic: bool
    targets: np.ndarray
    weight: np.ndarray | None
    #: Whether compiled rounds have the gradients; others grow tree by tree.
    compiled: bool = True
    #: Whether the Hessian of a row is its weight.
    counts_rows: bool = False

    @property
    def ordering_target(self) -> np.ndarray:
        """One number per row, whose means order categories."""
        raise NotImplementedError

    def base(self, rows: np.ndarray) -> np.ndarray:
        """The best constant scores of some rows."""
        return self.base_of(self._mean_target(rows))

    @staticmethod
    def base_of(mean: np.ndarray) -> np.ndarray:
        """The best constant scores of rows with these mean targets."""
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

    def leaf_values(self, k: int, value: np.ndarray, leaf: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The values of the nodes of a tree for output k: its Newton values, unless the loss knows better."""
        return value

    def ordered_values(self, k: int, value: np.ndarray, leaf: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The same in the order of the Newton values, for monotone columns."""
        return value

    def _weight_of(self, rows: np.ndarray | slice) -> np.ndarray | None:
        return None if self.weight is None else self.weight[rows]

    def _mean_target(self, rows: np.ndarray | slice) -> np.ndarray:
        return np.average(self.targets[rows], axis=0, weights=self._weight_of(rows))

    def _sum(self, losses: np.ndarray) -> float:
        return float(np.sum(losses) if self.weight is None else self.weight @ losses)


class SquaredTreeLoss(TreeLoss):
    """Squared error (s - y)^2; trees go by the gradient s - y and the Hessian 1 of its half."""

    logistic = False
    counts_rows = True

    def __init__(self, y: np.ndarray, weight: np.ndarray | None = None):
        targets = np.asarray(y, dtype=np.float64)
        self.targets = targets[:, None] if targets.ndim == 1 else targets
        self.weight = weight

    @property
    def ordering_target(self) -> np.ndarray:
        """The first target."""
        return self.targets[:, 0]

    @staticmethod
    def base_of(mean: np.ndarray) -> np.ndarray:
        return mean

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

    @staticmethod
    def base_of(mean: np.ndarray) -> np.ndarray:
        p = np.clip(mean, _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)
        return np.log(p / (1 - p)) if len(mean) == 1 else np.log(p)

    def at(self, rows: np.ndarray) -> LogisticTreeLoss:
        return LogisticTreeLoss(self.label[rows], self.n_classes, self._weight_of(rows))

    def loss(self, scores: np.ndarray) -> float:
        return self._sum(LogLoss().value(self.label, scores))


def loss_of_target(y: np.ndarray, weight: np.ndarray | None, classes: np.ndarray | None) -> TreeLoss:
    """The squared loss of numbers, or the logistic loss of classes."""
    targets = numeric_target(y, classes)
    if classes is None:
        return SquaredTreeLoss(targets, weight)
    several = targets.shape[1] > 1
    labels = targets.argmax(axis=1) if several else targets[:, 0].astype(np.intp)
    return LogisticTreeLoss(labels, max(2, len(classes)), weight)
