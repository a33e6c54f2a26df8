"""Predicted against observed frequencies of classes."""

from __future__ import annotations

import numpy as np

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import Calibration, CalibrationBin
from mercer.auto.diagnostics.sections.outputs import (
    class_codes,
    class_names,
    effective_rows,
    has_one_output,
    predicted_codes,
    row_weights,
)
from mercer.auto.holdout.evaluate import wilson

_MAX_BINS, _MIN_BIN_ROWS = 10, 20


def section(rows: HeldOutRows) -> Calibration | None:
    """Calibration of the second of two classes, or of the most probable of several; None for regression."""
    if rows.classes is None or not has_one_output(rows):
        return None
    two, codes = len(rows.classes) == 2, class_codes(rows)
    if two:
        predicted, event = rows.probabilities[:, 1], codes == 1
    else:
        predicted, event = rows.probabilities.max(axis=1), codes == predicted_codes(rows)
    weight = row_weights(rows)
    bins = calibration_bins(predicted, event, weight)
    totals = [float(weight[index].sum()) for index in _binned(predicted, weight)]
    differences = [abs(each["predicted"] - each["observed"]) for each in bins]
    error = float(np.average(differences, weights=totals))
    return {"output": class_names(rows)[1] if two else None, "bins": bins, "error": error}


def calibration_bins(predicted: np.ndarray, event: np.ndarray, weight: np.ndarray) -> list[CalibrationBin]:
    """Mean probabilities and observed frequencies with Wilson's intervals, in bins between quantiles."""
    found: list[CalibrationBin] = []
    for index in _binned(predicted, weight):
        w = weight[index]
        size = effective_rows(w)
        observed = wilson(size * float(np.average(event[index], weights=w)), size)
        found.append(
            {
                "predicted": float(np.average(predicted[index], weights=w)),
                "observed": observed.value,
                "low": observed.low,
                "high": observed.high,
                "n": len(index),
            }
        )
    return found


def _binned(predicted: np.ndarray, weight: np.ndarray) -> list[np.ndarray]:
    """The rows of each bin: equal predictions are in one bin, and no bin is without weight."""
    n_bins = int(np.clip(len(predicted) // _MIN_BIN_ROWS, 1, _MAX_BINS))
    inner = np.unique(np.quantile(predicted, np.arange(1, n_bins) / n_bins))
    codes = np.searchsorted(inner, predicted, side="right")
    bins = (np.flatnonzero(codes == k) for k in range(len(inner) + 1))
    return [index for index in bins if np.any(weight[index] > 0)]
