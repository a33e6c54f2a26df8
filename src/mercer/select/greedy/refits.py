"""All weights of a few columns fitted at once: Newton's method for smooth risks, an interior point for the hinge.

Minimizes W risk(Z v + b) + alpha ||v||^2 for the sum W of the row weights, Z having columns of unit spread, b free. The
penalty is there for data that a plane separates, where the risk alone has no minimum.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer.linear.optimize.dual import HingeProblem, best_intercept
from mercer.select.greedy.risks import HingeRisk

_MOST_STEPS = 100
#: Newton stops when its model promises less than this share of the objective.
_TOL = 1e-13
#: The hinge: tolerances tried in turn until the duality gap is at most this share of the objective.
_HINGE_TOLS, _HINGE_GAP = (1e-8, 1e-6, 1e-4, 1e-2), 1e-7
#: The gap from which on it is said.
_HINGE_DOUBT = 1e-3


@dataclass(frozen=True)
class Fit:
    """Weights of the columns of Z, the intercept, objective / W, and for the hinge the slopes of the rows' losses / W.

    At a minimum many rows sit on the hinge, where the loss has many slopes: the dual variables say which ones balance.
    """

    v: np.ndarray
    b: float
    objective: float
    slope: np.ndarray | None = None


def fit_weights(risk, Z, y, w, alpha: float, intercept: bool, start: np.ndarray | None = None) -> Fit:
    """The minimizer; `start` gives first values of v (and of b, if there is an intercept, at its end)."""
    if isinstance(risk, HingeRisk):
        return _fit_hinge(risk, Z, y, w, alpha)
    A = np.column_stack([Z, np.ones(len(y))]) if intercept else Z
    penalty = np.full(A.shape[1], alpha / w.sum())
    if intercept:
        penalty[-1] = 0.0
    at = np.zeros(A.shape[1]) if start is None else start
    value = risk.value(y, A @ at, w) + penalty @ at**2
    for _ in range(_MOST_STEPS if len(at) else 0):
        f = A @ at
        gradient = A.T @ risk.slope(y, f, w) + 2.0 * penalty * at
        step = _newton_step(risk.hessian(y, f, w, A) + 2.0 * np.diag(penalty), gradient)
        promised = -0.5 * float(gradient @ step)
        if not promised > _TOL * (1.0 + abs(value)):
            break
        at, lower = _descend(lambda x: risk.value(y, A @ x, w) + penalty @ x**2, at, step, value, promised)
        if not lower < value:
            break
        value = lower
    return Fit(at[:-1], float(at[-1]), value) if intercept else Fit(at, 0.0, value)


def _newton_step(H, g):
    """-H^+ g, directions without curvature moved along the gradient only as far as rounding allows: not at all."""
    values, vectors = np.linalg.eigh(H)
    some = values > 1e-13 * max(values[-1], 0.0)
    return -vectors[:, some] @ ((vectors[:, some].T @ g) / values[some])


def _descend(objective, at, step, value, promised):
    """The first of the steps 1, 1/2, 1/4, ... that keeps a share of its promise, and the value there."""
    length = 1.0
    for _ in range(50):
        trial = at + length * step
        found = objective(trial)
        if found <= value - 0.2 * length * promised:
            return trial, found
        length *= 0.5
    return at, value


def _fit_hinge(risk, Z, y, w, alpha):
    if Z.shape[1] == 0:
        b = best_intercept(np.zeros(len(y)), y, w)
        less = min(w[y > 0].sum(), w[y < 0].sum())
        share = np.where(y > 0, less / w[y > 0].sum(), less / w[y < 0].sum())
        return Fit(np.zeros(0), b, risk.value(y, np.full(len(y), b), w), -y * w * share / w.sum())
    problem, best = HingeProblem(np.ascontiguousarray(Z), y, w, alpha), None
    with np.errstate(all="ignore"):  # asked for more than rounding allows, the interior point loses itself
        for tol in _HINGE_TOLS:
            found = problem.by_interior_point(tol)
            if np.isfinite(found.gap) and (best is None or found.gap < best.gap):
                best = found
            if best is not None and best.gap <= _HINGE_GAP * best.objective:
                break
    if best is None:
        raise ValueError("The hinge loss could not be fitted on these columns: raise alpha.")
    if best.gap > _HINGE_DOUBT * best.objective:
        warnings.warn(
            f"A refit of the hinge loss may be off by {best.gap / best.objective:.1e} of its objective: raise alpha.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Fit(best.w, best.b, best.objective / w.sum(), -y * best.beta / w.sum())
