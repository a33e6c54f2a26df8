"""One ensemble of boosted trees, grown on the rows outside a fold and evaluated on those of the fold."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from mercer import _numeric
from mercer.learn.trees.categories import category_ranks
from mercer.learn.trees.ensemble import Tree, TreeEnsemble
from mercer.learn.trees.losses import TreeLoss
from mercer.learn.trees.params import TreeParams
from mercer.learn.trees.score_losses import grow_score_rounds
from mercer.learn.trees.training_data import TrainingData
from mercer.stats.folds import RowFolds

#: Rounds that take more seconds than this are grown one at a time, so that boosting can stop after each.
_SLOW_ROUND_SECONDS = 0.01


def never() -> bool:
    """The answer of a `should_stop` without a time budget."""
    return False


class FoldBooster:
    """Trees on the rows outside a fold; `losses` and `held_out` are loss and scores of the fold at each evaluation.

    All ensembles share the bins of the training data except those of categories, whose order each finds for itself.
    Training rows come first, held-out rows last. Without a fold (None) all rows are training rows.
    """

    def __init__(
        self, loss: TreeLoss, data: TrainingData, params: TreeParams, folds: RowFolds, fold: int | None, stream: int
    ):
        if fold is None:
            train, self.rows = np.arange(len(folds)), np.arange(0)
        else:
            train, self.rows = np.flatnonzero(folds.outside(fold)), np.flatnonzero(folds.inside(fold))
        #: Whether the loss of the held-out rows counts.
        self.tested = fold is not None and folds.is_tested(fold)
        self._train, self._data = train, data
        order = np.concatenate([train, self.rows])
        self.params, self._slow = params, False
        self.ranks = category_ranks(data.X, data.codes, loss.ordering_target, train, loss.weight)
        self.binned = data.binned(params.max_bins).reordered(order, data.X, self.ranks, params.max_bins)
        minimum = params.min_samples_leaf
        self.min_hessian = minimum if loss.counts_rows else minimum / 10
        self.base, self.loss, self._held_out_loss = loss.base(train), loss.at(train), loss.at(self.rows)
        self.scores = np.tile(self.base, (len(order), 1))
        self.rng = np.random.default_rng([params.random_state, stream])
        self._lock = threading.Lock()
        self.trees: list[Tree] = []
        self.losses: list[float] = []
        self.held_out: list[np.ndarray] = []
        self._evaluate()

    def loss_at(self, evaluation: int, should_stop: Callable[[], bool] = never) -> float:
        """The loss of the held-out rows at an evaluation; missing trees are grown.

        `should_stop` is asked before each interval or, where rounds are slow, before each round. If it is true the
        loss is infinite; another call continues from there. Calls of other threads wait.
        """
        with self._lock:
            while len(self.losses) <= evaluation:
                rounds = self.params.rounds_at(len(self.losses))
                while (missing := rounds - len(self.trees) // len(self.base)) > 0:
                    if should_stop():
                        return np.inf
                    self._grow(1 if self._slow or self.params.max_screened_columns else missing)
                self._evaluate()
            return self.losses[evaluation]

    def ensemble(self, n_rounds: int) -> TreeEnsemble:
        """The ensemble of the first rounds."""
        made = TreeEnsemble.of(self.base, self.trees[: n_rounds * len(self.base)])
        made.ranks = self.ranks
        return made

    def gains(self, n_rounds: int) -> np.ndarray:
        """The total gain of splits on each column in the first rounds."""
        total = np.zeros(len(self.binned.cuts))
        for tree in self.trees[: n_rounds * len(self.base)]:
            total += np.bincount(1 + tree.column, tree.gain, minlength=1 + len(total))[1:]
        return total

    def _evaluate(self) -> None:
        scores = self.scores[len(self._train) :].copy()
        self.held_out.append(scores)
        self.losses.append(self._held_out_loss.loss(scores))

    def _grow(self, n_rounds: int) -> None:
        """Grow more rounds, of one tree for each output."""
        start, params, binned, loss = time.perf_counter(), self.params, self.binned, self.loss
        columns = self._columns(n_rounds * len(self.base))
        if loss.compiled and self._data.signs is None:
            task = (binned.bins, self.scores, loss.targets, loss.weights(), loss.logistic, columns, binned.widths)
            sizes, column, cut, left, right, value, gain = _numeric.grow_rounds(
                *task, params.max_leaf_nodes, self.min_hessian, params.l2_regularization, params.learning_rate
            )
        else:
            sizes, column, cut, left, right, value, gain = grow_score_rounds(
                loss, binned.bins, self.scores, columns, binned.widths, params, self.min_hessian, self._data.signs
            )
        nodes = (column, left, right, binned.thresholds(column, cut), value, gain)
        for k, stop in enumerate(np.cumsum(sizes)):
            self.trees.append(Tree(k % len(self.base), *(each[stop - sizes[k] : stop] for each in nodes)))
        self._slow = time.perf_counter() - start > _SLOW_ROUND_SECONDS * n_rounds

    def _columns(self, n_trees: int) -> np.ndarray:
        """The columns that each of the next trees may split on: drawn, then screened."""
        params, p = self.params, len(self.binned.cuts)
        n_columns = max(1, round(params.max_features * p))
        drawn = [np.sort(self.rng.choice(p, n_columns, replace=False)) for _ in range(n_trees)]
        if params.max_screened_columns:
            gradient, _ = self.loss.gradients(self.scores[: len(self._train)])
            drawn = [
                self._data.screen.best(some, self._train, gradient[k % len(gradient)], params.max_screened_columns)
                for k, some in enumerate(drawn)
            ]
        return np.array(drawn)
