"""Leaves of tree ensembles as indicator features."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from mercer.learn.trees.ensemble import TreeEnsemble


def leaf_indicators(
    ensembles: list[TreeEnsemble], X: np.ndarray, shown: np.ndarray, dtype: np.dtype
) -> sparse.csr_matrix:
    """CSR indicators of the leaves of each tree, divided by the number of ensembles that a row is shown.

    shown : (ensembles, rows), whether a row has features of an ensemble
    """
    value = (1.0 / shown.sum(axis=0)).astype(dtype)
    parts = []
    for ensemble, mask in zip(ensembles, shown, strict=True):
        rows, n_leaves = np.flatnonzero(mask), ensemble.n_leaves
        starts = np.cumsum([0, *n_leaves[:-1]])[: len(n_leaves)]
        counts = np.zeros(len(X) + 1, dtype=np.int64)
        counts[rows + 1] = len(n_leaves)
        columns = (ensemble.leaf_numbers(X[rows]) + starts).ravel()
        data = np.repeat(value[rows], len(n_leaves))
        parts.append(sparse.csr_matrix((data, columns, np.cumsum(counts)), shape=(len(X), sum(n_leaves))))
    return sparse.hstack(parts, format="csr")
