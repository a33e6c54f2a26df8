"""The Gram matrix of the points, sorted by class, and whether it is positive semi-definite."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._numeric.linalg import dense
from mercer.explore.kernel_terms import kernel_expression
from mercer.explore.numbers import as_bytes, rounded
from mercer.explore.plane.fitting import fitted
from mercer.kernels import check_mercer

MAX_ROWS = 200


def gram_answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return inner products of the representation: <z(x_i), z(x_j)>, or k(x_i, x_j) for a kernel.

    Rows are sorted by class, and within a class by the angle around its mean: neighbors in the plane are neighbors in
    the matrix.
    """
    fit = fitted(state)
    order = _order(fit.X, fit.y)[:: -(-len(fit.y) // MAX_ROWS)]
    X = fit.X[order]
    if state["representation"] == "kernel":
        K = np.asarray(kernel_expression(state["kernel"]).build()(X), dtype=np.float64)
    else:
        Z = fit.features(X)
        K = Z @ Z.T
    report = check_mercer(K)
    low, high = float(K.min()), float(K.max())
    size = max(abs(low), abs(high)) or 1.0
    return {
        "size": len(order),
        "matrix": as_bytes(K, -size, size),
        "low": rounded(low),
        "high": rounded(high),
        "scale": rounded(size),
        "order": order.tolist(),
        "labels": rounded(fit.y[order]),
        "min_eigenvalue": rounded(report.min_eigenvalue, 3),
        "valid": bool(report.valid),
        "rank": _rank(K),
        "text": str(report),
    }


def _rank(K: np.ndarray) -> int:
    """Return the number of eigenvalues that are not rounding."""
    values = np.abs(dense.eigvalsh((K + K.T) / 2))
    return int(np.sum(values > len(K) * np.finfo(np.float64).eps * values.max(initial=0.0)))


def _order(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    angle = np.zeros(len(y))
    for label in (-1.0, 1.0):
        rows = y == label
        centered = X[rows] - X[rows].mean(axis=0)
        angle[rows] = np.arctan2(centered[:, 1], centered[:, 0])
    return np.lexsort((angle, y))
