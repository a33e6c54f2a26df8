"""The best step along each of many directions at once.

`best_steps` minimizes risk(f + eta z_j) over eta for every column z_j. Smooth risks: Newton's method held between
bounds that close in. Hinge: the risk is piecewise linear in eta, and the minimum lies where its slope, summed over
sorted breakpoints, changes sign.
"""

from __future__ import annotations

import numpy as np

from mercer.select.risks import LONGEST_STEP, HingeRisk

_MOST_STEPS = 100


def best_steps(risk, Z: np.ndarray, y: np.ndarray, f: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Steps eta_j and the values of the risk there; a column of zeros takes no step."""
    eta = _hinge_steps(Z, y, f, w) if isinstance(risk, HingeRisk) else _smooth_steps(risk, Z, y, f, w)
    return eta, risk.value(y, f[:, None] + eta * Z, w)


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


def _hinge_steps(Z, y, f, w):
    """A row's loss max(0, a - eta t), t = y z, bends by w |t| at eta = a / t; it starts from -sum of w t, t > 0."""
    a, t = 1.0 - y * f, y[:, None] * Z
    some = t != 0
    kinks = np.where(some, a[:, None] / np.where(some, t, 1.0), np.inf)
    order = np.argsort(kinks, axis=0, kind="stable")
    bends = np.take_along_axis(w[:, None] * np.abs(t), order, axis=0)
    slope = np.cumsum(bends, axis=0) - w @ np.maximum(t, 0.0)
    place = np.argmax(slope >= -1e-12 * bends.sum(axis=0), axis=0)
    eta = np.take_along_axis(kinks, np.take_along_axis(order, place[None], axis=0), axis=0)[0]
    return np.where(np.isfinite(eta), eta, 0.0)
