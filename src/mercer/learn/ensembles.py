"""Ensembles of small trees: what they score and in which leaves rows fall, through scikit-learn's public names."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

_LEARNING_RATE = 0.1


class Scores:
    """One fitted ensemble per output: raw predictions for quantities, margins (log odds) for classes."""

    def __init__(self, kind: str, n_trees: int, max_leaves: int, seed: int):
        self.kind, self.n_trees, self.max_leaves, self.seed = kind, n_trees, max_leaves, seed

    def fit(self, X, targets: np.ndarray, weight) -> Scores:
        """Learn columns of quantities (float) or a vector of class codes (int)."""
        with threadpool_limits(1, user_api="openmp"):  # threads that spin cost more than they give on a busy machine
            if targets.dtype.kind == "i":
                self.models = [self._classifier(X, targets, weight)]
            else:
                self.models = [self._regressor(X, y, weight) for y in targets.T]
        return self

    def _regressor(self, X, y, weight):
        if self.kind == "boosted":
            model: Any = HistGradientBoostingRegressor(
                max_iter=self.n_trees,
                max_leaf_nodes=self.max_leaves,
                learning_rate=_LEARNING_RATE,
                early_stopping=False,
                random_state=self.seed,
            )
        else:
            model = ExtraTreesRegressor(self.n_trees, max_leaf_nodes=self.max_leaves, random_state=self.seed)
        return model.fit(X, y, weight)

    def _classifier(self, X, codes, weight):
        if len(np.unique(codes)) < 2:
            return None
        if self.kind == "boosted":
            model: Any = HistGradientBoostingClassifier(
                max_iter=self.n_trees,
                max_leaf_nodes=self.max_leaves,
                learning_rate=_LEARNING_RATE,
                early_stopping=False,
                random_state=self.seed,
            )
        else:
            model = ExtraTreesClassifier(self.n_trees, max_leaf_nodes=self.max_leaves, random_state=self.seed)
        return model.fit(X, codes, weight)

    def predict(self, X, n_classes: int) -> np.ndarray:
        """One column per output; for two classes one in all."""
        with threadpool_limits(1, user_api="openmp"):
            if n_classes == 0:
                return np.column_stack([model.predict(X) for model in self.models])
            return _margins(self.models[0], X, n_classes)


class Leaves:
    """A sequence of trees, and the number of the leaf in each that a row falls into."""

    def __init__(self, kind: str, n_trees: int, max_leaves: int, seed: int):
        self.kind, self.n_trees, self.max_leaves, self.seed = kind, n_trees, max_leaves, seed

    def fit(self, X, targets: np.ndarray, weight, is_class: bool) -> Leaves:
        """Learn columns of quantities, or of indicators of classes."""
        if self.kind == "boosted":
            self.trees = list(self._boosted(X, targets, weight, is_class))
        else:
            forest = ExtraTreesRegressor(self.n_trees, max_leaf_nodes=self.max_leaves, random_state=self.seed)
            self.trees = list(forest.fit(X, targets, weight).estimators_)
        self.leaves = [_leaf_numbers(tree) for tree in self.trees]
        self.widths = [int(numbers.max()) + 1 for numbers in self.leaves]
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
            tree.fit(X, targets - expected, weight)
            yield tree
            steps = tree.predict(X).reshape(scores.shape)
            scores += _LEARNING_RATE * (4.0 * steps if is_class else steps)  # 4: the curvature is at most 1/4

    def number(self, X) -> np.ndarray:
        """The leaf of each row (down) in each tree (across), counted from 0."""
        pairs = zip(self.trees, self.leaves, strict=True)
        return np.column_stack([numbers[tree.apply(X)] for tree, numbers in pairs])


def _leaf_numbers(tree) -> np.ndarray:
    """For each node of a tree the number of the leaf it is, in the order of nodes; -1 for inner nodes."""
    is_leaf = tree.tree_.children_left < 0
    return np.where(is_leaf, np.cumsum(is_leaf) - 1, -1)


def _margins(model, X, n_classes: int) -> np.ndarray:
    """Margins of all classes, of the second alone if there are two; a class that was not met scores the least."""
    if model is None:
        return np.zeros((len(X), 1 if n_classes == 2 else n_classes))
    if hasattr(model, "decision_function"):
        margins = model.decision_function(X)
    else:
        chances = model.predict_proba(X)
        n = len(model.estimators_)
        shrunk = (chances * n + 0.5) / (n + 1)
        margins = np.log(shrunk) - np.log1p(-shrunk)
        margins = margins[:, 1] if chances.shape[1] == 2 else margins
    if margins.ndim == 1 and n_classes == 2:
        return margins[:, None]
    margins = np.column_stack([-margins, margins]) if margins.ndim == 1 else margins
    out = np.repeat(margins.min(axis=1, keepdims=True), n_classes, axis=1)
    out[:, model.classes_] = margins
    return out
