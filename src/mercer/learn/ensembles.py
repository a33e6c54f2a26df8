"""Ensembles of small trees: the leaves in which rows fall, and scores."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from mercer.learn.boosting import BoostedTrees, leaf_numbers


def ensemble_of(kind: str, n_trees: int, max_leaves: int, shared: bool, seed: int) -> BoostedTrees | Forest:
    """An ensemble to be fitted: it has `fit`, `widths` (the leaves of each tree), `number` and `predict`."""
    return BoostedTrees(n_trees, max_leaves, shared) if kind == "boosted" else Forest(n_trees, max_leaves, seed)


class Forest:
    """Extremely randomized trees on the target, through scikit-learn; classes are learned by their indicators."""

    def __init__(self, n_trees: int, max_leaves: int, seed: int):
        self.model = ExtraTreesRegressor(n_trees, max_leaf_nodes=max_leaves, random_state=seed)

    def fit(self, X, targets: np.ndarray, weight, is_class: bool) -> Forest:
        """Learn columns of quantities, or of indicators of classes."""
        self.is_class = is_class
        self.model.fit(X, targets.ravel() if targets.shape[1] == 1 else targets, weight)
        trees = [tree.tree_ for tree in self.model.estimators_]
        self.numbers = [leaf_numbers(tree.children_left, tree.children_right) for tree in trees]
        self.widths = [int(numbers.max()) + 1 for numbers in self.numbers]
        return self

    def number(self, X) -> np.ndarray:
        """The leaf of each row (down) in each tree (across), counted from 0."""
        return np.column_stack(
            [numbers[leaf] for numbers, leaf in zip(self.numbers, self.model.apply(X).T, strict=True)]
        )

    def predict(self, X) -> np.ndarray:
        """The mean of the trees for each output; for classes the log odds, as if half a tree had voted either way."""
        mean = self.model.predict(X).reshape(len(X), -1)
        if not self.is_class:
            return mean
        n = len(self.numbers)
        chance = (n * np.clip(mean, 0.0, 1.0) + 0.5) / (n + 1)
        return np.log(chance) - np.log1p(-chance)
