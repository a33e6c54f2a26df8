"""Columns and products of two columns as the output of a selection: (i, -1) is column i, (i, j) is x_i x_j."""

from __future__ import annotations

import numpy as np


def as_terms(terms: list[tuple[int, ...]]) -> np.ndarray:
    """Terms as an array of two columns, single columns first, each kind in order."""
    rows = sorted((len(term), *term, *([-1] * (2 - len(term)))) for term in terms)
    return np.array([row[1:] for row in rows], dtype=np.int64).reshape(-1, 2)


def term_columns(X, terms: np.ndarray):
    """The terms of an array or CSR matrix, one column each, in its precision."""
    first, second = terms[:, 0], terms[:, 1]
    pairs = second >= 0
    if hasattr(X, "tocsr"):
        from scipy.sparse import hstack

        product = X[:, first[pairs]].multiply(X[:, second[pairs]])
        return hstack([X[:, first[~pairs]], product], format="csr")
    return np.hstack([X[:, first[~pairs]], X[:, first[pairs]] * X[:, second[pairs]]])


def term_names(names: list[str], terms: np.ndarray) -> np.ndarray:
    """Their names: those of the factors, a space between."""
    return np.array([names[i] if j < 0 else f"{names[i]} {names[j]}" for i, j in terms], dtype=object)
