"""One ensemble of boosted trees, growing on the rows outside a fold and watched on those of the fold."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer import _numeric
from mercer.auto.boosting.forest import Forest, Tree, ranks_at, ranks_of
from mercer.auto.boosting.losses import Squares
from mercer.learn.trees.binning import Binning

#: Rounds between two looks at the held-out rows.
STRIDE = 5
#: Seconds that a round takes where it is asked after each whether there is time for another.
_LONG = 0.01


@dataclass(frozen=True)
class Growth:
    """How trees grow: how many at most, how large, how much of each is added, and when to stop.

    `columns` is the share of columns a tree may use; of these it looks at the `screened` that go along best with what
    is left of the target (0: at all). `patience` is the number of rounds without gain on held-out rows.
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
    screened: int = 0


@dataclass
class Binned:
    """Columns as bins, and the cuts above each bin: bin b holds cuts[b-1] < x <= cuts[b]."""

    bins: np.ndarray
    cuts: list[np.ndarray]

    @classmethod
    def of(cls, X: np.ndarray, max_bins: int) -> Binned:
        binning = Binning(X, max_bins)
        return cls(binning(X), binning.cuts)

    def ordered(self, rows: np.ndarray, X: np.ndarray, ranks: dict[int, np.ndarray], max_bins: int) -> Binned:
        """Rows in some order, with columns of codes binned anew by the ranks of their codes."""
        bins, cuts = self.bins[rows], list(self.cuts)
        if ranks:
            seen = [ranks_at(rank, X[rows, column]) for column, rank in ranks.items()]
            again = Binned.of(np.column_stack(seen), max_bins)
            bins[:, list(ranks)] = again.bins
            for column, found in zip(ranks, again.cuts, strict=True):
                cuts[column] = found
        return Binned(bins, cuts)

    @cached_property
    def widths(self) -> np.ndarray:
        return np.array([len(cuts) + 1 for cuts in self.cuts], dtype=np.int64)

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.cumsum(self.widths - 1) - (self.widths - 1)

    @cached_property
    def _joined(self) -> np.ndarray:
        return np.concatenate([*self.cuts, [0.0]])

    def thresholds(self, column: np.ndarray, cut: np.ndarray) -> np.ndarray:
        """The values at which bins are cut; 0 where there is no column (-1)."""
        return self._joined[np.where(column >= 0, self._starts[column] + cut, -1)]


class Screen:
    """Columns of mean 0 and mean square 1, to see at once which of them go along with a gradient."""

    def __init__(self, X: np.ndarray):
        centered = X - X.mean(axis=0)
        size = np.sqrt(np.mean(centered**2, axis=0))
        self.columns = np.ascontiguousarray((centered / np.where(size > 0, size, 1.0)).T, dtype=np.float32)

    def best(self, columns: np.ndarray, rows: np.ndarray, gradient: np.ndarray, most: int) -> np.ndarray:
        """At most so many of some columns, in order: those of the largest inner products with the gradient of rows."""
        if len(columns) <= most:
            return columns
        slope = np.zeros(self.columns.shape[1], dtype=np.float32)
        slope[rows] = gradient - gradient.mean()
        along = np.abs(np.einsum("ij,j->i", self.columns, slope)[columns])
        return columns[np.sort(np.argpartition(-along, most)[:most])]


class Ground:
    """Rows that several ensembles grow on: their bins and their screen are computed once."""

    def __init__(self, X: np.ndarray):
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self._binned: dict[int, Binned] = {}

    @classmethod
    def of(cls, X) -> Ground:
        return X if isinstance(X, cls) else cls(X)

    def binned(self, max_bins: int) -> Binned:
        if max_bins not in self._binned:
            self._binned[max_bins] = Binned.of(self.X, max_bins)
        return self._binned[max_bins]

    @cached_property
    def screen(self) -> Screen:
        return Screen(self.X)


class Ensemble:
    """Trees on the rows outside a fold; `losses` and `told` are what its own rows lost and were told every few rounds.

    All ensembles share the bins of the ground but for categories: each puts their levels in an order of its own. Rows
    to learn from come first, those to watch last.
    """

    def __init__(self, loss, ground: Ground, codes, growth: Growth, folds, fold: int, stream: int):
        train, self.watch = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        X, binned = ground.X, ground.binned(growth.max_bins)
        self._train, self._ground = train, ground
        order = np.concatenate([train, self.watch])
        self.growth, self._slow = growth, False
        self.ranks = ranks_of(X, codes, loss.leading, train, loss.weight)
        self.binned = binned.ordered(order, X, self.ranks, growth.max_bins)
        self.least = growth.least_rows if isinstance(loss, Squares) else growth.least_rows / 10
        self.base, self.loss, self.watched = loss.base(train), loss.at(train), loss.at(self.watch)
        self.scores = np.tile(self.base, (len(order), 1))
        self.rng = np.random.default_rng([growth.seed, stream])
        self._turn = threading.Lock()
        self.trees: list[Tree] = []
        self.losses: list[float] = []
        self.told: list[np.ndarray] = []
        self._look()

    def loss_after(self, strides: int, enough=lambda: False) -> float:
        """What the watched rows lose after so many strides; the trees grow where they have not yet.

        `enough`, asked before each stride or, where they are long, each round, may end that: then the loss is infinite.
        Another call goes on from there; one of another thread waits its turn.
        """
        with self._turn:
            while len(self.losses) <= strides:
                while (left := len(self.losses) * STRIDE - len(self.trees) // len(self.base)) > 0:
                    if enough():
                        return np.inf
                    self._grow(1 if self._slow or self.growth.screened else left)
                self._look()
            return self.losses[strides]

    def forest(self, n_rounds: int) -> Forest:
        """The ensemble of the first rounds."""
        made = Forest.of(self.base, self.trees[: n_rounds * len(self.base)])
        made.ranks = self.ranks
        return made

    def gains(self, n_rounds: int) -> np.ndarray:
        """What cuts of each column gained in the first rounds."""
        total = np.zeros(len(self.binned.cuts))
        for tree in self.trees[: n_rounds * len(self.base)]:
            total += np.bincount(1 + tree.column, tree.gain, minlength=1 + len(total))[1:]
        return total

    def _look(self):
        told = self.scores[len(self._train) :].copy()
        self.told.append(told)
        self.losses.append(self.watched.loss(told))

    def _grow(self, n_rounds: int):
        """So many more rounds, of one tree for each output."""
        start, growth, binned, loss = time.perf_counter(), self.growth, self.binned, self.loss
        columns = self._columns(n_rounds * len(self.base))
        task = (binned.bins, self.scores, loss.targets, loss.weights(), loss.logistic, columns, binned.widths)
        sizes, column, cut, left, right, value, gain = _numeric.grow_rounds(
            *task, growth.max_leaves, self.least, growth.l2, growth.rate
        )
        nodes = (column, left, right, binned.thresholds(column, cut), value, gain)
        for k, stop in enumerate(np.cumsum(sizes)):
            self.trees.append(Tree(k % len(self.base), *(each[stop - sizes[k] : stop] for each in nodes)))
        self._slow = time.perf_counter() - start > _LONG * n_rounds

    def _columns(self, n_trees: int) -> np.ndarray:
        """The columns that each of the next trees may cut: drawn, and then those that promise most."""
        growth, p = self.growth, len(self.binned.cuts)
        many = max(1, round(growth.columns * p))
        drawn = [np.sort(self.rng.choice(p, many, replace=False)) for _ in range(n_trees)]
        if growth.screened:
            gradient, _ = self.loss.slopes(self.scores[: len(self._train)])
            drawn = [
                self._ground.screen.best(some, self._train, gradient[k % len(gradient)], growth.screened)
                for k, some in enumerate(drawn)
            ]
        return np.array(drawn)
