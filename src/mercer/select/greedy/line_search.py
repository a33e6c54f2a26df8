"""The best step along each of many directions at once.

`best_steps` minimizes risk(f + eta z_j) over eta for every column z_j. Smooth risks: Newton's method held between
bounds that close in. The hinge has corners in which no single weight can be moved with profit but two can together, so
`best_hinge_steps` moves the intercept too: the risk, minimized over it, is still convex in eta, and a golden section
finds its minimum.
"""

from __future__ import annotations

import numpy as np

from mercer.select.greedy.risks import LONGEST_STEP

_MOST_STEPS = 100
#: Sections of the interval that a step of the hinge is sought in: 40 leave 1e-7 of it.
_GOLDEN, _SECTIONS = 0.5 * (np.sqrt(5.0) - 1.0), 40


def best_steps(risk, Z: np.ndarray, y: np.ndarray, f: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Steps eta_j and the values of the risk there; a column of zeros takes no step."""
    eta = _smooth_steps(risk, Z, y, f, w)
    return eta, risk.value(y, f[:, None] + eta * Z, w)


def best_hinge_steps(Z, y, f, w) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Steps along columns of unit spread, each with its best shift of the intercept, and the risk there."""

    def at(eta):
        return _shifted_hinge(f[:, None] + eta * Z, y, w)

    low, high = (np.full(Z.shape[1], sign * LONGEST_STEP) for sign in (-1.0, 1.0))
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    value_a, value_b = at(a)[1], at(b)[1]
    for _ in range(_SECTIONS):
        left = value_a <= value_b
        low, high = np.where(left, low, a), np.where(left, b, high)
        fresh = np.where(left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        value = at(fresh)[1]
        a, b = np.where(left, fresh, b), np.where(left, a, fresh)
        value_a, value_b = np.where(left, value, value_b), np.where(left, value_a, value)
    eta = 0.5 * (low + high)
    shift, values = at(eta)
    return eta, shift, values


def _shifted_hinge(scores, y, w):
    """For each column of scores the intercept with the least mean hinge loss (a quantile of y - s), and that loss."""
    kinks = y[:, None] - scores
    order = np.argsort(kinks, axis=0, kind="stable")
    slope = np.cumsum(w[order], axis=0) - w[y > 0].sum()
    place = np.argmax(slope >= -1e-12 * w.sum(), axis=0)
    shift = np.take_along_axis(kinks, np.take_along_axis(order, place[None], axis=0), axis=0)[0]
    return shift, w @ np.maximum(0.0, 1.0 - y[:, None] * (scores + shift)) / w.sum()


def _smooth_steps(risk, Z, y, f, w):
    size = np.sqrt((w / w.sum()) @ (Z * Z))
    live = size > 0
    eta = np.zeros(Z.shape[1])
    high = np.where(live, LONGEST_STEP / np.where(live, size, 1.0), 0.0)
    low = -high
    for _ in range(_MOST_STEPS):
        columns = np.flatnonzero(live)
        if len(columns) == 0:
            break
        at = eta[columns]
        first, second = risk.along(y, f, w, Z[:, columns], at)
        low[columns] = np.where(first < 0, at, low[columns])
        high[columns] = np.where(first > 0, at, high[columns])
        with np.errstate(divide="ignore", invalid="ignore"):
            trial = at - first / second
        inside = (trial > low[columns]) & (trial < high[columns])
        moved = np.where(inside, trial, 0.5 * (low[columns] + high[columns]))
        moved = np.where(first == 0, at, moved)
        eta[columns] = moved
        live[columns] = np.abs(moved - at) * size[columns] > 1e-12 * (1.0 + np.abs(moved) * size[columns])
    return eta
