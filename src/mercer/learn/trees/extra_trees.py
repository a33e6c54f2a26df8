"""Extremely randomized trees of scikit-learn as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.learn.trees.ensemble import Tree, TreeEnsemble


@dataclass
class ExtraTreesEnsemble(TreeEnsemble):
    """Extremely randomized trees on the target; classes are learned by their indicators.

    A score is the mean of the trees; for classes the log-odds of it, with half a vote added for and against. Rows are
    rounded to float32, as scikit-learn does. A tree with several outputs is stored once for each.
    """

    is_class: bool = False

    @classmethod
    def fitted(
        cls,
        X: np.ndarray,
        targets: np.ndarray,
        weight: np.ndarray | None,
        is_class: bool,
        params: dict[str, Any],
        n_outputs: int,
    ) -> ExtraTreesEnsemble:
        """Fit columns of numbers or class indicators with scikit-learn; keep the values of the first outputs."""
        from sklearn.ensemble import ExtraTreesRegressor

        model = ExtraTreesRegressor(**params)
        model.fit(X, targets.ravel() if targets.shape[1] == 1 else targets, weight)
        trees = [each.tree_ for each in model.estimators_]
        nodes = [(tree.feature, tree.threshold, tree.children_left, tree.children_right) for tree in trees]
        return cls.of_nodes(nodes, [tree.value[:, :n_outputs, 0] for tree in trees], is_class)

    @classmethod
    def of_nodes(cls, nodes: list[tuple], values: list[np.ndarray], is_class: bool) -> ExtraTreesEnsemble:
        """Trees of (column, threshold, left, right) with values (nodes, outputs)."""
        n_outputs = values[0].shape[1]
        trees = [
            Tree(output, np.where(left < 0, -1, column), left, right, threshold, value[:, output], np.zeros(len(left)))
            for output in range(n_outputs)
            for (column, threshold, left, right), value in zip(nodes, values, strict=True)
        ]
        made = cls.of(np.zeros(n_outputs), trees)
        made.is_class = is_class
        return made

    @classmethod
    def _from_former(cls, state: dict[str, Any]) -> ExtraTreesEnsemble:
        return cls.of_nodes(state["nodes"], state["values"], state["is_class"])

    def rounded(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(X).astype(np.float32)

    def linked(self, total: np.ndarray) -> np.ndarray:
        n_trees = len(self.roots) // len(self.base)
        mean = total / n_trees
        if not self.is_class:
            return mean
        p = (n_trees * np.clip(mean, 0.0, 1.0) + 0.5) / (n_trees + 1)
        return np.log(p) - np.log1p(-p)


def forests_per_fold(
    X: np.ndarray,
    targets: np.ndarray,
    weight: np.ndarray | None,
    folds: np.ndarray,
    known: np.ndarray,
    is_class: bool,
    params: dict[str, Any],
    n_outputs: int,
) -> tuple[list[TreeEnsemble], np.ndarray]:
    """The ensemble outside each known fold, and the out-of-fold scores of the rows."""
    ensembles, scores = list[TreeEnsemble](), np.empty((len(X), n_outputs))
    # One after the other: scikit-learn resets the warning filters of all threads while it fits.
    for fold in known.tolist():
        seen = folds != fold
        mass = None if weight is None else weight[seen]
        ensembles.append(ExtraTreesEnsemble.fitted(X[seen], targets[seen], mass, is_class, params, n_outputs))
        scores[~seen] = ensembles[-1].scores(X[~seen])
    return ensembles, scores
