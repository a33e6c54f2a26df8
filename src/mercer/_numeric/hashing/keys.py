"""Keys of rows that fall into given buckets: the inverse of `fold_of`."""

from __future__ import annotations

import numpy as np

from mercer._numeric.hashing.splitmix import splitmix64

_WORD = 1 << 64
_GAMMA = 0x9E3779B97F4A7C15
#: Inverses modulo 2^64 of the multipliers of splitmix64.
_INVERSES = tuple(np.uint64(pow(each, -1, _WORD)) for each in (0x94D049BB133111EB, 0xBF58476D1CE4E5B9))


def key_of_hash(hashes: np.ndarray, seed: int = 0) -> np.ndarray:
    """The keys whose `splitmix64` with the same seed are these hashes: splitmix64 is a bijection of 64-bit words.

    >>> key_of_hash(splitmix64([7, 3], seed=5), seed=5).tolist()
    [7, 3]
    """
    z = np.asarray(hashes, dtype=np.uint64)
    z = _unshifted(z, 31) * _INVERSES[0]
    z = _unshifted(z, 27) * _INVERSES[1]
    z = _unshifted(z, 30) - np.uint64(_GAMMA)
    return z ^ _mixed_seed(seed)


def keys_in_buckets(bucket: np.ndarray, n_buckets: int, keys: np.ndarray, seed: int = 0) -> np.ndarray:
    """Keys of which `fold_of(..., n_buckets, seed)` is `bucket`; where `keys` are equal, these are equal too.

    >>> from mercer._numeric.hashing.rows import fold_of
    >>> fold_of(keys_in_buckets(np.array([2, 0, 1]), 3, np.arange(3), seed=9), 3, seed=9).tolist()
    [2, 0, 1]
    """
    first = -(-np.arange(n_buckets + 1, dtype=object) * (1 << 32) // n_buckets)  # ceil(k 2^32 / n)
    starts, widths = (np.array(each, dtype=np.uint64) for each in (first[:-1], np.diff(first)))
    mixed = splitmix64(keys, seed + 1)
    half = np.uint64(32)
    upper = starts[bucket] + (((mixed >> half) * widths[bucket]) >> half)
    return key_of_hash((upper << half) | (mixed & np.uint64(0xFFFFFFFF)), seed)


def _unshifted(z: np.ndarray, bits: int) -> np.ndarray:
    """The inverse of z ^= z >> bits, for bits of at least 22."""
    return z ^ (z >> np.uint64(bits)) ^ (z >> np.uint64(2 * bits))


def _mixed_seed(seed: int) -> np.uint64:
    """mix(seed) of `splitmix64`, which is splitmix64(key) for key + gamma = seed with seed 0, as mix(0) = 0."""
    return splitmix64(np.array([(int(seed) - _GAMMA) % _WORD], dtype=np.uint64))[0]
