"""Symmetric matrices as one triangle, and the Gram statistic in that form: what model files hold."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mercer._numeric.linalg.gram import mirror
from mercer.stats import Gram


def packed(A: np.ndarray) -> np.ndarray:
    """The lower triangles of symmetric matrices (..., n, n), row by row."""
    rows, columns = np.tril_indices(A.shape[-1])
    return A[..., rows, columns]


def unpacked(values: np.ndarray, n: int) -> np.ndarray:
    """The symmetric matrices of lower triangles."""
    rows, columns = np.tril_indices(n)
    if values.shape[-1] != len(rows):
        raise ValueError(f"A triangle of {n} columns has {len(rows)} entries, not {values.shape[-1]}.")
    A = np.zeros((*values.shape[:-1], n, n))
    A[..., rows, columns] = values
    A[..., columns, rows] = values
    return A


def packed_bytes(width: int, n_matrices: int) -> int:
    """The size of the triangles of so many matrices."""
    return 4 * n_matrices * width * (width + 1)


@dataclass
class PackedGram:
    """A `Gram` statistic of rows: sums per fold, in float64."""

    n: int
    n_folds: int
    seed: int
    z_origin: np.ndarray
    y_origin: np.ndarray
    triangles: np.ndarray
    C: np.ndarray
    T: np.ndarray
    probe: np.ndarray

    @classmethod
    def of(cls, gram: Gram) -> PackedGram:
        whole = np.stack([mirror(each) for each in gram.G])
        known = (gram.n, gram.n_folds, gram.seed, gram.z_origin, gram.y_origin)
        return cls(*known, packed(whole), gram.C, gram.T, gram.probe)

    def gram(self) -> Gram:
        """The statistic, to which rows can be added."""
        width = len(self.z_origin)
        if self.C.shape[:2] != (self.n_folds, width) or self.probe.shape[0] != width:
            raise ValueError("The statistics of the rows do not fit together.")
        return Gram(
            self.n_folds, self.seed, self.n, self.z_origin, self.y_origin, unpacked(self.triangles, width),
            self.C.copy(), self.T.copy(), self.probe.copy(),
        )  # fmt: skip


def negated(gram: Gram) -> Gram:
    """The statistic whose merging takes its rows away."""
    return replace(gram, n=-gram.n, G=-gram.G, C=-gram.C, T=-gram.T, probe=-gram.probe)
