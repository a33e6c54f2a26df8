"""The linear part of a regression from the Gram matrices of its rows per fold, which add and subtract exactly.

All penalties are chosen again by the exact K-fold loss, so the result is that of ridge regression on the rows that are
left, with the features that the model has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._runtime.errors import MercerError
from mercer.auto.features.union import Features
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.training import N_FOLDS, TrainingRows
from mercer.auto.updates.features import features_of
from mercer.auto.updates.packed import PackedGram, negated
from mercer.linear.ridge.bounded import BoundedFoldLoss
from mercer.linear.ridge.fold_loss import GramFoldLoss
from mercer.linear.ridge.penalties import best_penalties
from mercer.stats import Gram

#: Rounding error of the Gram matrix, relative to its trace, beyond which rows cannot be taken away any more.
_MAX_ERROR = 1e-4
#: The fewest rows that may be left.
_MIN_ROWS = 10


@dataclass
class SquaredState:
    """Gram matrices per fold of features and standardized targets, and the signs of weights where asked for.

    Penalties are searched for from `start`, those of the fit: the result depends on the rows that there are, not on
    the order in which they came and went.
    """

    gram: PackedGram
    mean: np.ndarray
    scale: float
    start: np.ndarray
    signs: np.ndarray | None = None

    @staticmethod
    def n_matrices(predictor: Predictor) -> int:
        return N_FOLDS

    @classmethod
    def of(
        cls, predictor: Predictor, rows: TrainingRows, folds: np.ndarray, target: Any, signs: np.ndarray | None
    ) -> SquaredState:
        total = summed(predictor.features, rows, folds)
        return cls(
            PackedGram.of(total), np.asarray(target.mean), float(target.scale), np.array(predictor.penalties), signs
        )

    def numbers(self, y: np.ndarray) -> np.ndarray:
        """Targets as the statistics hold them."""
        return (np.asarray(y, dtype=np.float64).reshape(len(y), -1) - self.mean) / self.scale

    def changed(
        self, predictor: Predictor, rows: TrainingRows, folds: np.ndarray, sign: int
    ) -> tuple[SquaredState, Predictor]:
        """The statistics and the model with rows added (sign 1) or taken away (sign -1)."""
        change = summed(predictor.features, rows, folds)
        total = self.gram.gram().merge(change if sign > 0 else negated(change))
        finished = total.finish() if total.n > 0 else None
        if finished is None or total.n < _MIN_ROWS or len(finished.folds) < 2 or finished.total.weight <= 0:
            raise MercerError(f"{max(total.n, 0)} rows would be left, too few for a model.", remedy="Fit a new one.")
        if finished.error > _MAX_ERROR * float(np.trace(finished.total.G)):
            raise MercerError(
                "So little would be left of the rows that the rounding error of their sums is no longer small.",
                remedy="Fit a new model to the rows that are left.",
            )
        blocks = predictor.features.block_of_column
        equations = GramFoldLoss(finished, blocks)
        penalties, _ = best_penalties(equations, self.start, restart=False)
        if self.signs is not None:
            equations = BoundedFoldLoss(finished, blocks, self.signs)
        coef, intercept = equations.weights(penalties)
        made = replace(
            predictor, coef=coef * self.scale, intercept=intercept * self.scale + self.mean, penalties=penalties
        )
        return replace(self, gram=PackedGram.of(total)), made


def summed(features: Features, rows: TrainingRows, folds: np.ndarray) -> Gram:
    """The Gram statistic of rows; those of trees by the ensembles that have not seen a row."""
    return rows.summed(lambda span: features_of(features, rows.X[span], folds[span]))
