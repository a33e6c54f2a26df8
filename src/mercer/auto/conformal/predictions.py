"""Intervals and sets of a model as functions of encoded rows, after checks of what was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._runtime.errors import MercerError
from mercer.auto.conformal.calibration import IntervalCalibration, SetCalibration
from mercer.auto.conformal.scores import checked_level

if TYPE_CHECKING:
    from mercer.auto.final.predictor import Predictor

#: A function of encoded rows.
RowFunction = Callable[[Any], np.ndarray]


def interval_function(predictor: Predictor, level: Any) -> RowFunction:
    """Encoded rows -> intervals (rows, 2), of several targets (rows, targets, 2)."""
    level = checked_level(level)
    if predictor.classes is not None:
        raise MercerError(
            "A model of classes has no intervals.", remedy="Use predict_set, which gives sets of classes."
        )
    _refuse_missing(predictor, IntervalCalibration, "intervals")

    def intervals(X: Any) -> np.ndarray:
        found = predictor.intervals(X, level)
        return found[:, 0] if found.shape[1] == 1 else found

    return intervals


def quantile_function(predictor: Predictor) -> RowFunction:
    """Encoded rows -> quantiles (rows, quantiles)."""
    response = predictor.response
    if response is None or not response.levels:
        raise MercerError(
            "This model has no quantiles.", remedy="Fit it with loss='quantile', or use predict_interval."
        )
    return lambda X: response.sorted_scores(predictor.scores(X))


def set_function(predictor: Predictor, level: Any, per_class: bool = False) -> RowFunction:
    """Encoded rows -> sets of classes (rows, classes)."""
    level = checked_level(level)
    if predictor.classes is None:
        raise MercerError("A regression model has no classes.", remedy="Use predict_interval.")
    _refuse_missing(predictor, SetCalibration, "sets")
    return lambda X: predictor.calibration.sets(predictor.probabilities(X), level, bool(per_class))


def _refuse_missing(predictor: Predictor, kind: type, what: str) -> None:
    if not isinstance(predictor.calibration, kind):
        raise MercerError(
            f"This model keeps no residuals of rows that it has not seen, which {what} are made of.",
            remedy="Fit it again with this version, a holdout, and enough rows and time for it.",
        )
