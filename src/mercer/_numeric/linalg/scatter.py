"""Scatter matrix of tall blocks about an origin, accumulated in float64."""

from __future__ import annotations

import numpy as np

__all__ = ["add_scatter"]

#: Largest number of rows summed in float32 (relative error about 3e-7).
FLOAT32_ROWS = 1024
#: Rows multiplied at a time.
_STEP = {np.dtype(np.float64): 8192, np.dtype(np.float32): FLOAT32_ROWS}


def add_scatter(
    S: np.ndarray, sums: np.ndarray, X: np.ndarray, origin: np.ndarray | None, root: np.ndarray | None
) -> None:
    """S += sum of z z' and sums += sum of root z for z = root (x - origin), formed in the precision of X.

    S (d, d) and sums (d,) float64; X (n, d) float32 or float64; origin (d,) and root (n,) like X, or None for 0 and 1.
    Only the upper triangle of S is valid afterwards. S may consist of the first rows only.
    """
    step = _STEP[X.dtype]
    ones = np.ones(min(step, len(X)), dtype=X.dtype)
    for start in range(0, len(X), step):
        z, weight = X[start : start + step], ones[: len(X) - start]
        if origin is not None:
            z = z - origin
        if root is not None:
            weight = root[start : start + step]
            z = z * weight[:, None]
        sums += weight @ z
        S += z[:, : len(S)].T @ z
