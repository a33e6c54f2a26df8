"""The score of kernel ridge regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.auto.features.base import FeatureBlock, Refit, moved_rows
from mercer.auto.features.landmarks import onnx_similarities
from mercer.auto.rows.training import TrainingRows
from mercer.kernels import Kernel
from mercer.kernels.through import Through
from mercer.learn import KernelScore
from mercer.learn.kernel_score.kernel_score import similarities_to_centers
from mercer.learn.kernel_score.solver import fold_ridge

if TYPE_CHECKING:
    from mercer.io.onnx import Graph


class KernelScoreBlock(FeatureBlock):
    """`KernelScore` of centered targets: sum_i a_i k(xA, x_i A) for some training rows x_i.

    Training rows have out-of-fold scores: those of the fit without their fold, or of one that they took no part in.
    """

    kind = "kernel score"
    transformer: KernelScore

    def __init__(self, transformer: KernelScore, out_of_fold: Any = None):
        super().__init__(transformer)
        self.note = repr(self.metric.kernel)
        self.out_of_fold = out_of_fold

    def for_new_rows(self) -> FeatureBlock:
        return self if self.out_of_fold is None else KernelScoreBlock(self.transformer)

    @property
    def metric(self) -> Through:
        """The kernel in its metric."""
        return self.transformer.kernel_

    @property
    def n_scores(self) -> int:
        """The number of scores of a row."""
        return self.width

    def from_scores(self, scores: np.ndarray) -> np.ndarray:
        """The features of rows with known scores."""
        return scores.astype(np.float32)

    def names(self, columns: list[str]) -> list[str]:
        return [f"kernel_score_{k}" for k in range(self.width)]

    @property
    def title(self) -> str:
        return f"the score of kernel ridge regression on {len(self.transformer.centers_):,} rows"

    def refit(self, other: Refit) -> FeatureBlock:
        root, made = np.asarray(self.metric.matrix), self.transformer
        if other.positions is not None:
            root = moved_rows(root, other.positions)
        return fitted_score(other.rows, self.metric.kernel, root, float(made.alpha), int(made.max_rows))

    def onnx_nodes(self, graph: Graph, x: str) -> str:
        similarities = onnx_similarities(graph, similarities_to_centers(self.transformer), x)
        return graph.cast(graph.add("MatMul", similarities, self.transformer.coef_[0]), np.float32)

    def onnx_rounding(self, X: np.ndarray, features: np.ndarray, size: np.ndarray) -> np.ndarray:
        """One rounding to float32 of sums in float64."""
        return 4 * np.broadcast_to(np.sum(size, axis=0), (len(X), size.shape[1]))


def fitted_score(rows: TrainingRows, kernel: Kernel, root: np.ndarray, alpha: float, max_rows: int) -> KernelScoreBlock:
    """The block fitted to at most `max_rows` rows in the metric of `root`, with the out-of-fold scores of all rows."""
    chosen = rows.smallest(min(max_rows, len(rows)))
    some = rows.at(chosen)
    folds = np.unique(rows.folds[chosen], return_inverse=True)[1]
    metric = Through(kernel, root)
    image = some.X * root if root.ndim == 1 else some.X @ root
    found = fold_ridge(kernel, image, some.Y, folds, alpha, some.weight)
    made = KernelScore.from_fit(metric, some.X, found.coef[0], alpha=alpha, max_rows=max_rows)
    scores = np.empty(rows.Y.shape)
    scores[chosen] = found.out_of_fold
    others = np.ones(len(rows), dtype=bool)
    others[chosen] = False
    if others.any():
        scores[others] = KernelScoreBlock(made).features(rows.X[others])
    return KernelScoreBlock(made, scores)
