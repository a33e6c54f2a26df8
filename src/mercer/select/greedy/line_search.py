"""Line searches along many directions at once.

`best_steps` minimizes risk(f + eta z_j) over eta for every column z_j of a smooth risk, by Newton's method safeguarded
by a shrinking bracket. The hinge has kinks at which no single weight can improve but two together can, so
`best_hinge_steps` moves the intercept too: the risk, minimized over it, is still convex in eta, and a golden-section
search finds its minimum.
"""

from __future__ import annotations

import numpy as np

from mercer.linear.losses import Hinge
from mercer.select.greedy.risks import MAX_STEP, ExponentialRisk, LogisticRisk

_MAX_ITER = 100
#: Golden-section steps of the hinge: 40 reduce the interval to 1e-7 of its length.
_GOLDEN, _SECTIONS = 0.5 * (np.sqrt(5.0) - 1.0), 40


def best_steps(
    risk: LogisticRisk | ExponentialRisk, Z: np.ndarray, y: np.ndarray, f: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the best steps eta_j and the risk there; a column of zeros takes no step."""
    eta = _smooth_steps(risk, Z, y, f, w)
    return eta, risk.value(y, f[:, None] + eta * Z, w)


def best_hinge_steps(
    Z: np.ndarray, y: np.ndarray, f: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the best steps along columns of unit variance, each with its intercept shift, and the risk there."""

    def at(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _shifted_hinge(f[:, None] + eta * Z, y, w)

    low, high = (np.full(Z.shape[1], sign * MAX_STEP) for sign in (-1.0, 1.0))
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    value_a, value_b = at(a)[1], at(b)[1]
    for _ in range(_SECTIONS):
        left = value_a <= value_b
        low, high = np.where(left, low, a), np.where(left, b, high)
        new = np.where(left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        value = at(new)[1]
        a, b = np.where(left, new, b), np.where(left, a, new)
        value_a, value_b = np.where(left, value, value_b), np.where(left, value_a, value)
    eta = 0.5 * (low + high)
    shift, values = at(eta)
    return eta, shift, values


def _shifted_hinge(scores: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each column of scores the best intercept (a quantile of y - s), and the mean hinge loss there."""
    kinks = y[:, None] - scores
    order = np.argsort(kinks, axis=0, kind="stable")
    derivative = np.cumsum(w[order], axis=0) - w[y > 0].sum()
    index = np.argmax(derivative >= -1e-12 * w.sum(), axis=0)
    shift = np.take_along_axis(kinks, np.take_along_axis(order, index[None], axis=0), axis=0)[0]
    return shift, w @ Hinge().value(y[:, None], scores + shift) / w.sum()


def _smooth_steps(
    risk: LogisticRisk | ExponentialRisk, Z: np.ndarray, y: np.ndarray, f: np.ndarray, w: np.ndarray
) -> np.ndarray:
    size = np.sqrt((w / w.sum()) @ (Z * Z))
    active = size > 0
    eta = np.zeros(Z.shape[1])
    high = np.where(active, MAX_STEP / np.where(active, size, 1.0), 0.0)
    low = -high
    for _ in range(_MAX_ITER):
        columns = np.flatnonzero(active)
        if len(columns) == 0:
            break
        at = eta[columns]
        first, second = risk.directional_derivatives(y, f, w, Z[:, columns], at)
        low[columns] = np.where(first < 0, at, low[columns])
        high[columns] = np.where(first > 0, at, high[columns])
        with np.errstate(divide="ignore", invalid="ignore"):
            trial = at - first / second
        inside = (trial > low[columns]) & (trial < high[columns])
        new = np.where(inside, trial, 0.5 * (low[columns] + high[columns]))
        new = np.where(first == 0, at, new)
        eta[columns] = new
        active[columns] = np.abs(new - at) * size[columns] > 1e-12 * (1.0 + np.abs(new) * size[columns])
    return eta
