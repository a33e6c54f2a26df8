"""Would more rows help? The same configuration on parts of the training rows, scored on the same held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import LearningCurve, LearningPoint, ScoreEstimate
from mercer.auto.holdout.bootstrap import Estimate
from mercer.auto.holdout.evaluate import Comparison, compare

#: Fractions of the training rows, the most telling first, and the fewest rows of a part.
_FRACTIONS, _MIN_ROWS = (0.5, 0.25, 0.125), 40


#: Gain of the metric that is worth more rows.
_MIN_GAIN = 0.002


class Predicts(Protocol):
    """A model of rows as read."""

    def predict(self, X: Any) -> np.ndarray:
        """Predictions of rows."""


def learning_curve(
    rows: HeldOutRows,
    predictions: np.ndarray,
    n_train: int,
    fit_part: Callable[[float], Predicts | None],
    affordable: Callable[[float], bool],
) -> LearningCurve | None:
    """The curve; None if no part of the rows could be fitted in time.

    Parameters
    ----------
    rows, predictions : held-out rows, and what the model of all training rows predicts for them
    n_train : the number of training rows
    fit_part : fits the configuration to about a fraction of the training rows; None if that is not possible
    affordable : whether there is time for a fraction
    """
    task = "regression" if rows.classes is None else "classification"
    found: list[tuple[int, Comparison]] = []
    for fraction in _FRACTIONS:
        if fraction * n_train < _MIN_ROWS or not affordable(fraction):
            continue
        model = fit_part(fraction)
        if model is not None:
            part = model.predict(rows.table)
            compared = compare(rows.y, part, predictions, task, rows.weight, random_state=rows.seed)
            found.append((round(fraction * n_train), compared))
    if not found:
        return None
    points: list[LearningPoint] = [{"n": n, "score": _plain(compared.first)} for n, compared in reversed(found)]
    last = found[0][1]
    points.append({"n": n_train, "score": _plain(last.second)})
    return {"metric": last.metric, "points": points, "sentence": _sentence(last, points)}


def _plain(estimate: Estimate) -> ScoreEstimate:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def _sentence(last: Comparison, points: list[LearningPoint]) -> str:
    """What the last step of the curve says about more rows."""
    (before, n_before), (after, n_after) = ((point["score"]["value"], point["n"]) for point in points[-2:])
    change = f"from {n_before:,} to {n_after:,} training rows the {last.metric} went from {before:.3f} to {after:.3f}"
    if last.gain.low > 0 and last.gain.value > _MIN_GAIN:
        return f"More rows would probably help: {change}."
    if last.gain.high - last.gain.low > 0.1 and last.gain.value > 0:
        return f"Whether more rows would help is not clear: {change}, within the uncertainty of the holdout."
    return f"More rows are unlikely to help much: {change}, no clear gain."
