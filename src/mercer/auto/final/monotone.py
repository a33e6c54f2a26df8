"""Final linear models with bounds on the signs of weights, for monotone columns.

A feature that does not fall along a column, times a weight of at least zero, does not fall: and neither does a sum of
such terms in floating point, since rounding keeps the order of numbers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer.auto.conformal.cross_validated import cross_validated
from mercer.auto.final.generalized import column_signs, training_features
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.targets import NumericTarget
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.state import SearchResult
from mercer.linear.optimize.generalized import RowProblem, minimize_loss
from mercer.linear.regression_losses import BernoulliLoss
from mercer.linear.ridge.bounded import BoundedFoldLoss

#: Multiples of the penalties that were found without bounds.
_MULTIPLES = (0.25, 1.0, 4.0)


def fit_monotone(
    found: SearchResult, rows: TrainingRows, target: NumericTarget, like: Predictor | None, calibrate: bool
) -> Predictor:
    """Ridge regression with bounds; folds choose a multiple of the penalties unless those of `like` are given."""
    gram = rows.gram(found.features.over(rows.X, found.scores))
    signs = column_signs(found, rows)
    signs = np.zeros(found.features.width) if signs is None else signs  # the columns may be constant
    equations = BoundedFoldLoss(gram, found.features.block_of_column, signs)
    if like is None:
        losses = [equations.bounded_loss(multiple * found.penalties) for multiple in _MULTIPLES]
        found = replace(found, penalties=_MULTIPLES[int(np.argmin(losses))] * found.penalties)
    coef, intercept = equations.weights(found.penalties)
    coef, intercept = coef * target.scale, intercept * target.scale + target.mean
    calibration = cross_validated(found, equations, rows, target) if calibrate else None
    return Predictor(found.features, coef, intercept, None, found.penalties, calibration=calibration, result=found)


def monotone_logistic(
    found: SearchResult, rows: TrainingRows, labels: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Weights and intercept of a logistic regression of two classes with bounds; alpha multiplies the penalties."""
    Z = training_features(found, rows)
    problem = RowProblem(Z, labels.astype(np.float64), rows.weight, column_signs(found, rows))
    penalties = alpha * found.penalties[found.features.block_of_column]
    point = minimize_loss(problem, BernoulliLoss(), penalties)
    return point.coef[:, None], np.array([point.intercept])
