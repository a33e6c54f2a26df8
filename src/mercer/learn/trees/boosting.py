"""Small trees on binned columns, each grown on what the ones before left over."""

from __future__ import annotations

import numpy as np

from mercer import _numeric
from mercer._numeric.trees.grower import on_grid
from mercer._runtime.pool import ordered_map
from mercer.learn.trees.binning import Binning
from mercer.linear.losses import LogLoss

_BLOCK_ROWS = 2048
#: The least weight of a leaf, and in small data its least share.
_LEAST, _LEAST_SHARE = 20.0, 0.05
#: Binary digits of a gradient: a row of weight two then adds exactly what two rows do, and equal cuts stay equal.
_DIGITS = 24
#: Added to the curvature of the loss in a leaf, against steps too large.
_DAMPING = 1.0


class BoostedTrees:
    """Trees on the gradients of the squared or (for indicators of classes) the logistic loss, with steps by Newton.

    Parameters
    ----------
    n_trees, max_leaves : int
    shared : bool, whether all outputs share the trees, a leaf holding a step for each, or each has `n_trees` of its own
    rate : float, the share of each step that is taken
    """

    def __init__(self, n_trees: int, max_leaves: int, shared: bool, rate: float = 0.1):
        self.n_trees, self.max_leaves, self.shared, self.rate = n_trees, max_leaves, shared, rate

    def fit(self, X, targets: np.ndarray, weight, is_class: bool) -> BoostedTrees:
        """Learn columns of quantities, or of indicators of classes (of two classes the second alone)."""
        weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
        self.binning = Binning(X)
        bins = self.binning(X)
        self.start = _start(np.average(targets, axis=0, weights=weight), is_class)
        scores = np.tile(self.start, (len(X), 1))
        n_outputs = targets.shape[1]
        parts = [slice(0, n_outputs)] if self.shared else [slice(o, o + 1) for o in range(n_outputs)]
        trees = []
        for _ in range(self.n_trees):
            gradient, curvature = _slopes(targets, scores, weight, is_class)
            for part in parts:
                nodes, steps, leaf = self._grow(bins, gradient[:, part], curvature[:, part], weight)
                scores[:, part] += self.rate * steps[leaf]
                trees.append((nodes, steps))
        self._join(trees)
        return self

    def _grow(self, bins, gradient, curvature, weight):
        """One tree: its nodes, the step of each node for each output, and the leaf of each row."""
        gradient = np.ascontiguousarray(gradient)
        everything = np.arange(len(bins)), np.arange(bins.shape[1]), self.binning.widths
        least = min(_LEAST, _LEAST_SHARE * weight.sum())
        *nodes, _, _, leaf = _numeric.grow_tree(bins, gradient, weight, *everything, self.max_leaves, least, 0.0)
        n = len(nodes[0])
        sums = (np.bincount(leaf, column, minlength=n) for column in gradient.T)
        bends = (np.bincount(leaf, column, minlength=n) for column in curvature.T)
        steps = np.column_stack([total / (bend + _DAMPING) for total, bend in zip(sums, bends, strict=True)])
        return nodes, steps, leaf

    def _join(self, trees) -> None:
        """All nodes of all trees in one table, with leaves numbered from left to right in each tree."""
        sizes = [len(nodes[0]) for nodes, _ in trees]
        self.roots = np.cumsum([0, *sizes[:-1]]).astype(np.int32)
        shift = np.repeat(self.roots, sizes)
        feature, threshold, left, right = (np.concatenate([nodes[k] for nodes, _ in trees]) for k in range(4))
        below = (np.where(child < 0, child, child + shift) for child in (left, right))
        self.nodes = (feature, threshold, *below)
        self.steps = np.concatenate([steps for _, steps in trees])
        numbered = [leaf_numbers(nodes[2], nodes[3]) for nodes, _ in trees]
        self.numbers = np.concatenate(numbered)
        self.widths = [int(numbers.max()) + 1 for numbers in numbered]

    def number(self, X) -> np.ndarray:
        """The leaf of each row (down) in each tree (across), counted from 0."""
        return self._in_blocks(X, lambda leaves: self.numbers[leaves])

    def predict(self, X) -> np.ndarray:
        """The score of each row (down) for each output (across)."""
        return self._in_blocks(X, lambda leaves: self.start + self.rate * self._summed(leaves))

    def _summed(self, leaves) -> np.ndarray:
        n_outputs = len(self.start)
        if self.shared:
            return np.column_stack([step[leaves].sum(axis=1) for step in self.steps.T])
        return np.column_stack([self.steps[leaves[:, o::n_outputs], 0].sum(axis=1) for o in range(n_outputs)])

    def _in_blocks(self, X, function) -> np.ndarray:
        """`function` of the leaves of the rows, block by block on all cores."""
        spans = [slice(start, start + _BLOCK_ROWS) for start in range(0, len(X), _BLOCK_ROWS)]

        def mapped(rows):
            return function(_numeric.tree_leaves(self.binning(X[rows]), *self.nodes, self.roots))

        return np.concatenate(list(ordered_map(mapped, spans)))


def _start(mean: np.ndarray, is_class: bool) -> np.ndarray:
    """The scores before the first tree: the means, or the log odds (with several classes, the logs)."""
    if not is_class:
        return mean
    chance = np.clip(mean, 1e-6, 1 - 1e-6)
    return np.log(chance / (1 - chance)) if len(mean) == 1 else np.log(chance)


def _slopes(targets, scores, weight, is_class: bool) -> tuple[np.ndarray, np.ndarray]:
    """Minus the gradient and the curvature of the loss in the scores, weights included."""
    weight = weight[:, None]
    if not is_class:
        return weight * on_grid(targets - scores, _DIGITS), np.broadcast_to(weight, targets.shape)
    chance = LogLoss().probabilities(scores)
    return weight * on_grid(targets - chance, _DIGITS), weight * chance * (1 - chance)


def leaf_numbers(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """For each node of a tree the number of the leaf it is, from left to right; -1 for inner nodes."""
    numbers = np.full(len(left), -1)
    count, waiting = 0, [0]
    while waiting:
        node = waiting.pop()
        if left[node] < 0:
            numbers[node], count = count, count + 1
        else:
            waiting += [right[node], left[node]]
    return numbers
