"""Sparsification of a predictor of small l1 norm by random rounding (Maurey)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mercer._runtime.blas import on_one_blas_thread
from mercer._runtime.checks import check_whole


@on_one_blas_thread
def sparsify(w: Any, X: Any, k: int, n_draws: int = 1, random_state: Any = 0) -> np.ndarray:
    """Return at most k nonzero weights whose predictions are close to those of w (Maurey's argument; Pisier 1981).

    Draw k columns j with probabilities |w_j| / ||w||_1; each draw adds sign(w_j) ||w||_1 / k to its column. The result
    has expectation w, and its squared risk exceeds that of w by `sparsify_risk(w, X, k)` on average.

    Use it to shorten a dense combination of many weak features at a known price, and to see why few features suffice.
    On columns that differ in use, `Lasso` or `GreedySelector` find better sets of the same size.

    Parameters
    ----------
    w : array of d weights
    X : array or CSR matrix of n rows and d columns
    k : int
    n_draws : int, default=1
        Number of results, of which the one with predictions on X closest to those of w is returned.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    array of d weights, at most k of them nonzero

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.select import sparsify
    >>> X = np.random.default_rng(0).normal(size=(50, 100))
    >>> v = sparsify(np.full(100, 0.01), X, k=10)
    >>> int(np.count_nonzero(v)), float(np.abs(v).sum().round(12))
    (9, 1.0)
    """
    w = _checked_weights(w, X, k)
    check_whole("n_draws", n_draws)
    rng = check_random_state(random_state)
    norm = np.abs(w).sum()
    if norm == 0:
        return np.zeros_like(w)
    best, min_distance = np.zeros_like(w), np.inf
    for _ in range(n_draws):
        drawn = rng.choice(len(w), size=k, p=np.abs(w) / norm)
        v = np.sign(w) * np.bincount(drawn, minlength=len(w)) * (norm / k)
        distance = float(np.sum(np.asarray(X @ (v - w)) ** 2)) if n_draws > 1 else 0.0
        if distance < min_distance:
            best, min_distance = v, distance
    return best


@on_one_blas_thread
def sparsify_risk(w: Any, X: Any, k: int) -> float:
    """Return the expected excess of the mean squared error of `sparsify(w, X, k)`, for any target:

    (||w||_1 sum_j |w_j| ||X_j||^2 - ||X w||^2) / (n k).

    Use it to choose k before drawing: the excess falls like 1 / k.

    >>> sparsify_risk(np.array([1.0, -1.0]), np.eye(2), k=4)
    0.25
    """
    w = _checked_weights(w, X, k)
    squares = np.asarray(X.multiply(X).sum(axis=0) if hasattr(X, "tocsr") else np.sum(np.square(X), axis=0)).ravel()
    variance = np.abs(w).sum() * (np.abs(w) @ squares) - np.sum(np.asarray(X @ w) ** 2)
    return float(variance / (X.shape[0] * k))


def _checked_weights(w: Any, X: Any, k: int) -> np.ndarray:
    check_whole("k", k)
    w = np.asarray(w, dtype=np.float64)
    if w.ndim != 1 or X.shape[1] != len(w) or not np.all(np.isfinite(w)):
        raise ValueError(f"w must be one finite weight for each of {X.shape[1]} columns, not shape {w.shape}.")
    return w
