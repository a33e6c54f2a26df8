"""Products of rows with the columns of a matrix, in float64.

The result for a row depends neither on its position among the rows nor on their number (in the NumPy definitions below,
as far as BLAS allows): a row alone has the bits that it has in a block.
"""

import numpy as np

__all__ = ["pack_columns", "row_products"]


def pack_columns(W: np.ndarray) -> np.ndarray:
    """Pack ``W`` (depth, n_columns) for `row_products`. The layout depends on the machine: do not store it."""
    return W


def row_products(X: np.ndarray, packed: np.ndarray, n_columns: int, out: np.ndarray) -> None:
    """Write X W into ``out``; rows of X and of ``out`` are contiguous, and may be those of wider arrays."""
    if packed.shape != (X.shape[1], n_columns) or out.shape != (len(X), n_columns):
        raise ValueError(f"X of shape {X.shape} and {n_columns} columns do not fit out of shape {out.shape}")
    np.matmul(X, packed, out=out)
