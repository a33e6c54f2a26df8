"""The region behind the weights of a quadratic rule: a ball, or another conic section."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._numeric.linalg import dense
from mercer.explore.plane.fitting import FittedState

#: Curvatures below this fraction of the largest coefficient count as zero.
_FLAT = 1e-6


def recovered_region(state: dict[str, Any], fit: FittedState) -> dict[str, Any] | None:
    """Return the region {f > 0} in words and numbers, where the rule is of degree 2 at most; else None."""
    if fit.weights is None:
        return None
    if state["representation"] == "parabolic":
        region = fit.representation.ball(fit.weights, fit.intercept)
        center = None if region.center is None else region.center.tolist()
        radius = float(region.radius) if np.isfinite(region.radius) else None
        return {
            "kind": region.kind,
            "center": center,
            "radius": radius,
            "text": _ball_text(region.kind, center, radius),
        }
    rule = _quadratic(state, fit)
    return None if rule is None else _conic(*rule)


def _ball_text(kind: str, center: list[float] | None, radius: float | None) -> str:
    words = {
        "ball": "The inside of a circle",
        "complement": "The outside of a circle",
        "halfspace": "A half-plane: the weight of the squared norm is zero",
        "everything": "The whole plane",
        "nothing": "Nowhere",
    }[kind]
    if center is None or radius is None or kind not in ("ball", "complement"):
        return words + "."
    return f"{words} with center {_pair(center)} and radius {radius:.3g}."


def _pair(center: Any) -> str:
    """Return coordinates as text, without the digits of rounding."""
    first, second = (round(float(value), 3) + 0.0 for value in center)
    return f"({first:.4g}, {second:.4g})"


def _quadratic(state: dict[str, Any], fit: FittedState) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Return A, b, c of f(x) = x'Ax + b'x + c from the weights of monomials; None if there are others."""
    assert fit.weights is not None
    if state["representation"] not in ("polynomial", "subsets") or len(fit.weights) > 6:
        return None
    lift = fit.representation
    # At (1, 1) every monomial is 1, so the features there are the factors of the monomials.
    values = fit.weights * lift.transform(np.ones((1, 2)))[0]
    A, b, c = np.zeros((2, 2)), np.zeros(2), fit.intercept
    for (i, j), value in zip(lift.powers_.astype(int), values, strict=True):
        if i + j == 0:
            c += value
        elif i + j == 1:
            b[int(j)] += value
        elif i + j == 2:
            A[0, 0] += value * (i == 2)
            A[1, 1] += value * (j == 2)
            A[0, 1] += value / 2 * (i == 1)
        else:
            return None
    A[1, 0] = A[0, 1]
    return A, b, c


def _conic(A: np.ndarray, b: np.ndarray, c: float) -> dict[str, Any]:
    """Classify x'Ax + b'x + c = 0 by the eigenvalues of A and the value at the center -A^-1 b / 2."""
    curvature, directions = dense.eigh(A)
    size = max(np.abs(curvature).max(), np.abs(b).max(), abs(c), 1e-300)
    flat = np.abs(curvature) <= _FLAT * size
    if flat.all():
        return {"kind": "line", "text": "A line: all weights of degree 2 are zero."}
    if flat.any():
        return {"kind": "parabola", "text": "A parabola (or two parallel lines): one curvature is zero."}
    center = -dense.solve(A, b) / 2
    level = c + float(b @ center) / 2
    found = {"center": center.tolist(), "directions": directions.T.tolist(), "curvature": curvature.tolist()}
    if curvature[0] * curvature[1] < 0:
        text = f"A hyperbola with center {_pair(center)}."
        return {"kind": "hyperbola", "text": text, **found}
    if level * curvature[0] >= 0:
        return {"kind": "everything" if level > 0 else "nothing", "text": "No curve: f has one sign everywhere."}
    axes = np.sqrt(-level / curvature)
    side = "inside" if curvature[0] < 0 else "outside"
    text = f"The {side} of an ellipse with center {_pair(center)} and half-axes {axes.max():.3g} and {axes.min():.3g}."
    return {"kind": "ellipse", "text": text, "axes": axes.tolist(), **found}
