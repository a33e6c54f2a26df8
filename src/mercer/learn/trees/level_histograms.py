"""Histograms of gradients and hessians for nodes of growing trees: the statistic of boosting over a source.

Gradients and hessians are rounded to whole numbers on a grid, so sums over blocks, parts and machines are exact, and
the trees do not depend on how the rows were divided. Chen and Guestrin, "XGBoost", 2016; Ke et al., "LightGBM", 2017.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block
from mercer._numeric.trees.grower import MAX_SHORT_ROWS, MIN_UNITS, grid_exponent
from mercer._runtime.pool import for_each
from mercer.learn.trees.best_first import GradientGrid
from mercer.learn.trees.encoded_rows import BinnedRows, BinTree, BoostedModel, TreeRowEncoder
from mercer.stats.base import Statistic


class GridGuess(NamedTuple):
    """The grids of short and long sums of a tree, and whether short sums suffice."""

    short: GradientGrid
    long: GradientGrid
    is_short: bool

    @property
    def grid(self) -> GradientGrid:
        return self.short if self.is_short else self.long


class GradientRange(NamedTuple):
    """The largest gradient and hessian of the training rows, and how many are MIN_UNITS or more on the short grid."""

    largest: np.ndarray
    counts: np.ndarray

    def guess(self, n_rows: int, before: GridGuess | None) -> GridGuess:
        """The grids of these rows. Counts are those of the grid before: if it differs, `is_short` is a guess."""
        short, long = (
            GradientGrid(*(grid_exponent(float(each), n_rows, bits=bits) for each in self.largest)) for bits in (31, 52)
        )
        suffices = n_rows <= MAX_SHORT_ROWS
        if before is not None and before.short == short:
            suffices = suffices and 2 * int(self.counts.min()) >= n_rows
        return GridGuess(short, long, suffices)


@dataclass(frozen=True)
class TreeTask:
    """Nodes of one tree whose histograms are wanted: the tree so far, and the histogram of each node (-1: none)."""

    ensemble: int
    output: int
    grid: GridGuess | None
    tree: BinTree | None = None
    slots: np.ndarray | None = None
    n_slots: int = 0


@dataclass(frozen=True)
class NodeHistograms:
    """The result: histograms of each task, and in the first pass of a round gradient ranges and the held-out loss."""

    cells: list[np.ndarray]
    ranges: list[GradientRange]
    loss: float


@dataclass(frozen=True)
class LevelHistograms(Statistic):
    """Histograms of the wanted nodes of trees, one task for each tree; `first`: see `NodeHistograms`.

    State: 16 bytes for each bin of each column, of each wanted node.
    """

    rows: TreeRowEncoder
    model: BoostedModel
    tasks: tuple[TreeTask, ...]
    first: bool
    n: int = 0
    cells: Any = None
    largest: Any = None
    counts: Any = None
    loss: float = 0.0

    parallel_inside = True

    def of(self, block: Block) -> Self:
        return replace(self, n=0).absorb(block)

    def fresh(self) -> Self:
        if self.n == 0:
            return self
        copies = {"largest": self.largest.copy(), "counts": self.counts.copy()}
        return replace(self, cells=[each.copy() for each in self.cells], **copies)

    def absorb(self, block: Block) -> Self:
        if len(block) == 0:
            return self
        state = self if self.n else self._zeros()
        rows = self.rows.encoded(block, self.model.base.size)
        scores = rows.scores(self.model)
        ensembles = sorted({task.ensemble for task in self.tasks})
        for_each(lambda k: state._add(k, rows, scores[k]), ensembles)
        loss = state.loss + (self._held_out_loss(rows, scores) if self.first else 0.0)
        return replace(state, n=state.n + len(block), loss=loss)

    def _zeros(self) -> Self:
        cells = [np.zeros((task.n_slots, int(self.rows.widths[task.ensemble].sum()), 2)) for task in self.tasks]
        shape = (len(self.tasks), 2)
        return replace(self, cells=cells, largest=np.zeros(shape), counts=np.zeros(shape, dtype=np.int64), loss=0.0)

    def _add(self, k: int, rows: BinnedRows, scores: np.ndarray) -> None:
        """Add the rows to the histograms of the trees of one ensemble, in place."""
        gradient, hessian = rows.loss.gradients(scores)
        outside = rows.held_out_by != k
        for index, task in enumerate(self.tasks):
            if task.ensemble != k:
                continue
            terms = hessian[task.output], gradient[task.output]
            if self.first:
                self._widen(index, task, [each[outside] for each in terms])
            if task.n_slots:
                self._add_cells(index, task, rows, outside, terms)

    def _widen(self, index: int, task: TreeTask, terms: list[np.ndarray]) -> None:
        for j, values in zip((1, 0), terms, strict=True):  # gradient, hessian
            sizes = np.abs(values)
            self.largest[index, j] = max(self.largest[index, j], sizes.max(initial=0.0))
            if task.grid is not None:
                self.counts[index, j] += np.count_nonzero(sizes >= np.ldexp(MIN_UNITS, -task.grid.short[j]))

    def _add_cells(
        self, index: int, task: TreeTask, rows: BinnedRows, outside: np.ndarray, terms: tuple[np.ndarray, np.ndarray]
    ) -> None:
        assert task.grid is not None
        assert task.tree is not None
        assert task.slots is not None
        nodes = np.where(outside, task.slots[task.tree.leaves(rows.bins)], -1).astype(np.int32)
        grid = task.grid.grid
        rounded = np.empty((len(nodes), 2))
        for j, (values, exponent) in enumerate(zip(terms, (grid.hessian, grid.gradient), strict=True)):
            np.rint(np.multiply(values, np.ldexp(1.0, exponent), out=rounded[:, j]), out=rounded[:, j])
        columns, widths = self.rows.columns_of(task.ensemble), self.rows.widths[task.ensemble]
        _numeric.add_histograms(rows.bins, rounded, nodes, columns, widths, self.cells[index])

    def _held_out_loss(self, rows: BinnedRows, scores: np.ndarray) -> float:
        own = scores[rows.held_out_by, np.arange(len(rows.y))]
        return rows.loss.loss(own)

    def _merge(self, other: Self) -> Self:
        return replace(
            self,
            n=self.n + other.n,
            cells=[mine + theirs for mine, theirs in zip(self.cells, other.cells, strict=True)],
            largest=np.maximum(self.largest, other.largest),
            counts=self.counts + other.counts,
            loss=self.loss + other.loss,
        )

    def finish(self) -> NodeHistograms:
        if self.n == 0:
            raise ValueError("No rows: trees cannot be grown from an empty data set.")
        ranges = [GradientRange(*each) for each in zip(self.largest, self.counts, strict=True)]
        return NodeHistograms(self.cells, ranges, self.loss)
