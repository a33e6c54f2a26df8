"""Boosted trees on binned columns, scored out of fold while they grow.

The ensembles outside each fold grow side by side; the number of trees is the one with the least loss on the held-out
rows of all folds, and an ensemble of that many trees on all rows serves new data. Everything is arrays: nothing here
needs more than `_numeric.add_boosted_trees` to predict.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mercer import _numeric
from mercer._numeric.pool import for_each, ordered_map

_ROWS = 2048
#: Rows of average target that every level of a category is credited with before levels are put in order.
_PSEUDO = 10.0


@dataclass(frozen=True)
class Growth:
    """How trees grow: how many at most, how large, how much of each is added, and when to stop.

    `columns` is the share of columns a tree may use; `patience` the number of rounds without gain on held-out rows.
    """

    n_trees: int = 400
    max_leaves: int = 31
    rate: float = 0.08
    least_rows: float = 20.0
    l2: float = 1.0
    columns: float = 0.7
    rows: float = 1.0
    patience: int = 25
    max_bins: int = 128
    seed: int = 0


@dataclass
class Forest:
    """Trees in arrays: nodes of all trees in a row, `roots` where each begins, `output` the column it adds to."""

    base: np.ndarray
    roots: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    output: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    column: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    threshold: np.ndarray = field(default_factory=lambda: np.zeros(0))
    left: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    right: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    value: np.ndarray = field(default_factory=lambda: np.zeros(0))
    ranks: dict[int, np.ndarray] = field(default_factory=dict)

    def scores(self, X) -> np.ndarray:
        """The sum of all trees for each row, one column per output."""
        X = ranked(np.ascontiguousarray(X, dtype=np.float64), self.ranks)
        out = np.tile(self.base, (len(X), 1))
        nodes = (self.roots, self.column, self.threshold, self.left, self.right, self.value, self.output)
        if len(self.roots) and len(X) <= _ROWS:
            _numeric.add_boosted_trees(X, *nodes, out)
        elif len(self.roots):
            for_each(lambda s: _numeric.add_boosted_trees(X[s], *nodes, out[s]), _spans(len(X)))
        return out

    @classmethod
    def of(cls, base: np.ndarray, trees: list) -> Forest:
        """Put single trees, (output, column, threshold, left, right, value), side by side."""
        if not trees:
            return cls(base)
        sizes = np.array([len(tree[1]) for tree in trees])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        parts = [(c, t, left + s, right + s, v) for (_, c, t, left, right, v), s in zip(trees, starts, strict=True)]
        joined = [np.concatenate(part) for part in zip(*parts, strict=True)]
        outputs = np.array([tree[0] for tree in trees], dtype=np.int64)
        return cls(base, starts.astype(np.int64), outputs, *joined)  # type: ignore[arg-type]


def ranked(X, ranks: dict[int, np.ndarray]) -> np.ndarray:
    """X with the codes of some columns replaced by their ranks."""
    if not ranks:
        return X
    X = X.copy()
    for column, rank in ranks.items():
        X[:, column] = rank[X[:, column].astype(np.intp)]
    return X


def ranks_of(X, codes, target, train, weight=None) -> dict[int, np.ndarray]:
    """The rank of each code of a category by the mean target of its training rows, rare ones drawn to the middle.

    In this order one cut finds the best two groups of levels for squared error (Fisher 1958).
    """
    found = {}
    heavy = np.ones(len(train)) if weight is None else weight[train]
    centered = heavy * (target[train] - _mean(target, weight, train))
    for column in codes:
        code = X[:, column].astype(np.intp)
        size = int(code.max()) + 1
        count = np.bincount(code[train], weights=heavy, minlength=size)
        total = np.bincount(code[train], weights=centered, minlength=size)
        order = np.argsort(total / (count + _PSEUDO), kind="stable")
        found[int(column)] = np.argsort(order).astype(np.float64)
    return found


class Squares:
    """Half the squared error: gradient s - y, hessian one."""

    def __init__(self, y, weight=None):
        self.y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        self.weight = weight

    @property
    def leading(self):
        """One number per row that orders the levels of categories."""
        return self.y[:, 0]

    def base(self, rows):
        return _mean(self.y, self.weight, rows)

    def slopes(self, scores, rows):
        return _weighted(self.weight, rows, scores - self.y[rows], np.ones(scores.shape))

    def loss(self, scores, rows):
        return _sum(self.weight, rows, np.sum((scores - self.y[rows]) ** 2, axis=1))


def _mean(values, weight, rows):
    return values[rows].mean(axis=0) if weight is None else np.average(values[rows], axis=0, weights=weight[rows])


def _weighted(weight, rows, *parts):
    return parts if weight is None else tuple(weight[rows, None] * part for part in parts)


def _sum(weight, rows, losses):
    return float(np.sum(losses) if weight is None else np.sum(weight[rows] * losses))


class LogLoss:
    """Logistic loss of class numbers: one column of log-odds for two classes, a softmax over columns for more."""

    def __init__(self, label, n_classes, weight=None):
        self.label, self.n, self.weight = np.asarray(label), n_classes, weight
        self.hot = np.eye(n_classes)[self.label] if n_classes > 2 else self.label[:, None].astype(np.float64)

    @property
    def leading(self):
        """The indicator of the most frequent class (of the second of two)."""
        return self.hot[:, int(_mean(self.hot, self.weight, slice(None)).argmax())]

    def base(self, rows):
        shares = np.clip(_mean(self.hot, self.weight, rows), 1e-4, 1 - 1e-4)
        return np.log(shares / (1 - shares)) if self.n == 2 else np.log(shares)

    def slopes(self, scores, rows):
        p = self._probabilities(scores)
        factor = 1.0 if self.n == 2 else self.n / (self.n - 1)  # as Friedman (2001): the columns are not independent
        return _weighted(self.weight, rows, p - self.hot[rows], np.maximum(factor * p * (1 - p), 1e-6))

    def _probabilities(self, scores):
        if self.n == 2:
            return 1 / (1 + np.exp(-np.clip(scores, -35, 35)))
        shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)

    def loss(self, scores, rows):
        if self.n == 2:
            return _sum(self.weight, rows, np.logaddexp(0, np.where(self.hot[rows] > 0, -scores, scores))[:, 0])
        top = scores.max(axis=1, keepdims=True)
        logs = np.log(np.exp(scores - top).sum(axis=1)) + top[:, 0]
        return _sum(self.weight, rows, logs - scores[np.arange(len(scores)), self.label[rows]])


@dataclass(frozen=True)
class Binned:
    """Columns as bins of at most 256 levels, and the edge above each bin: bin b holds edges[b-1] < x <= edges[b]."""

    bins: np.ndarray
    edges: list
    widths: np.ndarray

    @classmethod
    def of(cls, X, max_bins: int) -> Binned:
        edges = list(ordered_map(lambda j: _edges(X[:, j], max_bins), range(X.shape[1])))
        bins = np.empty(X.shape, dtype=np.uint8)
        for j, cuts in enumerate(edges):
            bins[:, j] = np.searchsorted(cuts, X[:, j], side="left")
        return cls(bins, edges, np.array([len(cuts) + 1 for cuts in edges], dtype=np.int64))


def _edges(x, max_bins):
    """Cuts halfway between neighboring values, or at quantiles where there are too many.

    A value that more rows share than a bin should hold gets a bin of its own, and the others share what is left.
    """
    values, counts = np.unique(x, return_counts=True)
    values = values.astype(np.float64)
    if len(values) <= max_bins:
        return values[:-1] + (values[1:] - values[:-1]) / 2
    heavy = np.flatnonzero(counts * max_bins > len(x))
    counts = counts.astype(np.float64)
    counts[heavy] = 0.0
    n_cuts = max(1, max_bins - 1 - 2 * len(heavy))
    shares = np.cumsum(counts) / max(counts.sum(), 1.0)
    places = np.searchsorted(shares, np.arange(1, n_cuts + 1) / (n_cuts + 1))
    places = np.concatenate([places, heavy, heavy - 1])
    return values[np.unique(places[(places >= 0) & (places < len(values) - 1)])]


class _Grown:
    """One ensemble growing on some rows, watched on others."""

    def __init__(self, loss, X, codes, growth, train, watch, stream):
        self.ranks = ranks_of(X, codes, loss.leading, train, loss.weight)
        X = ranked(X, self.ranks)
        self.loss, self.binned, self.X, self.growth = loss, Binned.of(X, growth.max_bins), X, growth
        self.train, self.watch, self.watched = train, watch, X[watch]
        self.base = loss.base(train)
        self.scores = np.tile(self.base, (len(X), 1))
        self.rng = np.random.default_rng([growth.seed, stream])
        self.trees: list = []
        self.gains = np.zeros(X.shape[1])

    def round(self):
        """One more tree for each output, all from the scores before it."""
        rows = self.train
        if self.growth.rows < 1:
            rows = np.sort(self.rng.choice(rows, max(1, int(self.growth.rows * len(rows))), replace=False))
        slopes = self.loss.slopes(self.scores[rows], rows)
        added = [self._tree(rows, *(part[:, k] for part in slopes)) for k in range(self.scores.shape[1])]
        for k, (tree, reached) in enumerate(added):
            self.trees.append((k, *tree))
            self.scores[rows, k] += tree[-1][reached]
            for part, left_out in ((self.watched, self.watch), (None, self._unused(rows))):
                if len(left_out):
                    here = np.zeros((len(left_out), 1))
                    seen = self.X[left_out] if part is None else part
                    _numeric.add_boosted_trees(seen, np.zeros(1, np.int64), *tree, np.zeros(1, np.int64), here)
                    self.scores[left_out, k] += here[:, 0]

    def _unused(self, rows):
        return self.train[:0] if len(rows) == len(self.train) else np.setdiff1d(self.train, rows, assume_unique=True)

    def _tree(self, rows, g, h):
        p, growth = self.binned.bins.shape[1], self.growth
        columns = np.sort(self.rng.choice(p, max(1, round(growth.columns * p)), replace=False))
        gradient, hessian = np.zeros(len(self.X)), np.zeros(len(self.X))
        gradient[rows], hessian[rows] = g, h
        least = growth.least_rows if isinstance(self.loss, Squares) else growth.least_rows / 10
        column, cut, left, right, value, gain, reached = _numeric.grow_boosted_tree(
            self.binned.bins, gradient, hessian, columns, rows, self.binned.widths, growth.max_leaves, least, growth.l2
        )
        threshold = np.array(
            [self.binned.edges[c][b] if c >= 0 else 0.0 for c, b in zip(column.tolist(), cut.tolist(), strict=True)]
        )
        np.add.at(self.gains, column[column >= 0], gain[column >= 0])
        return (column, threshold, left, right, growth.rate * value), reached


@dataclass
class Boosted:
    """What boosting learned: scores of the training rows out of fold, the ensemble of all rows, and how it went.

    `losses` are those of held-out rows every few rounds, `gains` what splits on each column gained in all.
    """

    scores: np.ndarray
    forest: Forest
    losses: np.ndarray
    n_rounds: int
    gains: np.ndarray


def boost(X, loss, folds: np.ndarray, growth: Growth, codes=(), enough=lambda: False) -> Boosted:
    """Grow ensembles outside each fold until the held-out rows of all folds gain no more, then one on all rows.

    X : (n, p) float64; loss : `Squares` or `LogLoss`; folds : the fold of each row, 0..K-1; codes : the columns that
    hold codes 0, 1, ... of categories, which each ensemble puts in the order of its own training rows' targets;
    enough : asked between rounds, says whether to stop there
    """
    X = np.ascontiguousarray(X, dtype=np.float64)
    names = np.unique(folds)
    runs = [
        _Grown(loss, X, codes, growth, np.flatnonzero(folds != k), np.flatnonzero(folds == k), i + 1)
        for i, k in enumerate(names)
    ]
    stride = 5
    kept: list[list[np.ndarray]] = [[run.scores[run.watch].copy()] for run in runs]
    curve = [sum(loss.loss(k[0], run.watch) for k, run in zip(kept, runs, strict=True))]

    def advance(place):
        for _ in range(stride):
            runs[place].round()
        kept[place].append(runs[place].scores[runs[place].watch].copy())
        return loss.loss(kept[place][-1], runs[place].watch)

    best = 0
    while (len(curve) - 1) * stride < growth.n_trees and (len(curve) - 1 - best) * stride < growth.patience:
        if enough():
            break
        curve.append(sum(ordered_map(advance, range(len(runs)))))
        if curve[-1] < curve[best]:
            best = len(curve) - 1
    scores = np.empty_like(runs[0].scores)
    for run, history in zip(runs, kept, strict=True):
        scores[run.watch] = history[best]
    forest = grown(X, loss, growth, best * stride, codes)
    return Boosted(scores, forest, np.array(curve) / len(X), best * stride, sum(run.gains for run in runs))


def grown(X, loss, growth: Growth, n_rounds: int, codes=()) -> Forest:
    """The ensemble of `n_rounds` rounds on all rows."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    everyone = np.arange(len(X))
    run = _Grown(loss, X, codes, growth, everyone, everyone[:0], 0)
    for _ in range(n_rounds):
        run.round()
    forest = Forest.of(run.base, run.trees)
    forest.ranks = run.ranks
    return forest


def _spans(n):
    return [slice(i, i + _ROWS) for i in range(0, n, _ROWS)]
