"""Small trees on binned columns, each grown on what the ones before left over."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from mercer import _numeric
from mercer.learn.piecewise import quantile_edges

_BINS = 255
_SAMPLE_ROWS = 50_000
#: The least weight of a leaf.
_LEAST = 5.0
#: Added to the curvature of the loss in a leaf, against steps too large.
_DAMPING = 1.0


class Binning:
    """The cuts of each column, at quantiles between values, and the bin of each value as a byte."""

    def __init__(self, X: np.ndarray):
        step = -(-len(X) // _SAMPLE_ROWS)
        self.cuts = [_cuts(column) for column in X[::step].T]

    def __call__(self, X: np.ndarray) -> np.ndarray:
        bins = np.empty(X.shape, dtype=np.uint8)
        for j, cuts in enumerate(self.cuts):
            bins[:, j] = np.searchsorted(cuts, X[:, j], side="left")
        return bins


def _cuts(column: np.ndarray) -> np.ndarray:
    values = column.astype(np.float64)
    edges = quantile_edges(values, np.ones(len(values)), _BINS)
    # A value belongs to the bin of the first cut that is not below it; the last bin has no cut.
    return edges[:-1]


class BoostedTrees:
    """Trees on the gradients of the squared loss, or of the logistic loss of each indicator, with steps by Newton.

    All outputs share the trees: a leaf holds a step for each of them.

    Parameters
    ----------
    n_trees, max_leaves : int
    rate : float, the share of each step that is taken
    """

    def __init__(self, n_trees: int, max_leaves: int, rate: float = 0.1):
        self.n_trees, self.max_leaves, self.rate = n_trees, max_leaves, rate

    def fit(self, X, targets: np.ndarray, weight, is_class: bool) -> BoostedTrees:
        """Learn columns of quantities, or of indicators of classes."""
        weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
        self.binning = Binning(X)
        bins = self.binning(X)
        mean = np.average(targets, axis=0, weights=weight)
        chance = np.clip(mean, 1e-6, 1 - 1e-6)
        self.start = np.log(chance / (1 - chance)) if is_class else mean
        scores = np.tile(self.start, (len(X), 1))
        trees = [self._grow(bins, targets, weight, scores, is_class) for _ in range(self.n_trees)]
        self._join(trees)
        return self

    def _grow(self, bins, targets, weight, scores, is_class):
        """One tree; its steps are added to the scores."""
        expected = expit(scores) if is_class else scores
        gradient = on_grid(weight[:, None] * (targets - expected))
        *nodes, leaf = _numeric.grow_tree(bins, gradient, weight, self.max_leaves, _LEAST)
        curvature = weight[:, None] * expected * (1 - expected) if is_class else weight[:, None]
        n = len(nodes[0])
        steps = np.empty((n, targets.shape[1]))
        for o in range(targets.shape[1]):
            bend = np.bincount(leaf, curvature[:, min(o, curvature.shape[1] - 1)], minlength=n)
            steps[:, o] = np.bincount(leaf, gradient[:, o], minlength=n) / (bend + _DAMPING)
        scores += self.rate * steps[leaf]
        return nodes, steps

    def _join(self, trees) -> None:
        """All nodes of all trees in one table, with leaves numbered from left to right in each tree."""
        sizes = [len(nodes[0]) for nodes, _ in trees]
        self.roots = np.cumsum([0, *sizes[:-1]]).astype(np.int32)
        feature, threshold, left, right = (np.concatenate([nodes[k] for nodes, _ in trees]) for k in range(4))
        shift = np.repeat(self.roots, sizes)
        self.nodes = (feature, threshold, np.where(left < 0, left, left + shift), np.where(right < 0, right, right + shift))
        self.steps = np.concatenate([steps for _, steps in trees])
        numbered = [leaf_numbers(nodes[2], nodes[3]) for nodes, _ in trees]
        self.numbers = np.concatenate(numbered)
        self.widths = [int(numbers.max()) + 1 for numbers in numbered]

    def _leaves(self, X) -> np.ndarray:
        return _numeric.tree_leaves(self.binning(X), *self.nodes, self.roots)

    def number(self, X) -> np.ndarray:
        """The leaf of each row (down) in each tree (across), counted from 0."""
        return self.numbers[self._leaves(X)]

    def predict(self, X) -> np.ndarray:
        """The score of each row (down) for each output (across)."""
        leaves = self._leaves(X)
        return self.start + self.rate * np.column_stack([step[leaves].sum(axis=1) for step in self.steps.T])


def on_grid(gradients: np.ndarray) -> np.ndarray:
    """Gradients rounded to 2^-24 of the largest: their sums are exact in any order, so that equal cuts stay equal."""
    largest = np.abs(gradients).max(initial=0.0)
    if not largest > 0:
        return gradients
    unit = np.ldexp(1.0, int(np.frexp(largest)[1]) - 24)
    return np.rint(gradients / unit) * unit


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
