"""Learning row by row: sweeps of dual coordinate descent for the hinge loss, and of the perceptron."""

from __future__ import annotations

import numpy as np

__all__ = ["hinge_sweep", "hinge_sweep_csr", "perceptron_sweep", "perceptron_sweep_csr"]


def hinge_sweep(X, sign, upper, order, beta, w, b, scale, rho) -> tuple[float, float]:
    """One sweep over the dual variables of the hinge loss (Hsieh et al. 2008); (intercept, largest violation).

    Visits the rows named by `order`: beta_i moves to where its margin sign_i (<w, x_i> + b) is one, held in
    [0, upper_i]; w follows as scale * sum of beta_i sign_i x_i and b as rho times the sum of beta_i sign_i. Writes
    to `beta` and `w`.
    """
    return _hinge_sweep([(X[i], slice(None)) for i in order], sign, upper, order, beta, w, b, scale, rho)


def hinge_sweep_csr(data, indices, indptr, sign, upper, order, beta, w, b, scale, rho) -> tuple[float, float]:
    """`hinge_sweep` over the rows of a CSR matrix."""
    rows = list(_csr_rows(data, indices, indptr, order))
    return _hinge_sweep(rows, sign, upper, order, beta, w, b, scale, rho)


def perceptron_sweep(X, label, order, W, b, U, c, visits) -> np.ndarray:
    """Visit the rows named by `order` once; the places in `order` at which a mistake was made.

    One row of W: labels are 0 and 1, the sign of the score decides, and a score of zero is a mistake. Several: the
    largest score decides, a tie is a mistake, and the strongest wrong class pays. The updates, each times the
    visits before it, are summed in U and c: W - U / visits is the average over visits. Writes to W, b, U, c.
    """
    return _perceptron_sweep([(X[i], slice(None)) for i in order], label, order, W, b, U, c, visits)


def perceptron_sweep_csr(data, indices, indptr, label, order, W, b, U, c, visits) -> np.ndarray:
    """`perceptron_sweep` over the rows of a CSR matrix."""
    return _perceptron_sweep(list(_csr_rows(data, indices, indptr, order)), label, order, W, b, U, c, visits)


def _csr_rows(data, indices, indptr, order):
    for i in order:
        entries = slice(indptr[i], indptr[i + 1])
        yield data[entries], indices[entries]


def _hinge_sweep(rows, sign, upper, order, beta, w, b, scale, rho):
    worst = 0.0
    for (x, columns), i in zip(rows, order, strict=True):
        x = x.astype(np.float64)
        gain = 1.0 - sign[i] * (x @ w[columns] + b)
        worst = max(worst, _violation(gain, beta[i], upper[i]))
        curvature = scale * (x @ x) + rho
        moved = min(max(beta[i] + gain / curvature, 0.0), upper[i]) if curvature > 0 else upper[i] * (gain > 0)
        change = (moved - beta[i]) * sign[i]
        beta[i] = moved
        w[columns] += scale * change * x
        b += rho * change
    return float(b), float(worst)


def _violation(gain, beta, upper):
    """How far the optimality conditions of one dual variable are from holding."""
    if beta <= 0.0:
        return max(gain, 0.0)
    return max(-gain, 0.0) if beta >= upper else abs(gain)


def _perceptron_sweep(rows, label, order, W, b, U, c, visits):
    mistakes = []
    for place, ((x, columns), i) in enumerate(zip(rows, order, strict=True)):
        scores = W[:, columns] @ x.astype(np.float64) + b
        for k, step in _updates(scores, label[i]):
            W[k, columns] += step * x
            b[k] += step
            U[k, columns] += (visits + place) * step * x
            c[k] += (visits + place) * step
            if len(mistakes) == 0 or mistakes[-1] != place:
                mistakes.append(place)
    return np.array(mistakes, dtype=np.int64)


def _updates(scores, label):
    """(class, step) of each change a row asks for; none if it was predicted rightly."""
    if len(scores) == 1:
        sign = 1.0 if label == 1 else -1.0
        return [(0, sign)] if sign * scores[0] <= 0 else []
    others = scores.copy()
    others[label] = -np.inf
    rival = int(np.argmax(others))
    return [(label, 1.0), (rival, -1.0)] if scores[label] <= scores[rival] else []
