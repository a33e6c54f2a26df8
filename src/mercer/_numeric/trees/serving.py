"""What new rows cost: sums over trees, ramps, and products of rows that come out the same among any others."""

from __future__ import annotations

import numpy as np

from mercer._numeric.trees.trees import add_trees

__all__ = ["add_packed_trees", "pack_trees", "row_products", "write_ramps"]


def pack_trees(roots, column, threshold, left, right, value):
    """Lay out trees, nodes in a row as `add_trees` takes them, for `add_packed_trees`; never store it."""
    return roots, column, threshold, left, right, value


def add_packed_trees(X, trees, output, out) -> None:
    """`add_trees` of packed trees: the same values added in the same order."""
    roots, column, threshold, left, right, value = trees
    add_trees(X, roots, column, threshold, left, right, value, output, out)


def row_products(Z, coef, out) -> None:
    """out = Z @ coef in float64, Z (n, D) float32; each row is summed in an order of its own.

    A matrix product adds in an order that depends on how many rows there are, and then on the machine.
    """
    Z = Z.astype(np.float64)
    for k, column in enumerate(np.ascontiguousarray(coef.T)):
        np.einsum("ij,j->i", Z, column, out=out[:, k])


def write_ramps(X, column, low, length, out) -> None:
    """out[:, j] = clip((X[:, column[j]] - low[j]) / length[j], 0, 1), worked out in float64, out in float32."""
    progress = (X[:, column] - low) / length
    out[:] = np.clip(progress, 0.0, 1.0, out=progress)
