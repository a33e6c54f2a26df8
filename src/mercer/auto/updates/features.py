"""Features of rows as the statistics of a model hold them: training rows by the trees that have not seen them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.auto.features.union import Features
from mercer.auto.updates.keys import NEW_ROW


def tree_folds(features: Features, X: np.ndarray, scores: np.ndarray | None) -> np.ndarray:
    """The fold of each training row among the ensembles of trees, found by its out-of-fold score."""
    trees = _trees(features)
    if trees is None or scores is None:
        return np.full(len(X), NEW_ROW)
    scores = scores[:, : trees.n_scores]
    distances = [np.abs(each - scores).sum(axis=1) for each in _scores_per_fold(trees, X)]
    return np.argmin(distances, axis=0)


def features_of(features: Features, X: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """The features of encoded rows; `folds` says which ensembles have not seen a row (`NEW_ROW`: the mean of all)."""
    trees = _trees(features)
    if trees is None or np.all(folds == NEW_ROW):
        return features.features(X)
    scores = trees.scores(X)
    for fold, each in enumerate(_scores_per_fold(trees, X)):
        scores[folds == fold] = each[folds == fold]
    return features.features(X, scores)


def _scores_per_fold(trees: Any, X: np.ndarray) -> list[np.ndarray]:
    """The mean scores over the seeds of the ensembles without each fold."""
    score, n_folds = trees.score, int(trees.transformer.n_folds)
    seen = score.columns(X)
    groups = (score.ensembles[fold::n_folds] for fold in range(n_folds))
    return [sum(each.scores(seen) for each in group) / len(group) for group in groups]


def _trees(features: Features) -> Any:
    return next((block for block in features.blocks if block.kind == "trees"), None)
