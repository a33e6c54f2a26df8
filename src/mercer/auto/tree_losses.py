"""Losses for boosted trees: where they start, their slopes and what held-out rows lose."""

from __future__ import annotations

import numpy as np


class Squares:
    """Half the squared error: gradient s - y, hessian one."""

    def __init__(self, y, weight=None):
        self.y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        self.weight = weight

    @property
    def leading(self):
        """One number per row that orders the levels of categories."""
        return self.y[:, 0]

    def base(self, rows):
        return _mean(self.y, self.weight, rows)

    def at(self, rows) -> Squares:
        """The loss of some of the rows."""
        return Squares(self.y[rows], _some(self.weight, rows))

    def slopes(self, scores):
        return _weighted(self.weight, scores - self.y, np.ones(scores.shape))

    def loss(self, scores):
        return _sum(self.weight, np.sum((scores - self.y) ** 2, axis=1))


def _some(weight, rows):
    return None if weight is None else weight[rows]


def _mean(values, weight, rows):
    return np.average(values[rows], axis=0, weights=_some(weight, rows))


def _weighted(weight, *parts):
    return parts if weight is None else tuple(weight[:, None] * part for part in parts)


def _sum(weight, losses):
    return float(np.sum(losses) if weight is None else weight @ losses)


class LogLoss:
    """Logistic loss of class numbers: one column of log-odds for two classes, a softmax over columns for more."""

    def __init__(self, label, n_classes, weight=None):
        self.label, self.n, self.weight = np.asarray(label), n_classes, weight
        self.hot = np.eye(n_classes)[self.label] if n_classes > 2 else self.label[:, None].astype(np.float64)

    @property
    def leading(self):
        """The indicator of the most frequent class (of the second of two)."""
        return self.hot[:, int(_mean(self.hot, self.weight, slice(None)).argmax())]

    def base(self, rows):
        shares = np.clip(_mean(self.hot, self.weight, rows), 1e-4, 1 - 1e-4)
        return np.log(shares / (1 - shares)) if self.n == 2 else np.log(shares)

    def at(self, rows) -> LogLoss:
        """The loss of some of the rows."""
        return LogLoss(self.label[rows], self.n, _some(self.weight, rows))

    def slopes(self, scores):
        p = self._probabilities(scores)
        factor = 1.0 if self.n == 2 else self.n / (self.n - 1)  # as Friedman (2001): the columns are not independent
        return _weighted(self.weight, p - self.hot, np.maximum(factor * p * (1 - p), 1e-6))

    def _probabilities(self, scores):
        """In float32, whose exponentials are much faster: the grid on which trees add slopes is hardly finer."""
        scores = scores.astype(np.float32)
        if self.n == 2:
            return 1 / (1 + np.exp(-np.clip(scores, -35, 35)))
        shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)

    def loss(self, scores):
        if self.n == 2:
            return _sum(self.weight, np.logaddexp(0, np.where(self.hot > 0, -scores, scores))[:, 0])
        top = scores.max(axis=1, keepdims=True)
        logs = np.log(np.exp(scores - top).sum(axis=1)) + top[:, 0]
        return _sum(self.weight, logs - scores[np.arange(len(scores)), self.label])
