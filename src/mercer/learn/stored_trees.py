"""Fitted trees of scikit-learn as plain arrays, and boosting for rows that have weights."""

from __future__ import annotations

import numpy as np

from mercer.learn.boosting import Forest, LogLoss, Squares


def stored(trees: list, values: list[np.ndarray], outputs) -> Forest:
    """A forest that adds the value of the leaf of each tree to its output, for rows as `narrowed` gives them."""
    parts = []
    for tree, value, output in zip(trees, values, outputs, strict=True):
        nodes = tree.tree_
        inner = nodes.children_left >= 0
        column = np.where(inner, nodes.feature, -1).astype(np.int64)
        threshold = np.where(inner, nodes.threshold, 0.0)
        left, right = (child.astype(np.int64) for child in (nodes.children_left, nodes.children_right))
        parts.append((output, column, threshold, left, right, np.asarray(value, dtype=np.float64)))
    return Forest.of(np.zeros(int(max(outputs)) + 1), parts)


def narrowed(X) -> np.ndarray:
    """Rows as the trees of scikit-learn see them."""
    return np.asarray(X).astype(np.float32).astype(np.float64)


def counts(weight) -> np.ndarray:
    """Weights as numbers of rows, in a column. Those too small to be that are brought to a mean of one: leaves of at
    least so many rows shall not become impossible because weights add up to one."""
    weight = np.asarray(weight, dtype=np.float64)
    return (weight / min(1.0, weight.mean()))[:, None]


def on_grid(gradients: np.ndarray) -> np.ndarray:
    """Gradients rounded to 2^-24 of the largest: their sums are exact in any order, so that equal splits stay equal."""
    largest = np.abs(gradients).max(initial=0.0)
    if not largest > 0:
        return gradients
    unit = np.ldexp(1.0, int(np.frexp(largest)[1]) - 24)
    return np.rint(gradients / unit) * unit


class WeightedSquares(Squares):
    """The squared error, where a weight of two is two rows."""

    def __init__(self, y, weight):
        super().__init__(y)
        self.weight = counts(weight)

    def base(self, rows):
        return np.average(self.y[rows], axis=0, weights=self.weight[rows, 0])

    def slopes(self, scores, rows):
        return tuple(self.weight[rows] * on_grid(slope) for slope in super().slopes(scores, rows))


class WeightedLogLoss(LogLoss):
    """The logistic loss, where a weight of two is two rows."""

    def __init__(self, label, n_classes, weight):
        super().__init__(label, n_classes)
        self.weight = counts(weight)

    def base(self, rows):
        shares = np.average(self.hot[rows], axis=0, weights=self.weight[rows, 0])
        shares = np.clip(shares, 1e-4, 1 - 1e-4)
        return np.log(shares / (1 - shares)) if self.n == 2 else np.log(shares)

    def slopes(self, scores, rows):
        return tuple(self.weight[rows] * on_grid(slope) for slope in super().slopes(scores, rows))
