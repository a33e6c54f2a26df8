"""The score of boosted trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mercer._runtime.derived import Beside
from mercer.auto.boosting.forest import Forest, Together
from mercer.auto.explain.perturb import RecomputedChanges, ScoreChanges
from mercer.auto.features.base import FeatureBlock, Refit
from mercer.linear.losses import LogLoss

if TYPE_CHECKING:
    from mercer.io.onnx import Graph

#: Probabilities vary by about a quarter, scores by one.
STRETCH = 4.0


@dataclass(frozen=True)
class TreeColumns:
    """What trees see: encoded columns, but each category as one column of codes (0: none of its levels)."""

    kept: np.ndarray
    categories: list[slice]

    @classmethod
    def of(cls, n_columns: int, categories: list[slice]) -> TreeColumns:
        inside = np.zeros(n_columns, dtype=bool)
        for columns in categories:
            inside[columns] = True
        return cls(np.flatnonzero(~inside), list(categories))

    @property
    def codes(self) -> np.ndarray:
        return len(self.kept) + np.arange(len(self.categories))

    def __call__(self, X) -> np.ndarray:
        seen = np.empty((len(X), len(self.kept) + len(self.categories)))
        seen[:, : len(self.kept)] = X[:, self.kept]
        rows = np.arange(len(X))
        for place, c in zip(self.codes, self.categories, strict=True):
            largest = X[:, c].argmax(axis=1)  # indicators are not negative: if this one is zero, all are
            seen[:, place] = np.where(X[rows, c.start + largest] != 0, 1 + largest, 0)
        return seen

    def spread(self, gains: np.ndarray, n_columns: int) -> np.ndarray:
        """Gains of what trees see as gains of encoded columns; levels share that of their category."""
        found = np.zeros(n_columns)
        found[self.kept] = gains[: len(self.kept)]
        for columns, gain in zip(self.categories, gains[len(self.kept) :], strict=True):
            found[columns] = gain / (columns.stop - columns.start)
        return found


class TreeScoreBlock(FeatureBlock):
    """The score of a boosted ensemble, one column per output: for rows it was learned from, the out-of-fold one.

    Scores of classes are log-odds, made for the logistic loss; beside them stand the probabilities they mean, made for
    the squared loss of the search. Without these, other blocks would be credited for transforming the score.
    """

    kind = "trees"

    def __init__(self, forests: list[Forest], scale: np.ndarray, columns: TreeColumns, classes: bool):
        self.forests, self.scale, self.columns, self.classes = forests, scale, columns, classes
        self.width = len(scale) * (2 if classes else 1)

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        out[:] = self.scaled(self.scores(X))

    def scores(self, X: np.ndarray) -> np.ndarray:
        """The mean score of the ensembles for new rows."""
        together = _together(self)
        if together.forests is not self.forests:
            together = _together.again(self)
        total, *others = np.moveaxis(together(self.columns(X)), 1, 0)
        for each in others:
            total += each
        return total / len(self.forests)

    def scaled(self, scores: np.ndarray) -> np.ndarray:
        """Scores over their standard deviation and, for classes, probabilities, in float32."""
        parts = [scores / self.scale]
        if self.classes:
            parts.append(STRETCH * LogLoss().probabilities(scores))
        return np.hstack(parts).astype(np.float32)

    def names(self, columns: list[str]) -> list[str]:
        n_outputs = len(self.scale)
        return [f"tree_{what}_{k}" for what in ("score", "probability") for k in range(n_outputs)][: self.width]

    def refit(self, other: Refit) -> FeatureBlock:
        return other.trees()[0]

    def score_changes(self, X: np.ndarray, coef: np.ndarray) -> ScoreChanges:
        if self.columns.categories:
            return RecomputedChanges(self, np.arange(X.shape[1]), X, coef)
        return TreeChanges(self, X, coef)

    def narrowed(self) -> tuple[np.ndarray, TreeScoreBlock]:
        """The columns that trees without categories cut, and the block that reads these alone."""
        used = np.unique(np.concatenate([forest.column for forest in self.forests]))
        used = used[used >= 0]
        index = np.full(len(self.columns.kept) + 1, -1)
        index[used] = np.arange(len(used))  # the last entry, that of leaves, stays -1
        forests = [replace(forest, column=index[forest.column], ranks={}) for forest in self.forests]
        narrow = TreeScoreBlock(forests, self.scale, TreeColumns.of(len(used), []), self.classes)
        return self.columns.kept[used], narrow

    def onnx_nodes(self, graph: Graph, x: str) -> str:
        """The scores over their scale, and for classes the probabilities they mean."""
        from mercer.auto.onnx.trees import mean_score

        total = graph.cast(mean_score(graph, self.forests, self.columns, x), np.float64)
        parts = [graph.add("Div", total, np.asarray(self.scale, dtype=np.float64))]
        if self.classes:
            p = graph.add("Sigmoid", total) if len(self.scale) == 1 else graph.add("Softmax", total, axis=1)
            parts.append(graph.add("Mul", p, np.float64(STRETCH)))
        return graph.cast(graph.concat(parts), np.float32)

    def onnx_rounding(self, X: np.ndarray, features: np.ndarray, size: np.ndarray) -> np.ndarray:
        """A score s that is off by eps |s| changes the probability it means by no more than that."""
        total = super().onnx_rounding(X, features, size)
        if not self.classes:
            return total
        n_outputs = len(self.scale)
        largest = np.max(features[:, :n_outputs] * self.scale, axis=1, keepdims=True)
        return total + 2 * largest * np.sum(size[n_outputs:], axis=0)


_together = Beside(lambda block: Together(block.forests))


class TreeChanges(RecomputedChanges):
    """Where a column changes, only the trees that cut it are evaluated again."""

    def __init__(self, block: TreeScoreBlock, X: np.ndarray, coef: np.ndarray):
        used, narrow = block.narrowed()
        super().__init__(narrow, used, X, coef)
        self.narrow, self.n_forests = narrow, len(narrow.forests)
        self.forest = Forest.joined(narrow.forests)
        self.scores = self.forest.scores(self.X) / self.n_forests
        trees = np.repeat(np.arange(len(self.forest.roots)), self.forest.sizes)
        inner = np.flatnonzero(self.forest.column >= 0)
        inner = inner[np.argsort(self.forest.column[inner], kind="stable")]
        self.trees, column = trees[inner], self.forest.column[inner]
        self.starts = np.searchsorted(column, np.arange(len(used) + 1))

    def changed(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        position = self.position[columns]
        if not np.any(position >= 0):
            return super().changed(columns, values)
        read = position[position >= 0]
        trees = np.unique(np.concatenate([self.trees[self.starts[j] : self.starts[j + 1]] for j in read]))
        other, forest = self.X.copy(), self.forest.some(trees)
        other[:, read] = values[:, position >= 0]
        change = (forest.scores(other) - forest.scores(self.X)) / self.n_forests
        return self.narrow.scaled(self.scores + change) @ self.coef - self.before
