"""Prediction: leaves of rows, sums over trees, piecewise-linear bases, and row-wise matrix products.

The result for a row does not depend on the other rows of its batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "add_packed_trees",
    "add_trees",
    "pack_trees",
    "rowwise_matmul",
    "tree_leaves",
    "write_piecewise_linear",
]


def tree_leaves(
    bins: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    roots: np.ndarray,
) -> np.ndarray:
    """Leaf (int32) that each row (down) reaches from each root (across); nodes as returned by `grow_tree`."""
    node = np.tile(np.asarray(roots, dtype=np.int32), (len(bins), 1))
    rows = np.arange(len(bins))[:, None]
    while (inner := feature[node] >= 0).any():
        goes_left = bins[rows, np.maximum(feature[node], 0)] <= threshold[node]
        node = np.where(inner, np.where(goes_left, left[node], right[node]), node).astype(np.int32)
    return node


def add_trees(
    X: np.ndarray,
    roots: np.ndarray,
    column: np.ndarray,
    threshold: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    value: np.ndarray,
    output: np.ndarray,
    out: np.ndarray,
) -> None:
    """out[i, output[t]] += value of the leaf that row i of X reaches in tree t; x <= threshold goes left."""
    rows = np.arange(len(X))
    for root, k in zip(roots, output, strict=True):
        node = np.full(len(X), root)
        while np.any(inner := column[node] >= 0):
            at = node[inner]
            goes_left = X[rows[inner], column[at]] <= threshold[at]
            node[inner] = np.where(goes_left, left[at], right[at])
        out[:, k] += value[node]


def pack_trees(
    roots: np.ndarray,
    column: np.ndarray,
    threshold: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    value: np.ndarray,
) -> Any:
    """Pack trees, concatenated as for `add_trees`, for `add_packed_trees`. The layout is not to be stored."""
    return roots, column, threshold, left, right, value


def add_packed_trees(X: np.ndarray, trees: Any, output: np.ndarray, out: np.ndarray) -> None:
    """`add_trees` of packed trees: the same values added in the same order."""
    roots, column, threshold, left, right, value = trees
    add_trees(X, roots, column, threshold, left, right, value, output, out)


def rowwise_matmul(Z: np.ndarray, coef: np.ndarray, out: np.ndarray) -> None:
    """out = Z @ coef in float64, Z (n, D) float32; the summation order does not depend on the batch size.

    That of a BLAS matrix product depends on the number of rows and on the machine.
    """
    Z = Z.astype(np.float64)
    for k, column in enumerate(np.ascontiguousarray(coef.T)):
        np.einsum("ij,j->i", Z, column, out=out[:, k])


def write_piecewise_linear(
    X: np.ndarray, column: np.ndarray, low: np.ndarray, length: np.ndarray, out: np.ndarray
) -> None:
    """out[:, j] = clip((X[:, column[j]] - low[j]) / length[j], 0, 1), computed in float64, stored in float32."""
    t = (X[:, column] - low) / length
    out[:] = np.clip(t, 0.0, 1.0, out=t)
