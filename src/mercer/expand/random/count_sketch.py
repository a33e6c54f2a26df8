"""CountSketch: every coordinate, with a random sign, added to a random bucket (Charikar, Chen, Farach-Colton 2002)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mercer._runtime.loaded import require, require_indices, require_vectors


class CountSketch:
    """x -> (sum of sign_j x_j over the coordinates j of bucket b)_b; stored as one bucket and one sign per column.

    If there are at least as many buckets as coordinates, no two share one: the sketch is then x itself, signed and in
    random order.
    """

    def __init__(self, buckets: np.ndarray, signs: np.ndarray, n_buckets: int) -> None:
        self.buckets, self.signs, self.n_buckets = buckets, signs, n_buckets

    @classmethod
    def draw(cls, d: int, n_buckets: int, rng: np.random.Generator) -> CountSketch:
        """Random buckets, independent or all different, and independent signs for d coordinates."""
        if d <= n_buckets:
            buckets = rng.permutation(n_buckets)[:d].astype(np.int32)
        else:
            buckets = rng.integers(0, n_buckets, size=d, dtype=np.int32)
        return cls(buckets, 2 * rng.integers(0, 2, size=d, dtype=np.int8) - 1, n_buckets)

    def _check_loaded(self) -> None:
        require_vectors(np.size(self.buckets), "i", buckets=self.buckets, signs=self.signs)
        require(isinstance(self.n_buckets, int) and self.n_buckets > 0, "a sketch has no buckets")
        require_indices("buckets", self.buckets, self.n_buckets)

    def of(self, X: Any, scale: float = 1.0) -> np.ndarray:
        """The sketches of scale times the rows of X, an array or CSR matrix of no more columns than the sketch has."""
        n, d = X.shape
        scale = X.dtype.type(scale)
        if len(self.buckets) <= self.n_buckets and not hasattr(X, "tocsr"):
            out = np.zeros((n, self.n_buckets), dtype=X.dtype)
            out[:, self.buckets[:d]] = X * (self.signs[:d] * scale)
            return out
        if hasattr(X, "tocsr"):
            data, indices, indptr = X.data * self.signs[X.indices] * scale, self.buckets[X.indices], X.indptr
        else:
            data, indices = (X * (self.signs[:d] * scale)).ravel(), np.tile(self.buckets[:d], n)
            indptr = np.arange(0, n * d + 1, d)
        # Entries of one bucket are duplicates, and `toarray` adds duplicates up.
        return csr_array((data, indices, indptr), shape=(n, self.n_buckets)).toarray()
