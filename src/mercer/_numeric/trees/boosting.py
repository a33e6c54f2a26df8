"""Rounds of gradient boosting: gradients of the loss, one tree per output, updated scores.

Friedman, "Greedy function approximation", 2001: with one output the logistic loss has the gradient p - y and the
hessian p (1 - p). The softmax loss of c outputs, one of which is redundant, has c / (c - 1) times that hessian.
"""

from __future__ import annotations

import numpy as np

from mercer._numeric.trees.grower import grow_tree

__all__ = ["grow_rounds", "tree_gradients"]

#: Logits are clipped to +-_MAX_LOGIT; hessians of rows of weight 1 are at least _MIN_CURVATURE.
_MAX_LOGIT, _MIN_CURVATURE = 35.0, 1e-6


def tree_gradients(
    scores: np.ndarray, targets: np.ndarray, weight: np.ndarray, logistic: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and hessian, (c, m) each, of weight times half the squared error or the logistic loss.

    scores, targets : (m, c) float64, targets 0 and 1 where `logistic`; weight : (m,)
    """
    if len(weight) != len(targets):
        raise ValueError("there must be a weight for each row of targets.")
    if scores.shape != targets.shape:
        raise ValueError("scores and targets must have the same shape.")
    if not logistic:
        gradient, hessian = scores - targets, np.ones_like(scores)
    else:
        p, factor = _probabilities(scores)
        gradient, hessian = p - targets, np.maximum(factor * p * (1 - p), _MIN_CURVATURE)
    return np.ascontiguousarray((weight[:, None] * gradient).T), np.ascontiguousarray((weight[:, None] * hessian).T)


def _probabilities(scores: np.ndarray) -> tuple[np.ndarray, float]:
    """Sigmoid or softmax of the scores, and the factor of the hessian."""
    c = scores.shape[1]
    if c == 1:
        return 1 / (1 + np.exp(-np.clip(scores, -_MAX_LOGIT, _MAX_LOGIT))), 1.0
    exp_values = np.exp(np.maximum(scores - scores.max(axis=1, keepdims=True), -700.0))
    return exp_values / exp_values.sum(axis=1, keepdims=True), c / (c - 1)


def grow_rounds(
    bins: np.ndarray,
    scores: np.ndarray,
    targets: np.ndarray,
    weight: np.ndarray,
    logistic: bool,
    columns: np.ndarray,
    widths: np.ndarray,
    max_leaf_nodes: int,
    min_hessian: float,
    l2: float,
    learning_rate: float,
) -> tuple[np.ndarray, ...]:
    """Grow one tree per row of `columns`, its candidate columns; trees cycle through the c outputs, c trees a round.

    bins : (n, d) uint8; scores : (n, c) float64, to which the trees are added in place; targets : (m, c) and weight :
    (m,) of the first m rows, the training rows; the other rows only receive scores. Each tree is that of `grow_tree`
    for one output, with short sums where they suffice. The c trees of a round use the gradients at the scores before
    it. Leaf values are multiplied by `learning_rate`.

    Returns the number of nodes of each tree, and column, bin, left, right, value and gain of all nodes, concatenated.
    """
    m, c = targets.shape
    if scores.shape != (len(bins), c):
        raise ValueError("scores must have the rows of bins and the columns of targets.")
    if len(columns) % c:
        raise ValueError("a round has a tree for each output.")
    if m == 0 or m > len(bins) or columns.shape[1] == 0 or max_leaf_nodes < 1:
        raise ValueError("trees need rows, columns and a leaf.")
    rows, trees = np.arange(m), []
    for t, candidates in enumerate(columns):
        o = t % c
        if o == 0:
            gradient, hessian = (
                np.pad(each, [(0, 0), (0, len(bins) - m)])
                for each in tree_gradients(scores[:m], targets, weight, logistic)
            )
        task = (bins, gradient[o, :, None], hessian[o], rows, candidates, widths)
        *nodes, value, gain, leaf = grow_tree(*task, max_leaf_nodes, min_hessian, l2, short_sums=True)
        trees.append((*nodes, learning_rate * value[:, 0], gain))
        scores[:, o] += trees[-1][-2][leaf]
    sizes = np.array([len(tree[0]) for tree in trees], dtype=np.int64)
    return sizes, *(np.concatenate(part) for part in zip(*trees, strict=True))
