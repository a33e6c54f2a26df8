"""The area under the ROC curve with its confidence interval."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from mercer.auto.holdout.bootstrap import Estimate
from mercer.auto.holdout.evaluate import normal_quantile, wilson


def auc_estimate(
    codes: np.ndarray, probabilities: np.ndarray, weight: np.ndarray | None = None, groups: np.ndarray | None = None
) -> Estimate:
    """AUC of the second of two classes, or the mean over classes of each against the others (those with both kinds).

    The interval is that of DeLong, DeLong and Clarke-Pearson (1988) on the logit scale: the AUC is a mean of
    influences of the rows, which add up within `groups` (numbers from 0). If no pair is out of order, it is Wilson's of
    as many pairs as the rarer class has rows.

    >>> auc_estimate(np.array([0, 0, 1, 1]), np.array([[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]])).value
    0.75
    """
    n = len(codes)
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    chosen = [1] if probabilities.shape[1] == 2 else range(probabilities.shape[1])
    areas = [_influences(codes == k, probabilities[:, k], weight) for k in chosen]
    known = [area for area in areas if area is not None]
    if not known:
        return Estimate(0.5, 0.0, 1.0)
    value = float(np.mean([area for area, _, _ in known]))
    influence = np.mean([each for _, each, _ in known], axis=0)
    parts = weight * influence if groups is None else np.bincount(groups, weight * influence)
    error = float(np.sqrt(np.sum(parts**2)) / weight.sum())
    if error < 1e-12 or not 0 < value < 1:
        pairs = min(size for _, _, size in known)
        ends = wilson(value * pairs, pairs)
        return Estimate(value, ends.low, ends.high)
    half = normal_quantile(0.95) * error / (value * (1 - value))
    return Estimate(value, float(expit(logit(value) - half)), float(expit(logit(value) + half)))


def _influences(positive: np.ndarray, score: np.ndarray, weight: np.ndarray) -> tuple[float, np.ndarray, float] | None:
    """AUC, the influence of each row on it, and the weight of the rarer kind; None if there is one kind only."""
    inside, outside = float(weight[positive].sum()), float(weight[~positive].sum())
    if inside <= 0 or outside <= 0:
        return None
    placement = np.empty(len(score))
    placement[positive] = _fraction_below(score[positive], score[~positive], weight[~positive])
    placement[~positive] = 1 - _fraction_below(score[~positive], score[positive], weight[positive])
    area = float(np.average(placement[positive], weights=weight[positive]))
    total = inside + outside
    influence = (placement - area) * np.where(positive, total / inside, total / outside)
    return area, influence, min(inside, outside)


def _fraction_below(values: np.ndarray, others: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The weighted fraction of the others below each value, ties as one half."""
    order = np.argsort(others, kind="stable")
    ranked, total = others[order], np.concatenate([[0.0], np.cumsum(weight[order])])
    below, up_to = (total[np.searchsorted(ranked, values, side)] for side in ("left", "right"))
    return (below + up_to) / (2 * total[-1])
