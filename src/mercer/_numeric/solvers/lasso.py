"""Coordinate descent for the Lasso from Gram matrices."""

from __future__ import annotations

import numpy as np

from mercer._numeric.linalg import dense

__all__ = ["lasso_descent"]

_DEPTH = 5


def lasso_descent(
    G: np.ndarray,
    b: np.ndarray,
    yy: float,
    penalty: float,
    w: np.ndarray,
    q: np.ndarray,
    tolerance: float,
    max_sweeps: int,
) -> tuple[float, int]:
    """Minimize 1/2 ||y - X w||^2 + penalty ||w||_1 from G = X'X, b = X'y and yy = y'y; (duality gap, sweeps).

    Cyclic coordinate descent with Anderson acceleration (Bertrand and Massias 2021). Starts at `w`, with
    `q` = b - G w, and writes to both. Stops when the duality gap is at most `tolerance`, or after `max_sweeps`.
    """
    sweeps = 0
    while True:
        _sweep(G, penalty, w, q, np.flatnonzero((w != 0) | (np.abs(q) > penalty)))
        active = np.flatnonzero(w)
        past = [(w.copy(), q.copy())]
        for _ in range(_DEPTH):
            _sweep(G, penalty, w, q, active)
            past.append((w.copy(), q.copy()))
        _extrapolate(b, yy, penalty, w, q, past)
        sweeps += _DEPTH + 1
        if lasso_value(b, yy, penalty, w, q)[1] > tolerance and sweeps < max_sweeps:
            continue
        q[:] = b - G @ w  # removes the rounding errors of updates
        gap = lasso_value(b, yy, penalty, w, q)[1]
        if gap <= tolerance or sweeps >= max_sweeps:
            return float(gap), sweeps


def lasso_value(b: np.ndarray, yy: float, penalty: float, w: np.ndarray, q: np.ndarray) -> tuple[float, float]:
    """Objective and duality gap at the residual r, scaled to be dual feasible.

    r enters through y'r = yy - w'b and r'r = y'r - w'q.
    """
    yr = yy - w @ b
    rr = yr - w @ q
    largest = np.abs(q).max(initial=0.0)
    scale = penalty / largest if largest > penalty else 1.0
    objective = 0.5 * rr + penalty * np.abs(w).sum()
    return objective, objective - scale * yr + 0.5 * scale**2 * rr


def _sweep(G: np.ndarray, penalty: float, w: np.ndarray, q: np.ndarray, coordinates: np.ndarray) -> None:
    for j in coordinates:
        curvature = G[j, j]
        if curvature <= 0:
            continue
        correlation = q[j] + curvature * w[j]
        updated = np.sign(correlation) * max(abs(correlation) - penalty, 0.0) / curvature
        if updated != w[j]:
            q -= (updated - w[j]) * G[j]
            w[j] = updated


def _extrapolate(
    b: np.ndarray,
    yy: float,
    penalty: float,
    w: np.ndarray,
    q: np.ndarray,
    past: list[tuple[np.ndarray, np.ndarray]],
) -> None:
    """Replace w and q by the affine combination of iterates of the smallest step, if its objective is lower."""
    points = np.array([np.concatenate(pair) for pair in past])
    U = np.diff(points[:, : len(w)], axis=0)
    A = U @ U.T
    trace = np.trace(A)
    if not trace > 0:
        return
    try:
        z = dense.solve(A + 1e-12 * trace * np.eye(_DEPTH), np.ones(_DEPTH))
    except np.linalg.LinAlgError:
        return
    if z.sum() == 0:
        return
    w_mixed, q_mixed = np.split((z / z.sum()) @ points[1:], 2)
    if lasso_value(b, yy, penalty, w_mixed, q_mixed)[0] < lasso_value(b, yy, penalty, w, q)[0]:
        w[:], q[:] = w_mixed, q_mixed
