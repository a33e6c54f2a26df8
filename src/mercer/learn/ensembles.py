"""Ensembles of small trees: what they score and in which leaves rows fall, kept as plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.tree import DecisionTreeRegressor

from mercer.learn.boosting import Forest, Growth, grown
from mercer.learn.stored_trees import WeightedLogLoss, WeightedSquares, narrowed, on_grid, stored

_LEARNING_RATE = 0.1
_LEAST_ROWS = 20


class Scores:
    """A fitted ensemble of all outputs: raw predictions for quantities, margins (log odds) for classes."""

    def __init__(self, kind: str, n_trees: int, max_leaves: int, seed: int):
        self.kind, self.n_trees, self.max_leaves, self.seed = kind, n_trees, max_leaves, seed

    def fit(self, X, targets: np.ndarray, weight) -> Scores:
        """Learn columns of quantities (float) or a vector of class codes (int)."""
        self.met: Any = None  # the classes met
        if targets.dtype.kind == "i":
            self.met, targets = np.unique(targets, return_inverse=True)
        if self.met is not None and len(self.met) < 2:
            self.forest = Forest(np.zeros(1))
        else:
            self.forest = (
                self._boosted(X, targets, weight) if self.kind == "boosted" else self._extra(X, targets, weight)
            )
        return self

    def _boosted(self, X, targets, weight) -> Forest:
        weight = np.ones(len(targets)) if weight is None else weight
        several = self.met is not None
        loss: Any = WeightedLogLoss(targets, len(self.met), weight) if several else WeightedSquares(targets, weight)
        growth = Growth(
            max_leaves=self.max_leaves,
            rate=_LEARNING_RATE,
            least_rows=_LEAST_ROWS,
            l2=1e-9,  # a bin without rows must not divide by zero
            columns=1.0,
            max_bins=255,
            seed=self.seed,
        )
        return grown(X, loss, growth, self.n_trees)

    def _extra(self, X, targets, weight) -> Forest:
        how = {"max_leaf_nodes": self.max_leaves, "random_state": self.seed}
        if self.met is None:
            fitted = [ExtraTreesRegressor(self.n_trees, **how).fit(X, y, weight) for y in targets.T]
            pairs = [(k, tree, tree.tree_.value[:, 0, 0]) for k, m in enumerate(fitted) for tree in m.estimators_]
        else:
            trees = ExtraTreesClassifier(self.n_trees, **how).fit(X, targets, weight).estimators_
            shown = range(len(self.met)) if len(self.met) > 2 else [1]  # of two classes the second
            pairs = [(i, tree, _chances(tree)[:, k]) for i, k in enumerate(shown) for tree in trees]
        outputs, trees, values = (list(part) for part in zip(*pairs, strict=True))
        return stored(trees, [value / self.n_trees for value in values], outputs)

    def predict(self, X, n_classes: int) -> np.ndarray:
        """One column per output; for two classes one in all."""
        scores = self.forest.scores(X if self.kind == "boosted" else narrowed(X))
        if n_classes == 0:
            return scores
        if len(self.met) < 2:
            return np.zeros((len(X), 1 if n_classes == 2 else n_classes))
        if self.kind == "forest":
            shrunk = (np.clip(scores, 0, 1) * self.n_trees + 0.5) / (self.n_trees + 1)
            scores = np.log(shrunk) - np.log1p(-shrunk)
        return _all_classes(scores, self.met, n_classes)


class Leaves:
    """A sequence of trees, and the number of the leaf in each that a row falls into."""

    def __init__(self, kind: str, n_trees: int, max_leaves: int, seed: int):
        self.kind, self.n_trees, self.max_leaves, self.seed = kind, n_trees, max_leaves, seed

    def fit(self, X, targets: np.ndarray, weight, is_class: bool) -> Leaves:
        """Learn columns of quantities, or of indicators of classes."""
        if self.kind == "boosted":
            trees = list(self._boosted(X, targets, weight, is_class))
        else:
            forest = ExtraTreesRegressor(self.n_trees, max_leaf_nodes=self.max_leaves, random_state=self.seed)
            trees = list(forest.fit(X, targets.ravel() if targets.shape[1] == 1 else targets, weight).estimators_)
        leaves = [_leaf_numbers(tree) for tree in trees]
        self.widths = [int(numbers.max()) + 1 for numbers in leaves]
        self.forest = stored(trees, leaves, range(len(trees)))
        return self

    def _boosted(self, X, targets, weight, is_class):
        """Trees on the gradients of the squared or logistic loss, one after the other."""
        center = np.average(targets, axis=0, weights=weight)
        if is_class:
            chance = np.clip(center, 1e-6, 1 - 1e-6)
            center = np.log(chance / (1 - chance))
        scores = np.tile(center, (len(targets), 1))
        rng = np.random.RandomState(self.seed)
        for _ in range(self.n_trees):
            expected = expit(scores) if is_class else scores
            tree = DecisionTreeRegressor(max_leaf_nodes=self.max_leaves, random_state=rng.randint(2**31))
            tree.fit(X, on_grid(targets - expected), weight)
            yield tree
            steps = tree.predict(X).reshape(scores.shape)
            scores += _LEARNING_RATE * (4.0 * steps if is_class else steps)  # 4: the curvature is at most 1/4

    def number(self, X) -> np.ndarray:
        """The leaf of each row (down) in each tree (across), counted from 0."""
        return self.forest.scores(narrowed(X)).astype(np.int64)


def _leaf_numbers(tree) -> np.ndarray:
    """For each node of a tree the number of the leaf it is, from left to right; -1 for inner nodes."""
    left, right = tree.tree_.children_left, tree.tree_.children_right
    numbers = np.full(len(left), -1)
    count, waiting = 0, [0]
    while waiting:
        node = waiting.pop()
        if left[node] < 0:
            numbers[node], count = count, count + 1
        else:
            waiting += [right[node], left[node]]
    return numbers


def _chances(tree) -> np.ndarray:
    """The share of each class in each node."""
    shares = tree.tree_.value[:, 0, :]
    return shares / shares.sum(axis=1, keepdims=True)


def _all_classes(margins: np.ndarray, met: np.ndarray, n_classes: int) -> np.ndarray:
    """Margins of all classes, of the second alone if there are two; a class that was not met scores the least."""
    if n_classes == 2:
        return margins
    margins = np.hstack([-margins, margins]) if len(met) == 2 else margins
    out = np.repeat(margins.min(axis=1, keepdims=True), n_classes, axis=1)
    out[:, met] = margins
    return out
