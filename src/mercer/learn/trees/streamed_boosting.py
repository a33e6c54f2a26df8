"""Boosted trees with out-of-fold scores over a source, in bounded memory.

The rounds of all ensembles grow together: each pass over the rows adds histograms for the nodes that best-first growth
may reach next, about one level of all trees of a round. Cuts of columns come from a sample of rows, all else from all
rows. Sums of gradients are exact, so the trees have the same bits on any engine; given the same cuts and initial
scores, they are those of `mercer.learn.trees.boosting`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from uuid import uuid4

import numpy as np

from mercer._numeric.block import Block
from mercer.learn.trees.best_first import BestFirstTree, GrownNodes
from mercer.learn.trees.binning import SAMPLE_ROWS, BinnedColumns, column_cuts
from mercer.learn.trees.categories import TreeColumns, rank_codes
from mercer.learn.trees.encoded_rows import BinTree, BoostedModel, TreeRowEncoder
from mercer.learn.trees.ensemble import Tree, TreeEnsemble
from mercer.learn.trees.fold_totals import FoldSums, FoldTotals
from mercer.learn.trees.level_histograms import GridGuess, LevelHistograms, NodeHistograms, TreeTask
from mercer.learn.trees.losses import LogisticTreeLoss, SquaredTreeLoss
from mercer.learn.trees.params import EVALUATION_INTERVAL, TreeParams
from mercer.learn.trees.score import MIN_SCALE
from mercer.source import Source
from mercer.source.progress import report_progress
from mercer.stats import Moments, Sample

#: Histogram cells of one pass, 16 bytes each: further nodes wait for the next one.
_MAX_CELLS = 1 << 21


@dataclass(frozen=True)
class StreamedResult:
    """The ensemble outside each fold, the mean held-out losses at each evaluation, and the passes that took.

    Without early stopping, held-out losses are those before each round of an evaluation, without the last.
    """

    ensembles: list[TreeEnsemble]
    losses: np.ndarray
    n_rounds: int
    n_passes: int
    rows: TreeRowEncoder
    model: BoostedModel


def encoder_of(
    source: Source, columns: TreeColumns, classes: np.ndarray | None, n_folds: int, seed: int, max_bins: int
) -> tuple[TreeRowEncoder, FoldSums]:
    """Bins of the columns and sums of the targets: two passes."""
    totals = source.fold(FoldTotals(columns, classes, n_folds, seed)).finish()
    folds = np.flatnonzero(totals.n)

    def numbers(block: Block) -> Block:
        return replace(block, X=columns(block.X), y=None, weight=None)

    sample = source.map(numbers).fold(Sample(SAMPLE_ROWS, seed)).finish()
    X = np.repeat(sample.X, sample.weight.astype(np.int64), axis=0) if sample.complete else sample.X
    n = len(columns.kept)
    output = 0 if classes is None else int(totals.mean_target().argmax())
    ranks = [dict(zip(columns.codes.tolist(), totals.ranks(int(fold), output), strict=True)) for fold in folds]
    code_cuts = [
        column_cuts(np.column_stack([rank_codes(rank, X[:, code]) for code, rank in each.items()]), max_bins)
        if each
        else []
        for each in ranks
    ]
    cuts = column_cuts(X[:, :n], max_bins)
    return TreeRowEncoder(uuid4().hex, columns, cuts, code_cuts, ranks, classes, n_folds, seed, folds), totals


def boost_streamed(source: Source, rows: TreeRowEncoder, totals: FoldSums, params: TreeParams) -> StreamedResult:
    """Grow an ensemble outside each fold until the held-out loss no longer falls, as `boost` does in memory."""
    try:
        return _StreamedBooster(source, rows, totals, params).result()
    finally:
        rows.forget()


def out_of_fold_scale(source: Source, result: StreamedResult) -> np.ndarray:
    """The standard deviation of each column of out-of-fold scores: one pass."""
    rows, model = result.rows, result.model

    def scored(block: Block) -> Block:
        if len(block) == 0:
            return Block(np.empty((0, model.base.shape[1])), weight=block.weight)
        encoded = rows.encoded(block, model.base.size)
        own = encoded.scores(model)[encoded.held_out_by, np.arange(len(block))]
        return Block(own, weight=block.weight)

    try:
        return np.maximum(np.sqrt(source.map(scored).fold(Moments()).finish().var), MIN_SCALE)
    finally:
        rows.forget()


class _StreamedBooster:
    """Rounds of the ensembles outside each fold."""

    def __init__(self, source: Source, rows: TreeRowEncoder, totals: FoldSums, params: TreeParams):
        self.source, self.rows, self.params = source, rows, params
        loss = SquaredTreeLoss if rows.classes is None else LogisticTreeLoss
        base = np.array([loss.base_of(totals.mean_target(int(fold))) for fold in rows.folds])
        self.min_hessian = params.min_samples_leaf if rows.classes is None else params.min_samples_leaf / 10
        self.n_rows = int(totals.n.sum())
        self.n_training = [self.n_rows - int(totals.n[fold]) for fold in rows.folds]
        self.model, self.grown = BoostedModel(base), list[list[GrownNodes]]()
        self.trees = [(k, o) for k in range(len(base)) for o in range(base.shape[1])]
        self.grids: list[GridGuess | None] = [None] * len(self.trees)
        self.n_passes = 0

    def result(self) -> StreamedResult:
        params, losses = self.params, list[float]()
        patience, stops = params.early_stopping_rounds or 0, params.early_stopping_rounds is not None
        for done in count():
            at_evaluation = done % EVALUATION_INTERVAL == 0 or done == params.n_estimators
            if done == params.n_estimators and not stops:
                break
            first = self._first_pass()
            if at_evaluation:
                losses.append(first.loss / self.n_rows)
            waited = done - params.rounds_at(int(np.argmin(losses)))
            if done == params.n_estimators or (at_evaluation and stops and waited >= patience):
                break
            self._grow(first)
            report_progress(done + 1, params.n_estimators)
        n_rounds = params.rounds_at(int(np.argmin(losses))) if stops else params.n_estimators
        self.model = replace(self.model, rounds=self.model.rounds[:n_rounds])
        ensembles = [self._ensemble(k, n_rounds) for k in range(len(self.rows.folds))]
        return StreamedResult(ensembles, np.array(losses), n_rounds, self.n_passes, self.rows, self.model)

    def _fold(self, tasks: list[TreeTask], first: bool) -> NodeHistograms:
        self.n_passes += 1
        return self.source.fold(LevelHistograms(self.rows, self.model, tuple(tasks), first)).finish()

    def _first_pass(self) -> NodeHistograms:
        """Histograms of the roots on the right grids. Grids seldom change: another pass is only needed if one did."""
        while True:
            roots = [self._root_task(index) for index in range(len(self.trees))]
            sums = self._fold(roots, first=True)
            grids: list[GridGuess | None] = [
                each.guess(self.n_training[k], before)
                for each, before, (k, _) in zip(sums.ranges, self.grids, self.trees, strict=True)
            ]
            if grids == self.grids:
                return sums
            self.grids = grids

    def _root_task(self, index: int) -> TreeTask:
        (k, output), grid = self.trees[index], self.grids[index]
        if grid is None:
            return TreeTask(k, output, None)
        leaf, zero = np.full(1, -1, dtype=np.int32), np.zeros(1, dtype=np.int32)
        return TreeTask(k, output, grid, BinTree(leaf, leaf, leaf, leaf, np.zeros(1)), zero, 1)

    def _grow(self, first: NodeHistograms) -> None:
        """Grow one tree for each ensemble and output."""
        params = self.params
        growing = []
        for (k, _), grid, cells in zip(self.trees, self.grids, first.cells, strict=True):
            assert grid is not None
            tree = BestFirstTree(
                self.rows.widths[k], params.max_leaf_nodes, self.min_hessian, params.l2_regularization, grid.grid
            )
            tree.add([0], cells)
            growing.append(tree)
        while any(tree.wanted for tree in growing):
            asked = self._asked(growing)
            tasks = [self._task(index, growing[index], nodes) for index, nodes in asked.items()]
            sums = self._fold(tasks, first=False)
            for (index, nodes), cells in zip(asked.items(), sums.cells, strict=True):
                growing[index].add(nodes, cells)
        self.grown.append([tree.grown() for tree in growing])
        added: list[list[BinTree]] = [[] for _ in self.rows.folds]
        for (k, _), grown in zip(self.trees, self.grown[-1], strict=True):
            column = np.where(grown.column >= 0, self.rows.columns_of(k)[grown.column], -1).astype(np.int32)
            value = params.learning_rate * grown.value
            added[k].append(BinTree(column, grown.bin, grown.left, grown.right, value))
        self.model = replace(self.model, rounds=(*self.model.rounds, added))

    def _asked(self, growing: list[BestFirstTree]) -> dict[int, list[int]]:
        """The wanted nodes of each tree, the first of all trees first, as many as fit into one pass."""
        room, asked = _MAX_CELLS, dict[int, list[int]]()
        for rank in range(max(len(tree.wanted) for tree in growing)):
            for index, tree in enumerate(growing):
                if rank < len(tree.wanted):
                    room -= int(tree.widths.sum())
                    if room < 0 and asked:
                        return asked
                    asked.setdefault(index, []).append(tree.wanted[rank])
        return asked

    def _task(self, index: int, tree: BestFirstTree, nodes: list[int]) -> TreeTask:
        k, output = self.trees[index]
        column, cut, left, right = tree.structure
        slots = np.full(len(column), -1, dtype=np.int32)
        slots[nodes] = np.arange(len(nodes))
        column = np.where(column >= 0, self.rows.columns_of(k)[column], -1).astype(np.int32)
        bins = BinTree(column, cut, left, right, np.zeros(0))
        return TreeTask(k, output, self.grids[index], bins, slots, len(nodes))

    def _ensemble(self, k: int, n_rounds: int) -> TreeEnsemble:
        cuts = BinnedColumns(np.zeros((0, 0), dtype=np.uint8), self.rows.cuts_of(k))
        trees = []
        for grown in self.grown[:n_rounds]:
            for (owner, output), nodes in zip(self.trees, grown, strict=True):
                if owner == k:
                    threshold = cuts.thresholds(nodes.column, nodes.bin)
                    value = self.params.learning_rate * nodes.value
                    trees.append(Tree(output, nodes.column, nodes.left, nodes.right, threshold, value, nodes.gain))
        made = TreeEnsemble.of(self.model.base[k], trees)
        made.ranks = self.rows.ranks[k]
        return made
