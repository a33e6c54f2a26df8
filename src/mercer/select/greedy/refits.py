"""Joint fits of the weights of a few columns: Newton's method for smooth risks, an interior point for the hinge.

They minimize W risk(Z v + b) + alpha ||v||^2 for the sum W of the row weights and columns Z of unit variance, b free.
The penalty is for separable data, where the risk alone has no minimum.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer._numeric.linalg import dense
from mercer.linear.optimize.dual import HingeProblem, best_intercept
from mercer.select.greedy.risks import HingeRisk, Risk

_MAX_ITER = 100
#: Newton's method stops when its quadratic model predicts a decrease below this fraction of the objective.
_TOL = 1e-13
#: The hinge: tolerances tried in turn until the duality gap is at most this fraction of the objective.
_HINGE_TOLS, _HINGE_GAP = (1e-8, 1e-6, 1e-4, 1e-2), 1e-7
#: Relative duality gap that gives a warning.
_HINGE_WARNING_GAP = 1e-3


@dataclass(frozen=True)
class RefitResult:
    """Weights of the columns of Z, the intercept, objective / W, and for the hinge the gradient in the scores / W.

    At a minimum many rows lie on the kink of the hinge, where the loss has many subgradients: the dual variables are
    those that balance.
    """

    v: np.ndarray
    b: float
    objective: float
    gradient: np.ndarray | None = None


def fit_weights(
    risk: Risk,
    Z: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    alpha: float,
    intercept: bool,
    start: np.ndarray | None = None,
) -> RefitResult:
    """Return the minimizer; `start` gives initial values of v (and of b, if there is an intercept, at its end)."""
    if isinstance(risk, HingeRisk):
        return _fit_hinge(risk, Z, y, w, alpha)
    A = np.column_stack([Z, np.ones(len(y))]) if intercept else Z
    penalty = np.full(A.shape[1], alpha / w.sum())
    if intercept:
        penalty[-1] = 0.0
    at = np.zeros(A.shape[1]) if start is None else start
    value = risk.value(y, A @ at, w) + penalty @ at**2
    for _ in range(_MAX_ITER if len(at) else 0):
        f = A @ at
        gradient = A.T @ risk.gradient(y, f, w) + 2.0 * penalty * at
        step = _newton_step(risk.hessian(y, f, w, A) + 2.0 * np.diag(penalty), gradient)
        decrease = -0.5 * float(gradient @ step)
        if not decrease > _TOL * (1.0 + abs(value)):
            break
        at, lower = _backtrack(lambda x: risk.value(y, A @ x, w) + penalty @ x**2, at, step, value, decrease)
        if not lower < value:
            break
        value = lower
    return RefitResult(at[:-1], float(at[-1]), value) if intercept else RefitResult(at, 0.0, value)


def _newton_step(H: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return -H^+ g, which does not move along directions without curvature."""
    values, vectors = dense.eigh(H)
    kept = values > 1e-13 * max(values[-1], 0.0)
    return -vectors[:, kept] @ ((vectors[:, kept].T @ g) / values[kept])


def _backtrack(
    objective: Callable[[np.ndarray], float], at: np.ndarray, step: np.ndarray, value: float, decrease: float
) -> tuple[np.ndarray, float]:
    """Take the first of the steps 1, 1/2, 1/4, ... with sufficient decrease (Armijo)."""
    length = 1.0
    for _ in range(50):
        trial = at + length * step
        found = objective(trial)
        if found <= value - 0.2 * length * decrease:
            return trial, found
        length *= 0.5
    return at, value


def _fit_hinge(risk: HingeRisk, Z: np.ndarray, y: np.ndarray, w: np.ndarray, alpha: float) -> RefitResult:
    if Z.shape[1] == 0:
        b = best_intercept(np.zeros(len(y)), y, w)
        minority = min(w[y > 0].sum(), w[y < 0].sum())
        dual = np.where(y > 0, minority / w[y > 0].sum(), minority / w[y < 0].sum())
        return RefitResult(np.zeros(0), b, float(risk.value(y, np.full(len(y), b), w)), -y * w * dual / w.sum())
    problem, best = HingeProblem(np.ascontiguousarray(Z), y, w, alpha), None
    with np.errstate(all="ignore"):  # at tolerances beyond rounding the interior point breaks down
        for tol in _HINGE_TOLS:
            found = problem.by_interior_point(tol)
            if np.isfinite(found.gap) and (best is None or found.gap < best.gap):
                best = found
            if best is not None and best.gap <= _HINGE_GAP * best.objective:
                break
    if best is None:
        raise ValueError(f"The hinge loss could not be fitted on these columns with alpha={alpha!r}: raise alpha.")
    if best.gap > _HINGE_WARNING_GAP * best.objective:
        warnings.warn(
            f"A refit of the hinge loss may be off by {best.gap / best.objective:.1e} of its objective: raise alpha.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return RefitResult(best.w, best.b, best.objective / w.sum(), -y * best.beta / w.sum())
