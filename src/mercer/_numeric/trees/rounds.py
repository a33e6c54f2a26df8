"""Rounds of boosting: slopes of the loss at the scores so far, a tree for each output, and the scores after it.

Friedman, "Greedy function approximation", 2001: with one output the logistic loss has the gradient p - y and the
hessian p (1 - p); with c outputs, of which one is redundant, hessians are c / (c - 1) times that.
"""

from __future__ import annotations

import numpy as np

from mercer._numeric.trees.trees import grow_tree

__all__ = ["grow_rounds", "tree_slopes"]

#: Log-odds beyond this are as certain, and no row's hessian is less than this.
_FARTHEST, _LEAST_CURVATURE = 35.0, 1e-6


def tree_slopes(scores, targets, weight, logistic):
    """Gradient and hessian, (c, m) each, of weight times half the squared error or the logistic loss of scores.

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
        gradient, hessian = p - targets, np.maximum(factor * p * (1 - p), _LEAST_CURVATURE)
    return np.ascontiguousarray((weight[:, None] * gradient).T), np.ascontiguousarray((weight[:, None] * hessian).T)


def _probabilities(scores):
    c = scores.shape[1]
    if c == 1:
        return 1 / (1 + np.exp(-np.clip(scores, -_FARTHEST, _FARTHEST))), 1.0
    powers = np.exp(np.maximum(scores - scores.max(axis=1, keepdims=True), -700.0))
    return powers / powers.sum(axis=1, keepdims=True), c / (c - 1)


def grow_rounds(
    bins, scores, targets, weight, logistic, columns, widths, max_leaves, least_hessian, l2, rate
):  # fmt: skip
    """Grow a tree for each row of `columns`, which it may cut: of the first output, the second and so on, and again.

    bins : (n, d) uint8; scores : (n, c) float64, which the trees are added to in place; targets : (m, c), weight :
    (m,): those of the first m rows, which are learned from; the others are only told their scores. Trees are those of
    `grow_tree`, of one output each, with short sums where these do, and the c trees of a round all go by the scores
    before it. Values are times `rate`.

    Returns the number of nodes of each tree and column, bin, left, right, value and gain of all nodes in a row.
    """
    m, c = targets.shape
    if scores.shape != (len(bins), c):
        raise ValueError("scores must have the rows of bins and the columns of targets.")
    if len(columns) % c:
        raise ValueError("a round has a tree for each output.")
    if m == 0 or m > len(bins) or columns.shape[1] == 0 or max_leaves < 1:
        raise ValueError("trees need rows, columns and a leaf.")
    rows, trees = np.arange(m), []
    for t, some in enumerate(columns):
        o = t % c
        if o == 0:
            gradient, hessian = (
                np.pad(each, [(0, 0), (0, len(bins) - m)])
                for each in tree_slopes(scores[:m], targets, weight, logistic)
            )
        *nodes, value, gain, leaf = grow_tree(
            bins, gradient[o, :, None], hessian[o], rows, some, widths, max_leaves, least_hessian, l2, short=True
        )
        trees.append((*nodes, rate * value[:, 0], gain))
        scores[:, o] += trees[-1][-2][leaf]
    sizes = np.array([len(tree[0]) for tree in trees], dtype=np.int64)
    return sizes, *(np.concatenate(part) for part in zip(*trees, strict=True))
