"""Losses for boosted trees: where they start, their slopes and what held-out rows lose."""

from __future__ import annotations

import numpy as np

from mercer import _numeric


class _Loss:
    """`targets` are what scores are to come near; `logistic` says in which of the two ways of `tree_gradients`."""

    logistic: bool
    targets: np.ndarray
    weight: np.ndarray | None

    def weights(self) -> np.ndarray:
        return np.ones(len(self.targets)) if self.weight is None else np.asarray(self.weight, dtype=np.float64)

    def slopes(self, scores):
        """Gradient and hessian of each output (down) and row (across)."""
        return _numeric.tree_gradients(scores, self.targets, self.weights(), self.logistic)


class Squares(_Loss):
    """Half the squared error: gradient s - y, hessian one."""

    logistic = False

    def __init__(self, y, weight=None):
        self.targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        self.weight = weight

    @property
    def leading(self):
        """One number per row that orders the levels of categories."""
        return self.targets[:, 0]

    def base(self, rows):
        return _mean(self.targets, self.weight, rows)

    def at(self, rows) -> Squares:
        """The loss of some of the rows."""
        return Squares(self.targets[rows], _some(self.weight, rows))

    def loss(self, scores):
        return _sum(self.weight, np.sum((scores - self.targets) ** 2, axis=1))


def _some(weight, rows):
    return None if weight is None else weight[rows]


def _mean(values, weight, rows):
    return np.average(values[rows], axis=0, weights=_some(weight, rows))


def _sum(weight, losses):
    return float(np.sum(losses) if weight is None else weight @ losses)


class LogLoss(_Loss):
    """Logistic loss of class numbers: one column of log-odds for two classes, a softmax over columns for more."""

    logistic = True

    def __init__(self, label, n_classes, weight=None):
        self.label, self.n, self.weight = np.asarray(label), n_classes, weight
        self.targets = np.eye(n_classes)[self.label] if n_classes > 2 else self.label[:, None].astype(np.float64)

    @property
    def leading(self):
        """The indicator of the most frequent class (of the second of two)."""
        return self.targets[:, int(_mean(self.targets, self.weight, slice(None)).argmax())]

    def base(self, rows):
        shares = np.clip(_mean(self.targets, self.weight, rows), 1e-4, 1 - 1e-4)
        return np.log(shares / (1 - shares)) if self.n == 2 else np.log(shares)

    def at(self, rows) -> LogLoss:
        """The loss of some of the rows."""
        return LogLoss(self.label[rows], self.n, _some(self.weight, rows))

    def loss(self, scores):
        if self.n == 2:
            return _sum(self.weight, np.logaddexp(0, np.where(self.targets > 0, -scores, scores))[:, 0])
        top = scores.max(axis=1, keepdims=True)
        logs = np.log(np.exp(scores - top).sum(axis=1)) + top[:, 0]
        return _sum(self.weight, logs - scores[np.arange(len(scores)), self.label])
