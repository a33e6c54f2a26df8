"""The score of boosted trees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.auto.explain.perturb import RecomputedChanges, ScoreChanges
from mercer.auto.features.base import FeatureBlock, Refit
from mercer.learn import TreeFeatures
from mercer.learn.trees.categories import TreeColumns
from mercer.learn.trees.ensemble import TreeEnsemble
from mercer.learn.trees.score import PROBABILITY_SCALE, EnsembleScore

if TYPE_CHECKING:
    from mercer.io.onnx import Graph


class TreeScoreBlock(FeatureBlock):
    """`TreeFeatures("score")`: the standardized score of boosted trees and, for classes, the probabilities.

    Training rows have out-of-fold scores. Scores of classes are log-odds, made for the logistic loss; probabilities are
    made for the squared loss of the search. Without these, other blocks would be credited for the curvature of the link
    function.
    """

    kind = "trees"
    transformer: TreeFeatures

    def __init__(self, transformer: TreeFeatures):
        self.transformer, self.width = transformer, transformer.n_features_out_

    @property
    def score(self) -> EnsembleScore:
        """The map from encoded rows to scores, without the checks of the transformer."""
        return self.transformer.score_

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        out[:] = self.score.features(X)

    def scores(self, X: np.ndarray) -> np.ndarray:
        """The mean score of the ensembles for new rows."""
        return self.score.scores(X)

    @property
    def n_scores(self) -> int:
        """The number of scores of a row."""
        return self.score.n_outputs

    def from_scores(self, scores: np.ndarray) -> np.ndarray:
        """The features of rows with known scores."""
        return self.score.from_scores(scores)

    def names(self, columns: list[str]) -> list[str]:
        kinds, n_outputs = ("score", "probability"), self.score.n_outputs
        return [f"tree_{kind}_{k}" for kind in kinds for k in range(n_outputs)][: self.width]

    @property
    def title(self) -> str:
        ensembles, n_outputs = self.score.ensembles, self.score.n_outputs
        rounds = np.mean([len(each.roots) for each in ensembles]) / n_outputs
        return f"the score of {rounds:,.0f} boosting rounds (mean of {len(ensembles)} ensembles of trees)"

    def weight_signs(self, signs: np.ndarray) -> np.ndarray:
        """Scores of trees rise and fall as they must."""
        return np.full(self.width, 1 if np.any(signs) else 0)

    def refit(self, other: Refit) -> FeatureBlock:
        return other.trees()[0]

    def score_changes(self, X: np.ndarray, coef: np.ndarray) -> ScoreChanges:
        if self.score.columns.categories:
            return RecomputedChanges(self, np.arange(X.shape[1]), X, coef)
        return TreeChanges(self.score, X, coef)

    def onnx_nodes(self, graph: Graph, x: str) -> str:
        """The scores over their scale, and for classes the probabilities they stand for."""
        from mercer.auto.onnx.trees import mean_score

        score = self.score
        total = graph.cast(mean_score(graph, score, x), np.float64)
        parts = [graph.add("Div", total, np.asarray(score.scale, dtype=np.float64))]
        if score.probabilities:
            p = graph.add("Sigmoid", total) if score.n_outputs == 1 else graph.add("Softmax", total, axis=1)
            parts.append(graph.add("Mul", p, np.float64(PROBABILITY_SCALE)))
        return graph.cast(graph.concat(parts), np.float32)

    def onnx_rounding(self, X: np.ndarray, features: np.ndarray, size: np.ndarray) -> np.ndarray:
        """A score s that is off by eps |s| changes the probability it stands for by no more than that."""
        # Sums of R values in float32 that start from a base are off by about eps sqrt(R) times the base.
        n_outputs, ensembles = self.score.n_outputs, self.score.ensembles
        rounds = np.mean([len(each.roots) for each in ensembles]) / n_outputs
        base = np.mean([np.abs(each.base) for each in ensembles], axis=0) / self.score.scale
        total = super().onnx_rounding(X, features, size) + 4 * np.sqrt(rounds) * (base @ size[:n_outputs])
        if not self.score.probabilities:
            return total
        largest = np.max(features[:, :n_outputs] * self.score.scale, axis=1, keepdims=True)
        return total + 2 * largest * np.sum(size[n_outputs:], axis=0)

    @classmethod
    def _from_former(cls, state: dict[str, Any]) -> TreeScoreBlock:
        score = EnsembleScore(state["forests"], state["columns"], state["scale"], state["classes"])
        classes = np.arange(max(2, len(state["scale"]))) if state["classes"] else None
        return cls(TreeFeatures.from_score(score, classes, dtype="float32"))


class TreeChanges(RecomputedChanges):
    """Where a column changes, only the trees that cut it are evaluated again; there are no categories."""

    def __init__(self, score: EnsembleScore, X: np.ndarray, coef: np.ndarray):
        used, self.score = _narrowed(score)
        super().__init__(self.score, used, X, coef)
        self.ensemble, self.n_ensembles = TreeEnsemble.joined(self.score.ensembles), len(self.score.ensembles)
        self.scores = self.ensemble.scores(self.X) / self.n_ensembles
        trees = np.repeat(np.arange(len(self.ensemble.roots)), self.ensemble.sizes)
        inner = np.flatnonzero(self.ensemble.column >= 0)
        inner = inner[np.argsort(self.ensemble.column[inner], kind="stable")]
        self.trees, column = trees[inner], self.ensemble.column[inner]
        self.starts = np.searchsorted(column, np.arange(len(used) + 1))

    def changed(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        position = self.position[columns]
        if not np.any(position >= 0):
            return super().changed(columns, values)
        read = position[position >= 0]
        trees = np.unique(np.concatenate([self.trees[self.starts[j] : self.starts[j + 1]] for j in read]))
        other, ensemble = self.X.copy(), self.ensemble.some(trees)
        other[:, read] = values[:, position >= 0]
        change = (ensemble.scores(other) - ensemble.scores(self.X)) / self.n_ensembles
        return self.score.from_scores(self.scores + change) @ self.coef - self.before


def _narrowed(score: EnsembleScore) -> tuple[np.ndarray, EnsembleScore]:
    """The columns that trees without categories cut, and the score of these columns alone."""
    used = np.unique(np.concatenate([ensemble.column for ensemble in score.ensembles]))
    used = used[used >= 0]
    index = np.full(len(score.columns.kept) + 1, -1)
    index[used] = np.arange(len(used))  # the last entry, that of leaves, stays -1
    ensembles = [replace(each, column=index[each.column], ranks={}) for each in score.ensembles]
    return score.columns.kept[used], replace(score, ensembles=ensembles, columns=TreeColumns.of(len(used)))
