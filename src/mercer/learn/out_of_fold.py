"""Features learned from the target that do not leak it.

`fit(X, y).transform(X)` gives what new rows get. `fit_transform(X, y)` gives each training row what was learned
without its fold, so that the columns mean on the training rows what they will mean on new ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block
from mercer._runtime.checks import check_weight
from mercer.base import StreamingTransformer, seed_of
from mercer.learn.targets import checked_target
from mercer.linear.passes import IteratedEstimator
from mercer.source import Source, StreamSource


def fold_of(block: Block, n_folds: int, seed: int) -> np.ndarray:
    """The fold of each row, by the hash of the row as read: the folds of the ridge path with this seed."""
    return _numeric.buckets(_numeric.splitmix64(block.ids, seed), n_folds).astype(np.intp)


class TargetLearner(IteratedEstimator, StreamingTransformer):
    """A transformer that learns from the target, looking at the rows more than once."""

    _check_X = {"dtype": [np.float64, np.float32]}

    def _checked_y(self, y):
        return checked_target(super()._checked_y(y))


class OutOfFoldTransformer(TargetLearner):
    """A transformer with `n_folds` and `random_state` that keeps what it learned without each fold."""

    #: Whether rows in memory fall into folds by their number, not by their hash.
    _folds_by_number = False

    def fit_transform(self, X, y=None, sample_weight=None):
        """Fit, and map each row by what was learned without its fold.

        Parameters
        ----------
        X : array, data frame or Source of n rows
        y : array of n targets; a `Source` brings its own
        sample_weight : array of n non-negative weights; a `Source` brings its own

        Returns
        -------
        array or CSR matrix of n rows; for a `Source` a `Source` that maps as it reads
        """
        self._check_parameters()
        if isinstance(X, Source):
            source = self._open(X, y, sample_weight)
        else:
            rows = self._identified(Block(self._checked_X(X, reset=True)))
            source = self._in_memory(rows, y, sample_weight)
        self._learn_from(source)
        self._learn_without_folds(source)
        if not isinstance(X, Source):
            return self._held_out_block(rows)
        mapped = X.map(lambda block: block.with_X(self._held_out_block(block.with_X(self._checked_rows(block)))))
        mapped.names = [str(name) for name in self.get_feature_names_out()]
        mapped.derived = True
        return mapped

    def _identified(self, rows: Block) -> Block:
        """Rows in memory, known by their number if folds are to go by it."""
        return replace(rows, raw=np.arange(len(rows))[:, None]) if self._folds_by_number else rows

    def _in_memory(self, rows: Block, y, sample_weight) -> Source:
        """The rows that have a weight, with their targets."""
        weight = check_weight(sample_weight, len(rows))
        if weight is not None and not np.any(weight > 0):
            raise ValueError("All sample weights are zero: there is nothing to learn from.")
        block = self._checked_block(rows.X, y, weight, reset=None)
        known = rows if weight is None else rows.rows(weight > 0)
        block = replace(block, raw=known.raw)
        return StreamSource(lambda: iter([replace(block)]), n_rows=len(block))

    def _learn_without_folds(self, source: Source) -> None:
        """Learn what `_held_out` needs, unless `_learn_from` has done so."""

    def _held_out_block(self, block: Block):
        if len(block) == 0:
            return self._apply(block.X)
        return self._held_out(block.X, self._folds(block))

    def _folds(self, block: Block) -> np.ndarray:
        return fold_of(block, self.n_folds, seed_of(self.random_state))

    def _held_out(self, X, fold: np.ndarray):
        """The rows of X, each mapped by what was learned without its fold."""
        raise NotImplementedError
