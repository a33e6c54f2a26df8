"""Products of tall blocks with thin matrices, accumulated in float64, and gathered rows."""

from __future__ import annotations

import numpy as np

__all__ = ["add_thin_products", "gather_rows"]


def add_thin_products(Z: np.ndarray, R: np.ndarray, V: np.ndarray, C: np.ndarray, P: np.ndarray) -> None:
    """C += Z' R and P += Z' (Z V) in float64; Z (n, D) float32 or float64, R (n, c) and V (D, p) float64."""
    Z = Z.astype(np.float64)
    both = Z.T @ np.hstack([R, Z @ V])
    C += both[:, : R.shape[1]]
    P += both[:, R.shape[1] :]


def gather_rows(Z: np.ndarray, order: np.ndarray, origin: np.ndarray, root: np.ndarray | None, out: np.ndarray) -> None:
    """out = (Z[order] - origin) * root in the precision of Z; root None stands for ones."""
    np.subtract(Z[order], origin, out=out)
    if root is not None:
        out *= root[:, None]
