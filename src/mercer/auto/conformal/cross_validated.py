"""Out-of-fold residuals of ridge regression on the features of a search, and the scale of errors that follows the row.

The residual R_i of a row is that of the weights without its fold, from the Gram matrices per fold. Supervised features
are out of fold as well: scores of trees, target encodings and selected columns. The scale is

    sigma(x) = exp(ridge regression of log(|R_i| + eps) on the same features),

one more right-hand side of the same equations, itself evaluated out of fold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mercer.auto.conformal.calibration import IntervalCalibration, LinearMap
from mercer.auto.conformal.scores import CalibrationScores, row_masses
from mercer.auto.rows.targets import NumericTarget
from mercer.auto.rows.training import TrainingRows
from mercer.linear.ridge.fold_loss import FoldLoss, OutOfTime
from mercer.linear.ridge.row_space import RowSpaceFoldLoss

if TYPE_CHECKING:
    from mercer.auto.search.state import SearchResult

#: Penalties of the scale, relative to those of the mean: the logarithm of an error is mostly noise.
_RELATIVE_PENALTIES = (3.0, 30.0, 300.0, 3000.0)
#: eps over the median error, and the fraction of the variance of its logarithm that a scale must explain.
_EPS, _MIN_GAIN = 0.3, 2e-3
#: Ridge regressions for the scale, each of what the one before leaves.
_STEPS = 2
#: Fractions of the rows beyond the limits of the scale.
_OUTSIDE = 0.002
_BATCH_ROWS = 1024


@dataclass(frozen=True)
class FoldRows:
    """Features of training rows as the model without their fold has them."""

    found: SearchResult
    rows: TrainingRows
    folds: np.ndarray

    @property
    def cross_fitted(self) -> bool:
        """Whether features differ from fold to fold: then weights without a fold are of no use for new rows."""
        return self.found.features.without_fold(0) is not self.found.features

    def batches(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """(number of a fold, row indices, features) over all rows of all folds."""
        scores = self.found.scores
        for k, fold in enumerate(self.folds):
            features = self.found.features.without_fold(int(fold))
            index = np.flatnonzero(self.rows.folds == fold)
            for start in range(0, len(index), _BATCH_ROWS):
                some = index[start : start + _BATCH_ROWS]
                yield k, some, features.features(self.rows.X[some], None if scores is None else scores[some])

    def predictions(self, weights: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """Out-of-fold predictions from the weights without each fold."""
        out = np.zeros((len(self.rows), weights[0][0].shape[1]))
        for k, index, Z in self.batches():
            out[index] = Z.astype(np.float64) @ weights[k][0] + weights[k][1]
        return out


def cross_validated(
    found: SearchResult,
    equations: FoldLoss,
    rows: TrainingRows,
    target: NumericTarget,
    constant_width: bool = False,
) -> IntervalCalibration:
    """The calibration of a ridge regression by the folds of the search.

    Groups count as one row each. Where folds follow an order in time, models of early rows say little about new ones:
    intervals are then centered at the prediction, and bounded by the residuals of the rows that were tested.

    constant_width : take residuals alone, of which no linear map of the features is kept
    """
    data = FoldRows(found, rows, np.unique(rows.folds))
    weights = [equations.weights_without(k, found.penalties) for k in range(len(data.folds))]
    errors = np.abs(rows.Y - data.predictions(weights)) * target.scale
    scale = None if constant_width else _scale_model(data, equations, errors)
    tested, partition = rows.row_folds.tested, rows.row_folds.is_partition
    use_model = data.cross_fitted or constant_width or not partition
    centers = None if use_model else _mapped(weights, lambda W: W * target.scale, target.mean)
    logs, log_scales, limits = (None, None, np.zeros((0, 2))) if scale is None else scale
    scores = errors if logs is None else errors / np.exp(logs)
    masses = np.zeros(len(rows))
    masses[tested] = row_masses(rows.counts[tested], None if rows.groups is None else rows.groups[tested])
    parts = [np.flatnonzero(rows.folds == fold) for fold in data.folds]
    if not partition:  # one set of residuals for the one center
        parts = [np.flatnonzero(tested)]
    known = [[CalibrationScores.of(each[part], masses[part]) for part in parts] for each in scores.T]
    return IntervalCalibration(known, "CV+", centers, log_scales, limits)


def _mapped(
    weights: list[tuple[np.ndarray, np.ndarray]], scaled: Callable[[np.ndarray], np.ndarray], origin: np.ndarray
) -> LinearMap:
    coef = np.hstack([scaled(W) for W, _ in weights])
    return LinearMap(coef, np.concatenate([scaled(c) + origin for _, c in weights]))


def _scale_model(
    data: FoldRows, equations: FoldLoss, errors: np.ndarray
) -> tuple[np.ndarray, LinearMap, np.ndarray] | None:
    """Out-of-fold log sigma, its linear map and its limits; None if no scale explains the errors.

    eps makes sigma flatter than the errors are. So errors over sigma are fitted once more, with an eps of their own.
    """
    logs, linear = np.zeros_like(errors), None
    for _ in range(_STEPS):
        step = _scale_step(data, equations, errors / np.exp(logs))
        if step is None:
            break
        logs, linear = logs + step[0], step[1] if linear is None else linear.plus(step[1])
    if linear is None:
        return None
    limits = np.quantile(logs, [_OUTSIDE, 1 - _OUTSIDE], axis=0).T
    return np.clip(logs, limits[:, 0], limits[:, 1]), linear, limits


def _scale_step(data: FoldRows, equations: FoldLoss, errors: np.ndarray) -> tuple[np.ndarray, LinearMap] | None:
    """Out-of-fold values and linear map of one ridge regression of log(error + eps)."""
    unit = np.median(errors, axis=0)
    unit = np.where(unit > 0, unit, errors.mean(axis=0))
    if not np.all(unit > 0):
        return None
    logs = np.log(errors + _EPS * unit)
    mean = np.average(logs, axis=0, weights=data.rows.weight)
    others = _with_targets(data, equations, logs - mean)
    penalties = _best_penalties(others, data.found.penalties)
    variance = float(np.average(np.sum((logs - mean) ** 2, axis=1), weights=data.rows.weight))
    if penalties is None or others.best is None or others.best[1].loss > variance * (1 - _MIN_GAIN):
        return None
    weights = [others.weights_without(k, penalties) for k in range(len(data.folds))]
    whole = data.cross_fitted or not data.rows.row_folds.is_partition
    new_rows = [others.weights(penalties)] if whole else weights
    return data.predictions(weights) + mean, _mapped(new_rows, lambda W: W, mean)


def _with_targets(data: FoldRows, equations: FoldLoss, targets: np.ndarray) -> FoldLoss:
    """The equations of the same features with other targets."""
    if isinstance(equations, RowSpaceFoldLoss):
        return equations.with_targets(targets)
    counts, folds = data.rows.counts, data.rows.row_folds
    plan, parts = folds.plan, folds.parts
    planned = plan is not None and parts is not None and not plan.is_partition
    n_parts = plan.n_parts if plan is not None and planned else len(data.folds)
    products = np.zeros((n_parts, data.found.features.width, targets.shape[1]))
    sums, squares = np.zeros((n_parts, targets.shape[1])), np.zeros((n_parts, targets.shape[1], targets.shape[1]))
    for fold, batch, features in data.batches():
        known = _by_part(parts, batch, features) if parts is not None and planned else [(fold, batch, features)]
        for k, index, Z in known:
            weighted = counts[index, None] * targets[index]
            products[k] += Z.astype(np.float64).T @ weighted
            sums[k] += weighted.sum(axis=0)
            squares[k] += targets[index].T @ weighted
    return equations.with_products(sums, products, squares)  # type: ignore[attr-defined]


def _by_part(parts: np.ndarray, index: np.ndarray, Z: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """(part, row indices, features) of rows of several parts."""
    for part in np.unique(parts[index]).tolist():
        own = parts[index] == part
        yield part, index[own], Z[own]


def _best_penalties(others: FoldLoss, penalties: np.ndarray) -> np.ndarray | None:
    """The multiple of the penalties of the smallest K-fold loss."""
    floor = others.floor()
    for relative in _RELATIVE_PENALTIES:
        try:
            others.score(np.maximum(relative * penalties, floor), gradient=False)
        except OutOfTime:
            break
    return None if others.best is None else others.best[0]
