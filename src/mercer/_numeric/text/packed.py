"""Byte strings concatenated in arrays, and their hashes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

_MASK = 0xFFFFFFFFFFFFFFFF
_GAMMA = 0x9E3779B97F4A7C15


def bounds_of(sizes: Iterable[int]) -> np.ndarray:
    """Offsets of strings of these sizes: their cumulative sums, from 0."""
    return np.concatenate([[0], np.cumsum(np.fromiter(sizes, np.int64))]).astype(np.int64)


def packed(terms: Iterable[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Concatenate byte strings: (bounds, data)."""
    terms = list(terms)
    return bounds_of(map(len, terms)), np.frombuffer(b"".join(terms), np.uint8)


def strings(bounds: np.ndarray, data: np.ndarray) -> list[bytes]:
    """Split concatenated byte strings."""
    text = np.asarray(data).tobytes()
    return [text[a:b] for a, b in pairwise(np.asarray(bounds).tolist())]


def _mix(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK
    return z ^ (z >> 31)


def term_hash(term: bytes, seed: int) -> int:
    """Keyed 64-bit hash of a term, see `mercer._numeric.text.ngrams`."""
    h = _mix(seed) ^ (len(term) * _GAMMA & _MASK)
    for start in range(0, max(len(term), 1), 8):
        h = _mix(((h ^ int.from_bytes(term[start : start + 8], "little")) + _GAMMA) & _MASK)
    return h


def murmur3(term: bytes, seed: int) -> int:
    """MurmurHash3, 32 bits (A. Appleby, public domain)."""
    mask, h = 0xFFFFFFFF, seed

    def rotated(x: int, by: int) -> int:
        return ((x << by) | (x >> (32 - by))) & mask

    for start in range(0, len(term), 4):
        word = term[start : start + 4]
        h ^= rotated(int.from_bytes(word, "little") * 0xCC9E2D51 & mask, 15) * 0x1B873593 & mask
        if len(word) == 4:
            h = (rotated(h, 13) * 5 + 0xE6546B64) & mask
    h ^= len(term)
    h = (h ^ (h >> 16)) * 0x85EBCA6B & mask
    h = (h ^ (h >> 13)) * 0xC2B2AE35 & mask
    return h ^ (h >> 16)
