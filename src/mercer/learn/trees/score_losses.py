"""Boosting with the losses of regression beside the squared error: trees go by gradient and Hessian of any loss.

Quantiles (pinball loss): the Hessian of a row is 1, and the value of a leaf is the quantile of its residuals (Friedman
2001 for the median). Poisson, gamma and Tweedie: scores are logarithms of means.
"""

from __future__ import annotations

import numpy as np

from mercer import _numeric
from mercer._numeric.linalg.weighted import quantile_per_group
from mercer.learn.trees.losses import TreeLoss
from mercer.learn.trees.params import TreeParams
from mercer.linear.regression_losses import PinballLoss, ScoreLoss, TweedieLoss

#: Smallest Hessian of a row, as a fraction of the mean: rows of nearly no mean must not make leaves of any value.
_MIN_HESSIAN = 1e-3
#: Largest change of a logarithm by one leaf, before the learning rate.
_MAX_LOG_STEP = 2.0
#: Steps of quantiles that keep the order of leaves, over the mean absolute residual: one over the density of errors.
_QUANTILE_STEP = 3.0


class ScoreTreeLoss(TreeLoss):
    """Losses of one target, one for each output: a score per loss."""

    logistic = False
    compiled = False

    def __init__(self, y: np.ndarray, losses: tuple[ScoreLoss, ...], weight: np.ndarray | None = None):
        self.targets = np.asarray(y, dtype=np.float64).reshape(len(y), 1)
        self.losses, self.weight = losses, weight
        self.log_link = isinstance(losses[0], TweedieLoss)
        self.counts_rows = not self.log_link

    @property
    def ordering_target(self) -> np.ndarray:
        return self.targets[:, 0]

    def base(self, rows: np.ndarray) -> np.ndarray:
        y, weight = self.targets[rows, 0], self._weight_of(rows)
        return np.array([loss.constant(y, weight) for loss in self.losses])

    def at(self, rows: np.ndarray) -> ScoreTreeLoss:
        return ScoreTreeLoss(self.targets[rows, 0], self.losses, self._weight_of(rows))

    def loss(self, scores: np.ndarray) -> float:
        y = self.targets[:, 0]
        return sum(self._sum(loss.value(y, scores[:, k])) for k, loss in enumerate(self.losses))

    def gradients(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y, weight = self.targets[:, 0], self.weights()
        gradient = np.array([weight * loss.gradient(y, scores[:, k]) for k, loss in enumerate(self.losses)])
        if not self.log_link:
            return gradient, np.tile(weight, (len(self.losses), 1))
        hessian = np.array([loss.curvature(y, scores[:, k]) for k, loss in enumerate(self.losses)])
        return gradient, weight * np.maximum(hessian, _MIN_HESSIAN * hessian.mean(axis=1, keepdims=True))

    def leaf_values(self, k: int, value: np.ndarray, leaf: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The values of the nodes of a tree for output k, from its Newton values and the leaf of each row."""
        loss = self.losses[k]
        if isinstance(loss, PinballLoss):
            residual = self.targets[:, 0] - scores
            return quantile_per_group(residual, leaf, len(value), loss.tau, self.weight)
        return np.clip(value, -_MAX_LOG_STEP, _MAX_LOG_STEP) if self.log_link else value

    def ordered_values(self, k: int, value: np.ndarray, leaf: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The same in the order of the Newton values, for monotone columns: a multiple of these for quantiles."""
        if isinstance(self.losses[k], PinballLoss):
            return _QUANTILE_STEP * float(np.mean(np.abs(self.targets[:, 0] - scores))) * value
        return self.leaf_values(k, value, leaf, scores)


def grow_score_rounds(
    loss: TreeLoss,
    bins: np.ndarray,
    scores: np.ndarray,
    columns: np.ndarray,
    widths: np.ndarray,
    params: TreeParams,
    min_hessian: float,
    signs: np.ndarray | None = None,
) -> tuple[np.ndarray, ...]:
    """`_numeric.grow_rounds` for any loss, and for monotone columns: one tree per row of `columns`.

    The trees are added to the scores in place.
    """
    m, c = len(loss.targets), scores.shape[1]
    rows, trees = np.arange(m), []
    for t, candidates in enumerate(columns):
        o = t % c
        if o == 0:
            gradient, hessian = (np.pad(each, [(0, 0), (0, len(bins) - m)]) for each in loss.gradients(scores[:m]))
        task = (bins, np.ascontiguousarray(gradient[o])[:, None], hessian[o], rows, candidates, widths)
        *nodes, value, gain, leaf = _numeric.grow_tree(
            *task, params.max_leaf_nodes, min_hessian, params.l2_regularization, short_sums=True, signs=signs
        )
        known = loss.leaf_values if signs is None else loss.ordered_values
        value = params.learning_rate * known(o, value[:, 0], leaf[:m], scores[:m, o])
        trees.append((*nodes, value, gain))
        scores[:, o] += value[leaf]
    sizes = np.array([len(tree[0]) for tree in trees], dtype=np.int64)
    return sizes, *(np.concatenate(part) for part in zip(*trees, strict=True))
