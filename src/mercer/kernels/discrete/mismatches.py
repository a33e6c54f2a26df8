"""The words near a word, and what they mean for the mismatch kernel."""

from __future__ import annotations

from itertools import combinations, product
from math import comb, factorial
from typing import Any, NamedTuple

import numpy as np

from mercer import _numeric
from mercer.kernels.discrete.windows import MAX_DENSE_ENTRIES, WordCounts

#: Entries of the feature map that may be built for a Gram matrix.
_MOST_ENTRIES = 1 << 26
#: Nanoseconds to read one window, and to build one entry of the feature map (measured).
_WINDOW, _ENTRY = 50.0, 70.0


class Neighborhood(NamedTuple):
    """Words of `length` letters, of `n_letters` each, that differ in at most `mismatches` positions from a word."""

    length: int
    mismatches: int
    n_letters: int

    @property
    def size(self) -> int:
        """Words near a word, itself included."""
        return sum(comb(self.length, i) * (self.n_letters - 1) ** i for i in range(self.mismatches + 1))

    def common(self, d: int) -> int:
        """Number of words near both of two words that differ in d positions.

        Of the d positions, p agree with the first word, q with the second, the rest with neither; of the other
        positions, t agree with none.
        """
        total = 0
        for p in range(d + 1):
            for q in range(d + 1 - p):
                for t in range(min(self.mismatches - d + min(p, q), self.length - d) + 1):
                    r = d - p - q
                    ways = factorial(d) // (factorial(p) * factorial(q) * factorial(r)) * (self.n_letters - 2) ** r
                    total += ways * comb(self.length - d, t) * (self.n_letters - 1) ** t
        return total

    def gap_coefficients(self) -> list[int]:
        """c_0, c_1, ... with I(d) = sum over j of c_j C(k - d, j - d) for all d.

        C(k - d, j - d) is how many ways of striking out j positions make two windows equal that differ in d, so the
        mismatch kernel is a sum of spectrum kernels of gapped windows (Kuksa, Huang and Pavlovic 2008).
        """
        k, most = self.length, min(2 * self.mismatches, self.length)
        return [
            sum((-1) ** (d - j) * comb(k - j, d - j) * self.common(d) for d in range(j, most + 1))
            for j in range(most + 1)
        ]

    def prefers_words(self, windows: tuple[float, float], shape: tuple[int, int], bits: int) -> bool:
        """Whether counting near words is expected to be cheaper than adding up the Gram matrices of gapped windows."""
        n_words = float(self.n_letters) ** self.length
        x, z = (self.size * min(found, rows * n_words) for found, rows in zip(windows, shape, strict=True))
        if self.length * bits > 64 or x + z > _MOST_ENTRIES:
            return False
        gapped = sum(
            comb(self.length, j) * (_product(*windows, n_words / self.n_letters**j, shape) + _WINDOW * sum(windows))
            for j, coefficient in enumerate(self.gap_coefficients())
            if coefficient
        )
        return _product(x, z, n_words, shape) + _ENTRY * (x + z) <= gapped

    def keys(self, keys: np.ndarray, bits: int) -> np.ndarray:
        """The keys of all words near the words of the given keys, shape (len(keys), size)."""
        near = np.empty((self.size, len(keys)), np.uint64)
        at = 0
        for changed in range(self.mismatches + 1):
            for positions in combinations(range(self.length), changed):
                for steps in product(range(1, self.n_letters), repeat=changed):
                    near[at] = self._changed(keys, bits, positions, steps)
                    at += 1
        return near.T

    def _changed(self, keys: np.ndarray, bits: int, positions: Any, steps: Any) -> np.ndarray:
        """Each letter at one of the positions replaced by the one that many steps on in the alphabet."""
        changed, mask = keys, np.uint64((1 << bits) - 1)
        for position, step in zip(positions, steps, strict=True):
            shift = np.uint64(bits * (self.length - 1 - position))
            letter = (keys >> shift) & mask
            other = (letter + np.uint64(step)) % np.uint64(self.n_letters)
            changed = (changed & ~(mask << shift)) | (other << shift)
        return changed

    def neighbor_counts(self, counts: WordCounts, keys: np.ndarray, bits: int) -> WordCounts:
        """The counts of words as counts of the words near them; `keys` are those of the columns."""
        near = self.keys(keys, bits)
        owners = np.repeat(np.arange(len(keys)), self.size)
        to_near = WordCounts(*_numeric.count_keys(np.ascontiguousarray(near).ravel(), owners, np.zeros(0), len(keys)))
        near_counts = counts.matrix() @ to_near.matrix() if len(keys) else counts.matrix()
        return WordCounts(near_counts.indptr, near_counts.indices, near_counts.data, to_near.first)


def _product(x: float, z: float, n_words: float, shape: tuple[int, int]) -> float:
    """Expected nanoseconds for a Gram matrix of x and z counts of n_words: scattered additions or a dense product."""
    dense = shape[0] * shape[1] * n_words / 64 if sum(shape) * n_words <= MAX_DENSE_ENTRIES else np.inf
    return min(x * z / n_words, dense)
