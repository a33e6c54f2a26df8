"""Frequencies as products of signs and Hadamard matrices: O(log d) per frequency, and nothing but signs stored.

One block of P frequencies, P a power of two, applied to x padded with zeros to length P:

    omega x = diag(s chi) H D_3 H D_2 H D_1 x

with H the Hadamard matrix over sqrt(P), D_i random signs, chi independent with the law of the norm of a normal vector
in R^P, and s the spectral scales of the kernel (Yu et al., Orthogonal random features, 2016). Rows of fixed norm
sqrt(P), as in the paper, would be biased; chi removes that. The remaining bias, because three sign flips are not a
uniformly random rotation, is below 0.001 for P >= 64, so shorter rows are padded to that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _numeric

SHORTEST = 64


class StructuredFrequencies:
    """m frequencies in blocks of P; a smaller set is the beginning of a larger one."""

    def __init__(self, signs: np.ndarray, lengths: np.ndarray) -> None:
        self.signs = signs  # (blocks, 3, P), int8
        self.lengths = lengths  # (m,), s chi

    @classmethod
    def draw(cls, kernel: Any, m: int, d: int, rng: np.random.Generator) -> StructuredFrequencies:
        """m frequencies of an isotropic kernel in d dimensions."""
        P = max(SHORTEST, 1 << (d - 1).bit_length())
        signs, lengths = [], []
        for start in range(0, m, P):
            rows = min(P, m - start)
            signs.append(2 * rng.integers(0, 2, size=(3, P), dtype=np.int8) - 1)
            lengths.append(np.sqrt(rng.chisquare(P, size=rows)) * kernel.spectral_scales(rows, rng))
        return cls(np.array(signs), np.concatenate(lengths))

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def width(self) -> int:
        """P, to which rows are padded."""
        return self.signs.shape[2]

    def products(self, X: Any) -> np.ndarray:
        """<omega_i, x> for the rows x of X, shape (rows, m)."""
        P, m = self.width, len(self)
        rows = X.toarray() if hasattr(X, "tocsr") else X
        transformed = np.empty((X.shape[0], P), dtype=X.dtype)
        out = np.empty((X.shape[0], m), dtype=X.dtype)
        lengths = self.lengths.astype(X.dtype)
        for block, signs in enumerate(self.signs.astype(X.dtype)):
            columns = slice(block * P, min((block + 1) * P, m))
            _numeric.hadamard_signs(rows, signs, transformed)
            np.multiply(transformed[:, : columns.stop - columns.start], lengths[columns], out=out[:, columns])
        return out
