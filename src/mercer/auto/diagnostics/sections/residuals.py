"""Held-out residuals of a regression against its predictions."""

from __future__ import annotations

import numpy as np

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import Residuals
from mercer.auto.diagnostics.sections.outputs import has_one_output, histogram, mean_interval, row_weights, sampled

_MAX_POINTS, _MAX_BINS = 400, 40
#: Groups of the trend, and the fewest rows of one.
_MAX_GROUPS, _MIN_GROUP_ROWS = 20, 10


def section(rows: HeldOutRows) -> Residuals | None:
    """Residuals = target less prediction; None for classes and for several targets."""
    if rows.classes is not None or not has_one_output(rows) or len(rows.y) < 2:
        return None
    actual = np.asarray(rows.y, dtype=np.float64)
    predicted = rows.predictor.outputs_of(rows.scores)[:, 0]
    some = sampled(len(actual), _MAX_POINTS)
    residual = actual - predicted
    n_bins = int(np.clip(np.sqrt(len(residual)), 5, _MAX_BINS))
    counts, edges = histogram(residual, n_bins, float(residual.min()), float(residual.max()))
    return {
        "predicted": predicted[some].tolist(),
        "actual": actual[some].tolist(),
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
        "trend": trend(predicted, residual, row_weights(rows)),
    }


def trend(predicted: np.ndarray, residual: np.ndarray, weight: np.ndarray) -> list[dict[str, float]]:
    """Mean residuals with 95 % intervals in groups of equal size along the predictions."""
    order = np.argsort(predicted, kind="stable")
    n_groups = int(np.clip(len(order) // _MIN_GROUP_ROWS, 1, _MAX_GROUPS))
    found = []
    for index in np.array_split(order, n_groups):
        if not np.any(weight[index] > 0):
            continue
        mean, half = mean_interval(residual[index], weight[index])
        center = float(np.average(predicted[index], weights=weight[index]))
        low, high = (mean, mean) if half is None else (mean - half, mean + half)
        found.append({"predicted": center, "residual": mean, "low": low, "high": high, "n": len(index)})
    return found
