"""Features learned from the target without leakage.

`fit(X, y).transform(X)` gives what new rows get. `fit_transform(X, y)` gives each training row the features learned
without its fold, so that a column means the same on training rows and on new ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer._runtime.checks import check_weight
from mercer.base import StreamingTransformer, seed_of
from mercer.learn.targets import checked_target
from mercer.linear.passes import IteratedEstimator
from mercer.source import Source, StreamSource


class TargetLearner(IteratedEstimator, StreamingTransformer):
    """A transformer that learns from the target in several passes over the rows."""

    _check_X = {"dtype": [np.float64, np.float32]}

    def _checked_y(self, y: Any) -> np.ndarray:
        return checked_target(super()._checked_y(y))


class OutOfFoldTransformer(TargetLearner):
    """A transformer with `n_folds` and `random_state` that keeps what it learned without each fold."""

    n_folds: Any
    random_state: Any
    classes_: Any
    #: Whether rows in memory are assigned to folds by their number, not by their hash.
    _folds_by_number = False

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
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
        if not isinstance(X, Source):
            return self._held_out_block(rows)
        mapped = X.map(lambda block: block.with_X(self._held_out_block(block.with_X(self._checked_rows(block)))))
        mapped.names = [str(name) for name in self.get_feature_names_out()]
        mapped.derived = True
        return mapped

    def _identified(self, rows: Block) -> Block:
        """Rows in memory, identified by their number if folds go by it."""
        return replace(rows, raw=np.arange(len(rows))[:, None]) if self._folds_by_number else rows

    def _in_memory(self, rows: Block, y: Any, sample_weight: Any) -> Source:
        """The rows with a positive weight, with their targets."""
        weight = check_weight(sample_weight, len(rows))
        if weight is not None and not np.any(weight > 0):
            raise ValueError("All sample weights are zero: there is nothing to learn from.")
        block = self._checked_block(rows.X, y, weight, reset=None)
        known = rows if weight is None else rows.rows(weight > 0)
        block = replace(block, raw=known.raw)
        return StreamSource(lambda: iter([replace(block)]), n_rows=len(block))

    def _held_out_block(self, block: Block) -> Any:
        if len(block) == 0:
            return self._apply(block.X)
        return self._held_out(block.X, self._folds(block))

    def _folds(self, block: Block) -> np.ndarray:
        """The fold of each row: with the same seed, those of the ridge path."""
        return fold_of(block.ids, self.n_folds, seed_of(self.random_state))

    def _held_out(self, X: Any, fold: np.ndarray) -> Any:
        """The rows of X, each mapped by what was learned without its fold."""
        raise NotImplementedError
