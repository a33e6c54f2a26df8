"""Cyclic boosting of the terms of an additive model on the rows outside a fold.

Every tree may cut one axis, or the two axes of a pair, so the sum of the trees of a term is a table over its levels.
Lou, Caruana and Gehrke, "Intelligible models for classification and regression", 2012; Nori, Jenkins, Koch and Caruana,
"InterpretML", 2019.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer import _numeric
from mercer.learn.additive.axes import Axis
from mercer.learn.additive.tables import AdditiveTables, PairTable
from mercer.learn.trees.categories import category_ranks
from mercer.learn.trees.losses import SquaredTreeLoss, TreeLoss
from mercer.stats.folds import RowFolds


@dataclass(frozen=True)
class TermParams:
    """Parameters of cyclic boosting: a cycle grows one tree for each term and output.

    `min_samples_leaf` is the minimum weight of a leaf. `early_stopping_cycles` is the number of cycles without a lower
    held-out loss after which boosting stops; None: no early stopping.
    """

    max_cycles: int = 500
    max_pair_cycles: int = 300
    learning_rate: float = 0.1
    max_leaf_nodes: int = 3
    max_pair_leaf_nodes: int = 10
    min_samples_leaf: float = 5.0
    l2_regularization: float = 1.0
    early_stopping_cycles: int | None = 10


@dataclass(frozen=True)
class LevelRows:
    """Rows as levels along axes, and the coarse level of each level, which pairs are made of."""

    axes: list[Axis]
    codes: np.ndarray
    coarse: list[np.ndarray]

    @classmethod
    def of(cls, axes: list[Axis], codes: np.ndarray, weight: np.ndarray | None, max_pair_levels: int) -> LevelRows:
        """Merge the levels of numbers to at most `max_pair_levels` for pairs."""
        counts = (np.bincount(codes[:, j], weight, minlength=axis.n_levels) for j, axis in enumerate(axes))
        return cls(axes, codes, [axis.merged(count, max_pair_levels) for axis, count in zip(axes, counts, strict=True)])

    def coarse_codes(self) -> np.ndarray:
        """The coarse levels of the rows."""
        return np.column_stack([level[code] for level, code in zip(self.coarse, self.codes.T, strict=True)])


class TermBooster:
    """The terms grown on the rows outside a fold, by cycles; the levels of categories are ordered by the mean target.

    Columns of the bins are the axes, then the coarse axes. Training rows come first, held-out rows last. Without a fold
    (None) all rows are training rows.
    """

    def __init__(self, loss: TreeLoss, data: LevelRows, params: TermParams, folds: RowFolds, fold: int | None):
        if fold is None:
            self.train, self.rows = np.arange(len(folds)), np.arange(0)
        else:
            self.train, self.rows = np.flatnonzero(folds.outside(fold)), np.flatnonzero(folds.inside(fold))
        self.tested = fold is not None and folds.is_tested(fold)
        self.data, self.params, order = data, params, np.concatenate([self.train, self.rows])
        categories = [j for j, axis in enumerate(data.axes) if axis.is_category]
        self.ranks = category_ranks(data.codes, categories, loss.ordering_target, self.train, loss.weight)
        self.widths = np.array([a.n_levels for a in data.axes] + [int(c.max()) + 1 for c in data.coarse], np.int64)
        codes = data.codes[order].astype(np.intp)
        fine = [self._ranked(j, codes[:, j]) for j in range(len(data.axes))]
        coarse = [self._ranked(j, level[codes[:, j]]) for j, level in enumerate(data.coarse)]
        self.bins = np.column_stack(fine + coarse).astype(np.uint8)
        minimum = params.min_samples_leaf
        self.min_hessian = minimum if isinstance(loss, SquaredTreeLoss) else minimum / 10
        self.base, self.loss, self.held_out_loss = loss.base(self.train), loss.at(self.train), loss.at(self.rows)
        self.row_weight = loss.weight
        self.scores = np.tile(self.base, (len(order), 1))
        self.n_outputs = len(self.base)
        self.cycles: list[tuple[np.ndarray, ...]] = []

    def _ranked(self, j: int, codes: np.ndarray) -> np.ndarray:
        """The bins of levels of an axis: categories in their order, of which those of no training row come last."""
        rank = self.ranks.get(j)
        if rank is None:
            return codes
        known = np.concatenate([rank, np.arange(len(rank), self.data.axes[j].n_levels)])
        return known[codes].astype(np.intp)

    def held_out(self) -> np.ndarray:
        """The scores of the held-out rows."""
        return self.scores[len(self.train) :]

    def held_out_total(self) -> float:
        """The sum of the losses of the held-out rows, where these count."""
        return self.held_out_loss.loss(self.held_out()) if self.tested else 0.0

    def cycle(self, terms: np.ndarray, max_leaf_nodes: int) -> float:
        """Grow a tree for each term (row of columns that it may cut) and output; the loss of the held-out rows."""
        columns = np.repeat(terms, self.n_outputs, axis=0)
        loss, params = self.loss, self.params
        task = (self.bins, self.scores, loss.targets, loss.weights(), loss.logistic, columns, self.widths)
        sizes, column, cut, left, right, value, _ = _numeric.grow_rounds(
            *task, max_leaf_nodes, self.min_hessian, params.l2_regularization, params.learning_rate
        )
        roots = np.cumsum(sizes) - sizes
        shift = np.repeat(roots, sizes)
        self.cycles.append((roots, column, cut, left + shift, right + shift, value))
        return self.held_out_total()

    def mains(self, cycles: slice) -> list[np.ndarray]:
        """The tables of the axes, summed over some cycles of them: levels by outputs."""
        n = len(self.data.axes)
        levels = np.zeros((int(self.widths.max()), len(self.widths)), dtype=np.uint8)
        for j, axis in enumerate(self.data.axes):
            levels[: axis.n_levels, j] = self._ranked(j, np.arange(axis.n_levels))
        total = np.zeros((len(levels), n, self.n_outputs))
        for roots, column, cut, left, right, value in self.cycles[cycles]:
            leaves = _numeric.tree_leaves(levels, column, cut, left, right, roots)
            total += value[leaves].reshape(total.shape)
        return [total[: axis.n_levels, j].copy() for j, axis in enumerate(self.data.axes)]

    def pair_tables(self, cycles: slice, pairs: np.ndarray) -> list[PairTable]:
        """The tables of pairs of axes, summed over some cycles of them."""
        made, n = [], len(self.data.axes)
        for p, (first, second) in enumerate(pairs.tolist()):
            coarse = self.data.coarse[first], self.data.coarse[second]
            shape = tuple(int(level.max()) + 1 for level in coarse)
            grid = np.indices(shape).reshape(2, -1)
            levels = np.zeros((grid.shape[1], len(self.widths)), dtype=np.uint8)
            levels[:, n + first], levels[:, n + second] = self._ranked(first, grid[0]), self._ranked(second, grid[1])
            total = np.zeros((len(levels), self.n_outputs))
            for roots, column, cut, left, right, value in self.cycles[cycles]:
                own = roots[p * self.n_outputs : (p + 1) * self.n_outputs]
                total += value[_numeric.tree_leaves(levels, column, cut, left, right, own)]
            made.append(PairTable(first, second, *coarse, total.reshape(*shape, self.n_outputs)))
        return made

    def tables(self, n_cycles: int, n_pair_cycles: int, pairs: np.ndarray) -> AdditiveTables:
        """The tables of the first cycles of axes, and of the first cycles of pairs after them."""
        both = slice(n_cycles, n_cycles + n_pair_cycles)
        return AdditiveTables(self.data.axes, self.mains(slice(n_cycles)), self.pair_tables(both, pairs))
