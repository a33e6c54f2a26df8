"""Ensembles of small trees: the leaves in which rows fall, and scores."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from mercer.learn.trees.boosting import BoostedTrees, leaf_numbers


def ensemble_of(kind: str, n_trees: int, max_leaves: int, shared: bool, seed: int) -> BoostedTrees | Forest:
    """An ensemble to be fitted: it has `fit`, `widths` (the leaves of each tree), `number` and `predict`."""
    return BoostedTrees(n_trees, max_leaves, shared) if kind == "boosted" else Forest(n_trees, max_leaves, seed)


class Forest:
    """Extremely randomized trees on the target, through scikit-learn; classes are learned by their indicators.

    Kept are the nodes of each tree as arrays (column, threshold, left and right child, value per output): rows go left
    where their entry, rounded to float32 as scikit-learn does, is at most the threshold.
    """

    def __init__(self, n_trees: int, max_leaves: int, seed: int):
        self.n_trees, self.max_leaves, self.seed = n_trees, max_leaves, seed

    def fit(self, X, targets: np.ndarray, weight, is_class: bool) -> Forest:
        """Learn columns of quantities, or of indicators of classes."""
        self.is_class = is_class
        model = ExtraTreesRegressor(self.n_trees, max_leaf_nodes=self.max_leaves, random_state=self.seed)
        model.fit(X, targets.ravel() if targets.shape[1] == 1 else targets, weight)
        trees = [tree.tree_ for tree in model.estimators_]
        self.nodes = [(t.feature, t.threshold, t.children_left, t.children_right) for t in trees]
        self.values = [tree.value[:, :, 0] for tree in trees]
        self.numbers = [leaf_numbers(tree.children_left, tree.children_right) for tree in trees]
        self.widths = [int(numbers.max()) + 1 for numbers in self.numbers]
        return self

    def _leaves(self, X) -> list[np.ndarray]:
        """The leaf node of each row, tree by tree."""
        X = np.asarray(X).astype(np.float32)
        everyone, found = np.arange(len(X)), []
        for feature, threshold, left, right in self.nodes:
            node = np.zeros(len(X), dtype=np.intp)
            while (inner := left[node] >= 0).any():
                low = X[everyone, np.maximum(feature[node], 0)] <= threshold[node]
                node = np.where(inner, np.where(low, left[node], right[node]), node)
            found.append(node)
        return found

    def number(self, X) -> np.ndarray:
        """The leaf of each row (down) in each tree (across), counted from 0."""
        pairs = zip(self.numbers, self._leaves(X), strict=True)
        return np.column_stack([numbers[leaf] for numbers, leaf in pairs])

    def predict(self, X) -> np.ndarray:
        """The mean of the trees for each output; for classes the log odds, as if half a tree had voted either way."""
        n = len(self.nodes)
        mean = sum(values[leaf] for values, leaf in zip(self.values, self._leaves(X), strict=True)) / n
        if not self.is_class:
            return mean
        chance = (n * np.clip(mean, 0.0, 1.0) + 0.5) / (n + 1)
        return np.log(chance) - np.log1p(-chance)
