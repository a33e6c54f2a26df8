"""Row-by-row learning: sweeps of dual coordinate descent for the hinge loss, and of the perceptron."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["hinge_sweep", "hinge_sweep_csr", "perceptron_sweep", "perceptron_sweep_csr"]


def hinge_sweep(
    X: np.ndarray,
    sign: np.ndarray,
    upper: np.ndarray,
    order: np.ndarray,
    beta: np.ndarray,
    w: np.ndarray,
    b: float,
    scale: float,
    rho: float,
) -> tuple[float, float]:
    """Sweep once over the dual variables of the hinge loss (Hsieh et al. 2008); (intercept, largest violation).

    For each row i in `order`, sets beta_i such that the margin sign_i (<w, x_i> + b) is one, clipped to [0, upper_i],
    and updates w = scale * sum_i beta_i sign_i x_i and b = rho * sum_i beta_i sign_i. Writes to `beta` and `w`.
    """
    return _hinge_sweep([(X[i], slice(None)) for i in order], sign, upper, order, beta, w, b, scale, rho)


def hinge_sweep_csr(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    sign: np.ndarray,
    upper: np.ndarray,
    order: np.ndarray,
    beta: np.ndarray,
    w: np.ndarray,
    b: float,
    scale: float,
    rho: float,
) -> tuple[float, float]:
    """`hinge_sweep` over the rows of a CSR matrix."""
    rows = list(_csr_rows(data, indices, indptr, order))
    return _hinge_sweep(rows, sign, upper, order, beta, w, b, scale, rho)


def perceptron_sweep(
    X: np.ndarray,
    label: np.ndarray,
    order: np.ndarray,
    W: np.ndarray,
    b: np.ndarray,
    U: np.ndarray,
    c: np.ndarray,
    visits: float,
) -> np.ndarray:
    """Visit the rows in `order` once and return the positions in `order` of the mistakes.

    One row of W: labels are 0 and 1, the sign of the score predicts, and a score of zero is a mistake. Several rows:
    the largest score predicts, a tie is a mistake, and the runner-up class is updated as well. U and c sum the updates
    times the visits before them: W - U / visits is the average over visits. Writes to W, b, U and c.
    """
    return _perceptron_sweep([(X[i], slice(None)) for i in order], label, order, W, b, U, c, visits)


def perceptron_sweep_csr(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    label: np.ndarray,
    order: np.ndarray,
    W: np.ndarray,
    b: np.ndarray,
    U: np.ndarray,
    c: np.ndarray,
    visits: float,
) -> np.ndarray:
    """`perceptron_sweep` over the rows of a CSR matrix."""
    return _perceptron_sweep(list(_csr_rows(data, indices, indptr, order)), label, order, W, b, U, c, visits)


def _csr_rows(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, order: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for i in order:
        entries = slice(indptr[i], indptr[i + 1])
        yield data[entries], indices[entries]


def _hinge_sweep(
    rows: list[tuple[np.ndarray, Any]],
    sign: np.ndarray,
    upper: np.ndarray,
    order: np.ndarray,
    beta: np.ndarray,
    w: np.ndarray,
    b: float,
    scale: float,
    rho: float,
) -> tuple[float, float]:
    worst = 0.0
    for (x, columns), i in zip(rows, order, strict=True):
        x = x.astype(np.float64)
        gain = 1.0 - sign[i] * (x @ w[columns] + b)
        worst = max(worst, _violation(gain, beta[i], upper[i]))
        curvature = scale * (x @ x) + rho
        updated = min(max(beta[i] + gain / curvature, 0.0), upper[i]) if curvature > 0 else upper[i] * (gain > 0)
        change = (updated - beta[i]) * sign[i]
        beta[i] = updated
        w[columns] += scale * change * x
        b += rho * change
    return float(b), float(worst)


def _violation(gain: float, beta: float, upper: float) -> float:
    """Violation of the optimality condition of one dual variable."""
    if beta <= 0.0:
        return max(gain, 0.0)
    return max(-gain, 0.0) if beta >= upper else abs(gain)


def _perceptron_sweep(
    rows: list[tuple[np.ndarray, Any]],
    label: np.ndarray,
    order: np.ndarray,
    W: np.ndarray,
    b: np.ndarray,
    U: np.ndarray,
    c: np.ndarray,
    visits: float,
) -> np.ndarray:
    mistakes: list[int] = []
    for position, ((x, columns), i) in enumerate(zip(rows, order, strict=True)):
        scores = W[:, columns] @ x.astype(np.float64) + b
        for k, step in _updates(scores, label[i]):
            W[k, columns] += step * x
            b[k] += step
            U[k, columns] += (visits + position) * step * x
            c[k] += (visits + position) * step
            if len(mistakes) == 0 or mistakes[-1] != position:
                mistakes.append(position)
    return np.array(mistakes, dtype=np.int64)


def _updates(scores: np.ndarray, label: int) -> list[tuple[int, float]]:
    """(class, step) of each update for a row; none if the prediction is correct."""
    if len(scores) == 1:
        sign = 1.0 if label == 1 else -1.0
        return [(0, sign)] if sign * scores[0] <= 0 else []
    others = scores.copy()
    others[label] = -np.inf
    runner_up = int(np.argmax(others))
    return [(label, 1.0), (runner_up, -1.0)] if scores[label] <= scores[runner_up] else []
