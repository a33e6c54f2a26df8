"""The scatter of tall rows about an origin, summed in float64."""

import numpy as np

__all__ = ["add_scatter"]

#: More rows than this are not summed in float32 (1,024 rows cost about 3e-7 of the scale).
FLOAT32_ROWS = 1024
#: Rows multiplied at a time.
_STEP = {np.dtype(np.float64): 8192, np.dtype(np.float32): FLOAT32_ROWS}


def add_scatter(S, sums, X, origin, root):
    """S += sum of z z' and sums += sum of root z for z = root (x - origin), formed in the precision of X.

    S (d, d) and sums (d,) float64; X (n, d) float32 or float64; origin (d,) and root (n,) like X, or None for 0 and 1.
    Of S only the upper triangle counts: what is below the diagonal is not to be read. It may be the first rows of S.
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
