"""Boosted trees on binned columns, scored out of fold while they grow.

The ensembles outside each fold grow side by side; the number of trees is the one with the least loss on the held-out
rows of all folds. The same ensembles, on the mean, serve new data: that is a bag of as many members as folds, steadier
than one ensemble of all rows, and nothing has to be grown again. Everything is arrays: nothing here needs more than
`_numeric.add_boosted_trees` to predict.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from mercer import _numeric
from mercer._numeric.pool import for_each, ordered_map

_ROWS = 2048
#: Rows of average target that every level of a category is credited with before levels are put in order.
_PSEUDO = 10.0
#: Rounds between two looks at the held-out rows.
_STRIDE = 5
_FIRST = np.zeros(1, dtype=np.int64)


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
    """X with the codes of some columns replaced by their ranks; a code that no rank is known for counts as 0, none."""
    if not ranks:
        return X
    X = X.copy()
    for column, rank in ranks.items():
        code = X[:, column].astype(np.intp)
        X[:, column] = rank[np.where((code >= 0) & (code < len(rank)), code, 0)]
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

    def at(self, rows) -> Squares:
        """The loss of some of the rows."""
        return Squares(self.y[rows], _some(self.weight, rows))

    def slopes(self, scores):
        return _weighted(self.weight, scores - self.y, np.ones(scores.shape))

    def loss(self, scores):
        return _sum(self.weight, np.sum((scores - self.y) ** 2, axis=1))


def _some(weight, rows):
    return None if weight is None else weight[rows]


def _mean(values, weight, rows):
    return np.average(values[rows], axis=0, weights=_some(weight, rows))


def _weighted(weight, *parts):
    return parts if weight is None else tuple(weight[:, None] * part for part in parts)


def _sum(weight, losses):
    return float(np.sum(losses) if weight is None else weight @ losses)


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

    def at(self, rows) -> LogLoss:
        """The loss of some of the rows."""
        return LogLoss(self.label[rows], self.n, _some(self.weight, rows))

    def slopes(self, scores):
        p = self._probabilities(scores)
        factor = 1.0 if self.n == 2 else self.n / (self.n - 1)  # as Friedman (2001): the columns are not independent
        return _weighted(self.weight, p - self.hot, np.maximum(factor * p * (1 - p), 1e-6))

    def _probabilities(self, scores):
        if self.n == 2:
            return 1 / (1 + np.exp(-np.clip(scores, -35, 35)))
        shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)

    def loss(self, scores):
        if self.n == 2:
            return _sum(self.weight, np.logaddexp(0, np.where(self.hot > 0, -scores, scores))[:, 0])
        top = scores.max(axis=1, keepdims=True)
        logs = np.log(np.exp(scores - top).sum(axis=1)) + top[:, 0]
        return _sum(self.weight, logs - scores[np.arange(len(scores)), self.label])


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
    """One ensemble growing on the rows outside a fold, watched on those of the fold.

    `binned` are the bins of X where all ensembles share them: not if each puts categories in an order of its own.
    """

    def __init__(self, loss, X, codes, growth, folds, fold, stream, binned=None):
        train, self.watch = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        self.ranks = ranks_of(X, codes, loss.leading, train, loss.weight)
        X = ranked(X, self.ranks)
        binned = Binned.of(X, growth.max_bins) if binned is None else binned
        self.edges, self.widths, self.bins = binned.edges, binned.widths, binned.bins[train]
        self.growth, self.everyone, self.watched = growth, np.arange(len(train)), X[self.watch]
        self.least = growth.least_rows if isinstance(loss, Squares) else growth.least_rows / 10
        self.base, self.loss, self.watched_loss_of = loss.base(train), loss.at(train), loss.at(self.watch)
        self.scores, self.watched_scores = (np.tile(self.base, (len(each), 1)) for each in (train, self.watch))
        self.rng = np.random.default_rng([growth.seed, stream])
        self.trees: list = []
        self.gains = np.zeros(X.shape[1])

    def watched_loss(self) -> float:
        return self.watched_loss_of.loss(self.watched_scores)

    def forest(self, n_rounds: int) -> Forest:
        """The ensemble of the first rounds."""
        made = Forest.of(self.base, self.trees[: n_rounds * len(self.base)])
        made.ranks = self.ranks
        return made

    def round(self, enough=lambda: False):
        """One more tree for each output, all from the scores before it; False if there was enough in between."""
        gradient, hessian = (np.ascontiguousarray(part.T) for part in self.loss.slopes(self.scores))
        for k in range(len(gradient)):
            if enough():
                return False
            tree, reached = self._tree(gradient[k], hessian[k])
            self.trees.append((k, *tree))
            self.scores[:, k] += tree[-1][reached]
            _numeric.add_boosted_trees(self.watched, _FIRST, *tree, np.array([k]), self.watched_scores)
        return True

    def _tree(self, gradient, hessian):
        p, growth = self.bins.shape[1], self.growth
        columns = np.sort(self.rng.choice(p, max(1, round(growth.columns * p)), replace=False))
        column, cut, left, right, value, gain, reached = _numeric.grow_boosted_tree(
            self.bins, gradient, hessian, columns, self.everyone, self.widths, growth.max_leaves, self.least, growth.l2
        )
        threshold = np.array(
            [self.edges[c][b] if c >= 0 else 0.0 for c, b in zip(column.tolist(), cut.tolist(), strict=True)]
        )
        np.add.at(self.gains, column[column >= 0], gain[column >= 0])
        return (column, threshold, left, right, growth.rate * value), reached


@dataclass
class Boosted:
    """What boosting learned: scores of the training rows out of fold, the ensemble outside each fold, and how it went.

    `losses` are those of held-out rows every few rounds, `gains` what splits on each column gained in all.
    """

    scores: np.ndarray
    forests: list[Forest]
    losses: np.ndarray
    n_rounds: int
    gains: np.ndarray


def boost(X, loss, folds: np.ndarray, growth: Growth, codes=(), enough=lambda: False) -> Boosted:
    """Grow ensembles outside each fold until the held-out rows of all folds gain no more.

    X : (n, p) float64; loss : `Squares` or `LogLoss`; folds : the fold of each row, 0..K-1; codes : the columns that
    hold codes 0, 1, ... of categories, which each ensemble puts in the order of its own training rows' targets;
    enough : asked between rounds, says whether to stop there
    """
    X = np.ascontiguousarray(X, dtype=np.float64)
    binned = None if len(codes) else Binned.of(X, growth.max_bins)
    runs = [_Grown(loss, X, codes, growth, folds, k, i + 1, binned) for i, k in enumerate(np.unique(folds))]
    curve, kept = _raced(runs, growth, enough)
    best = int(np.argmin(curve))
    scores = np.empty((len(X), len(runs[0].base)))
    for run, history in zip(runs, kept, strict=True):
        scores[run.watch] = history[best]
    forests = [run.forest(best * _STRIDE) for run in runs]
    losses = np.array(curve) / sum(len(run.watch) for run in runs)
    return Boosted(scores, forests, losses, best * _STRIDE, np.sum([run.gains for run in runs], axis=0))


def compared(X, loss, folds: np.ndarray, growths, codes=(), enough=lambda: False) -> list[tuple[Growth, float, float]]:
    """Growths with the loss of the first fold under the ensemble of the others, and seconds."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    tried: list[tuple[Growth, float, float]] = []
    for growth in growths:
        if tried and enough():
            break
        start = time.perf_counter()
        run = _Grown(loss, X, codes, growth, folds, int(folds.min()), 1)
        least = min(_raced([run], growth, enough)[0]) / len(run.watch)
        tried.append((growth, least, time.perf_counter() - start))
    return tried


def _raced(runs: list[_Grown], growth: Growth, enough) -> tuple[list[float], list[list[np.ndarray]]]:
    """The loss of all held-out rows every few rounds until it falls no more, and each run's scores of them."""
    kept = [[run.watched_scores.copy()] for run in runs]
    curve = [sum(run.watched_loss() for run in runs)]

    def advance(place):
        if not all(runs[place].round(enough) for _ in range(_STRIDE)):
            return np.inf  # cut short: what was grown of this stride is not used
        kept[place].append(runs[place].watched_scores.copy())
        return runs[place].watched_loss()

    best = 0
    while (len(curve) - 1) * _STRIDE < growth.n_trees and (len(curve) - 1 - best) * _STRIDE < growth.patience:
        if enough():
            break
        loss = sum(ordered_map(advance, range(len(runs))))
        if not np.isfinite(loss):
            break
        curve.append(loss)
        if curve[-1] < curve[best]:
            best = len(curve) - 1
    return curve, kept


def _spans(n):
    return [slice(i, i + _ROWS) for i in range(0, n, _ROWS)]
