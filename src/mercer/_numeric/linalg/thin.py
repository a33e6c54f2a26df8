"""Thin products of tall blocks, and what they are made of: rows in another order, sums in a wider precision."""

import numpy as np

__all__ = ["add_thin_products", "gather_rows"]


def add_thin_products(Z, R, V, C, P):
    """C += Z' R and P += Z' (Z V) in float64; Z (n, D) float32 or float64, R (n, c) and V (D, p) float64."""
    Z = Z.astype(np.float64)
    both = Z.T @ np.hstack([R, Z @ V])
    C += both[:, : R.shape[1]]
    P += both[:, R.shape[1] :]


def gather_rows(Z, order, origin, root, out):
    """out = (Z[order] - origin) * root in the precision of Z; root None is ones."""
    np.subtract(Z[order], origin, out=out)
    if root is not None:
        out *= root[:, None]
