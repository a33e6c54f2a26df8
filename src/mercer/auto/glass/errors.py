"""Standard errors of points: the jackknife over the folds that terms are boosted without.

With theta_k the points of the model without fold k of K,

    variance = (K - 1) / K * sum over k of (theta_k - mean of theta)^2.

Boosted terms without a fold are known. Weights without it come from one Newton step at those of all rows: with the
gradient g_k of the losses of the fold, the curvature H_k of those of the other rows and the penalty P,

    w_k = w + (H_k + P)^-1 g_k,

which is exact for squared errors but for the intercept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer._numeric.linalg import dense
from mercer.auto.final.predictor import Predictor
from mercer.auto.glass.extract import AdditiveWeights
from mercer.auto.rows.targets import NumericTarget
from mercer.auto.rows.training import TrainingRows
from mercer.learn.additive.axes import Axis
from mercer.learn.additive.tables import AdditiveTables
from mercer.linear.losses import LogLoss

#: Rows that curvature is estimated from, and rows in a batch of gradients.
_MAX_ROWS, _BATCH_ROWS = 2048, 4096
#: Levels on either side over which the variance of points is averaged: that of a few folds alone is noisy.
_NEIGHBORS = 2


@dataclass(frozen=True)
class FoldTerms:
    """Folds of training rows, and the boosted terms without each one; none where no terms are boosted.

    points : out-of-fold points of the training rows
    """

    folds: np.ndarray
    tables: list[AdditiveTables]
    points: np.ndarray | None


def models_without_folds(
    predictor: Predictor, rows: TrainingRows, target: NumericTarget, labels: np.ndarray | None, known: FoldTerms
) -> list[AdditiveWeights]:
    """The linear models without each fold."""
    n_folds, weight = int(known.folds.max()) + 1, rows.counts
    features = predictor.features.over(rows.X, known.points)
    mean, sums = np.zeros(predictor.features.width), np.zeros((n_folds, *predictor.coef.shape))
    totals = np.zeros((n_folds, 1, predictor.coef.shape[1]))
    for start in range(0, len(rows), _BATCH_ROWS):
        span = slice(start, start + _BATCH_ROWS)
        Z = features(span).astype(np.float64)
        fitted = Z @ predictor.coef + predictor.intercept
        if labels is None:
            residual = rows.Y[span] * target.scale + target.mean - fitted
        else:
            residual = _indicators_less_probabilities(labels[span], fitted)
        residual *= weight[span, None]
        mean += weight[span] @ Z
        for fold in range(n_folds):
            inside = known.folds[span] == fold
            sums[fold] += Z[inside].T @ residual[inside]
            totals[fold] += residual[inside].sum(axis=0)
    mean /= weight.sum()
    steps = _newton_steps(predictor, rows, known, mean, sums - mean[:, None] * totals)
    boosted: list[AdditiveTables | None] = [*known.tables] if known.tables else [None] * n_folds
    return [
        AdditiveWeights(predictor.coef - step, predictor.intercept, own)
        for step, own in zip(steps, boosted, strict=True)
    ]


def _indicators_less_probabilities(labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
    probabilities = LogLoss().class_probabilities(scores)
    return (np.eye(probabilities.shape[1])[labels] - probabilities)[:, -scores.shape[1] :]


def _newton_steps(
    predictor: Predictor, rows: TrainingRows, known: FoldTerms, mean: np.ndarray, sums: np.ndarray
) -> list[np.ndarray]:
    """(H_k + P)^-1 times `sums` (folds, features, outputs), in which H_k is estimated from some rows."""
    chosen = np.sort(rows.smallest(_MAX_ROWS))
    points = None if known.points is None else known.points[chosen]
    Z = predictor.features.features(rows.X[chosen], points).astype(np.float64)
    curvature = rows.counts[chosen].copy()
    if predictor.classes is not None:
        probabilities = LogLoss().class_probabilities(Z @ predictor.coef + predictor.intercept)
        curvature *= np.mean(probabilities * (1 - probabilities), axis=1)
    curvature *= rows.counts.sum() / rows.counts[chosen].sum()
    penalty = predictor.penalties * (1.0 if predictor.classes is None else 2.0 * predictor.alpha)
    root = (1.0 / np.sqrt(penalty))[predictor.features.block_of_column][:, None]
    A = (Z - mean) * np.sqrt(curvature)[:, None] * root.T
    solve = _row_space_solver(A) if len(A) < A.shape[1] else _column_space_solver(A)
    return [root * solve(known.folds[chosen] != fold, root * each) for fold, each in enumerate(sums)]


#: (mask of rows, right-hand sides) -> (I + A'A of these rows)^-1 times the right-hand sides.
_Solver = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _column_space_solver(A: np.ndarray) -> _Solver:
    total = dense.product(A.T, A) + np.eye(A.shape[1])

    def solve(kept: np.ndarray, b: np.ndarray) -> np.ndarray:
        others = A[~kept]
        return dense.cho_solve(dense.cho_factor(total - dense.product(others.T, others)), b)

    return solve


def _row_space_solver(A: np.ndarray) -> _Solver:
    """By the inverse of inner products of rows (Woodbury), of which there are fewer than columns."""
    products = dense.product(A, A.T)

    def solve(kept: np.ndarray, b: np.ndarray) -> np.ndarray:
        own = A[kept]
        inner = dense.cho_factor(products[np.ix_(kept, kept)] + np.eye(len(own)))
        return b - own.T @ dense.cho_solve(inner, own @ b)

    return solve


def jackknife(tables: AdditiveTables, n_outputs: int) -> list[np.ndarray]:
    """The standard errors of the points of axes and cells from tables whose outputs are models without a fold each.

    Without such models the errors are not known, and zero.
    """
    errors = []
    for j, values in enumerate([*tables.mains, *(pair.values for pair in tables.pairs)]):
        models = values.reshape(*values.shape[:-1], -1, n_outputs)
        n_models = models.shape[-2]
        variance = models.var(axis=-2) * (n_models - 1) if n_models else np.zeros((*values.shape[:-1], n_outputs))
        errors.append(np.sqrt(_smoothed(variance, tables.axes[j]) if j < len(tables.axes) else variance))
    return errors


def _smoothed(variance: np.ndarray, axis: Axis) -> np.ndarray:
    """The variance of the bins of a number, averaged with those of neighbors."""
    if axis.is_category:
        return variance
    out, n = variance.copy(), axis.n_known
    for level in range(n):
        out[level] = variance[max(0, level - _NEIGHBORS) : min(n, level + _NEIGHBORS + 1)].mean(axis=0)
    return out
