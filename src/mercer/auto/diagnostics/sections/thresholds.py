"""Precision, recall and cost of each threshold on the probability of the second of two classes."""

from __future__ import annotations

import numpy as np

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import CostChoice, ThresholdPoint, Thresholds
from mercer.auto.diagnostics.sections.outputs import class_codes, class_names, row_weights

_EVEN = np.arange(1, 50) / 50
#: Quantiles of the probabilities that are thresholds as well: those of a rare class are all small.
_QUANTILES = np.arange(1, 20) / 20
#: Thresholds among which a cost is smallest, and costs of a false positive and a false negative.
_CANDIDATES = np.arange(1, 100) / 100
_COSTS = ((1.0, 1.0), (1.0, 5.0), (5.0, 1.0))


def section(rows: HeldOutRows) -> Thresholds | None:
    """A row is predicted as the class from the threshold on; None unless there are two classes."""
    if rows.classes is None or len(rows.classes) != 2:
        return None
    p, codes, weight = rows.probabilities[:, 1], class_codes(rows), row_weights(rows)
    known = codes >= 0
    if not known.any():
        return None
    p, positive, weight = p[known], codes[known] == 1, weight[known] / weight[known].sum()
    thresholds = np.unique(np.concatenate([_EVEN, np.quantile(p, _QUANTILES, method="lower")]))
    points = [threshold_point(p, positive, weight, threshold) for threshold in thresholds]
    costs = [_cheapest(p, positive, weight, *cost) for cost in _COSTS]
    return {"output": class_names(rows)[1], "points": points, "costs": costs}


def _counts(p: np.ndarray, positive: np.ndarray, weight: np.ndarray, threshold: float) -> tuple[float, float, float]:
    """The fractions of true positives, false positives and false negatives."""
    chosen = p >= threshold
    groups = (chosen & positive, chosen & ~positive, ~chosen & positive)
    return tuple(float(np.sum(weight[group])) for group in groups)  # type: ignore[return-value]


def threshold_point(p: np.ndarray, positive: np.ndarray, weight: np.ndarray, threshold: float) -> ThresholdPoint:
    """Precision, recall, F1 and accuracy at one threshold; weights add up to 1."""
    right, false_positive, false_negative = _counts(p, positive, weight, threshold)
    selected, there, wrong = right + false_positive, right + false_negative, false_positive + false_negative
    return {
        "threshold": float(threshold),
        "precision": right / selected if selected > 0 else None,
        "recall": right / there if there > 0 else None,
        "f1": 2 * right / (2 * right + wrong) if right + wrong > 0 else None,
        "accuracy": 1.0 - wrong,
        "selected": selected,
    }


def _cheapest(
    p: np.ndarray, positive: np.ndarray, weight: np.ndarray, false_positive: float, false_negative: float
) -> CostChoice:
    """The threshold of least cost on the rows; among equal costs the one nearest to that of true probabilities."""

    def cost(threshold: float) -> float:
        _, wrong, missed = _counts(p, positive, weight, threshold)
        return false_positive * wrong + false_negative * missed

    costs = np.array([cost(threshold) for threshold in _CANDIDATES])
    ideal = false_positive / (false_positive + false_negative)
    best = np.flatnonzero(costs <= costs.min() + 1e-12)
    k = best[np.argmin(np.abs(_CANDIDATES[best] - ideal))]
    return {
        "false_positive": false_positive,
        "false_negative": false_negative,
        "threshold": float(_CANDIDATES[k]),
        "cost": float(costs[k]),
        "cost_at_half": cost(0.5),
    }
