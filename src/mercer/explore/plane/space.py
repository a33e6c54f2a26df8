"""The lifted space in three dimensions, with the separating plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._numeric.linalg import dense
from mercer.explore.fields import RequestError
from mercer.explore.kernel_terms import kernel_expression
from mercer.explore.numbers import rounded
from mercer.explore.plane.boundary import feature_names
from mercer.explore.plane.fitting import FittedState, fitted

#: Names of the axes where the first is the direction of the weights.
ALONG = ("along w", "direction 2", "direction 3")


def space_answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return three coordinates of every point, the axes and the plane <normal, z> + offset = 0 among them.

    With three features these are the axes; with two, the third is the score f(x). With more, the axes are the
    direction w of the weights and the two directions orthogonal to w along which the features vary most: the separating
    hyperplane contains all directions orthogonal to w, so it is seen without distortion. Three features may be chosen
    instead; then the plane is that of their weights, the others held at their means.
    """
    fit = fitted(state)
    Z, w, b, names = _explicit(state, fit)
    chosen = None if state["axes"] is None else [int(i) for i in state["axes"]]
    if chosen is not None and (len(chosen) != 3 or len(set(chosen)) < 3 or not all(0 <= i < len(w) for i in chosen)):
        raise RequestError(f"axes must be three different features among {len(w)}.")
    if chosen is None and Z.shape[1] == 3:
        chosen = [0, 1, 2]
    if Z.shape[1] == 2:
        points, normal, offset = np.column_stack([Z, Z @ w + b]), np.array([0.0, 0.0, 1.0]), 0.0
        labels, exact = [*names, "f(x)"], True
    elif chosen is not None:
        rest = np.setdiff1d(np.arange(len(w)), chosen)
        points, normal = Z[:, chosen], w[chosen]
        offset = b + float(Z[:, rest].mean(axis=0) @ w[rest])
        labels, exact = [names[i] for i in chosen], len(rest) == 0
    else:
        points, normal, offset = _along_weights(Z, w, b)
        labels, exact = list(ALONG), True
    return {
        "points": rounded(points),
        "labels": rounded(fit.y),
        "axes": labels,
        "normal": rounded(normal),
        "offset": rounded(offset),
        "exact": exact,
        "names": names if len(names) <= 60 else None,
        "n_features": None if state["representation"] == "kernel" else Z.shape[1],
    }


def _explicit(state: dict[str, Any], fit: FittedState) -> tuple[np.ndarray, np.ndarray, float, list[str]]:
    """Return features, weights and intercept; for a kernel machine in coordinates of which the first is along w."""
    if fit.weights is not None and state["representation"] != "kernel":
        return fit.features(fit.X), fit.weights, fit.intercept, feature_names(fit)
    Z, size = _kernel_coordinates(kernel_expression(state["kernel"]).build()(fit.X), fit.scores(fit.X) - fit.intercept)
    return Z, np.array([size, 0.0, 0.0]), fit.intercept, list(ALONG)


def _kernel_coordinates(K: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, float]:
    """Return (f / ||f||, two principal components orthogonal to f) and ||f||, the norm in the space of the kernel.

    f = Ka has ||f||^2 = a'Ka, and removing its direction from the features leaves the Gram matrix K - ff'/||f||^2.
    """
    a = dense.lstsq(K, f, lapack_driver="gelsy", check_finite=False)
    size = float(np.sqrt(abs(a @ f))) or 1.0
    rest = K - np.outer(f, f) / size**2
    rest = rest - rest.mean(axis=0) - rest.mean(axis=1)[:, None] + rest.mean()
    n = len(f)
    count = min(2, n)
    values, vectors = dense.eigh(rest, subset_by_index=[n - count, n - 1], check_finite=False)
    vectors = vectors[:, ::-1] * np.where(vectors[np.abs(vectors).argmax(axis=0), range(count)] < 0, -1.0, 1.0)[::-1]
    return np.column_stack([f / size, vectors * np.sqrt(np.maximum(values[::-1], 0.0))]), size


def _along_weights(Z: np.ndarray, w: np.ndarray, b: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Return coordinates along w and along the two directions of largest variance orthogonal to it."""
    size = float(dense.norm(w))
    unit = w / size if size else np.eye(len(w))[0]
    along = Z @ unit
    centered = Z - Z.mean(axis=0)
    orthogonal = centered - np.outer(centered @ unit, unit)
    directions = dense.svd(orthogonal, full_matrices=False)[2][:2]
    # A sign that does not depend on rounding keeps the picture from flipping while a slider moves.
    directions *= np.where(directions[np.arange(2), np.abs(directions).argmax(axis=1)] < 0, -1.0, 1.0)[:, None]
    return np.column_stack([along, orthogonal @ directions.T]), np.array([size, 0.0, 0.0]), b
