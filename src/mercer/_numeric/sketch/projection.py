"""Block-hash projections of rows: A x with exactly s nonzeros per column of A, none of them stored.

The m rows of A come in s blocks of m / s. Column j has one entry in each block i, in row h_i(j) with sign sigma_i(j),

    y[i (m / s) + h_i(j)] += sigma_i(j) x_j / sqrt(s),   i = 0 .. s - 1

(Kane and Nelson, "Sparser Johnson-Lindenstrauss transforms", 2014). Both come from one of the f fields
of b = 64 / f bits of a 64-bit hash, the uppermost field being the first,

    H = field i % f of splitmix64(key, i // f),   key = splitmix64(j, seed),
    h_i = (H * (m / s)) >> b,   sigma_i = 1 - 2 (H & 1)   (or 1 everywhere, without signs),

with f = 2, or, where m / s is a power of two, the largest of f = 2, 4, 8 whose b bits hold both row and sign.

The entries of a row are added in the order they are stored: the bits do not depend on the block.
"""

import numpy as np

from mercer._numeric.hashing.splitmix import buckets, signs, splitmix64

__all__ = ["key_buckets", "sketch_csr", "sketch_dense"]

_ALL = (1 << 64) - 1


def key_buckets(
    keys: np.ndarray, nonzeros: int, n_components: int, with_signs: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Output indices (int64) and signs (int8) of 64-bit keys, both of shape (len(keys), nonzeros)."""
    width = n_components // nonzeros
    fields = _fields_per_word(width)
    bits = 64 // fields
    words = np.stack([splitmix64(keys, i // fields) << np.uint64(bits * (i % fields)) for i in range(nonzeros)], axis=1)
    words &= np.uint64((_ALL << (64 - bits)) & _ALL)  # each field in the uppermost bits, zeros below
    indices = buckets(words, width) + width * np.arange(nonzeros)
    return indices, signs(words >> np.uint64(64 - bits)) if with_signs else np.ones(words.shape, np.int8)


def _fields_per_word(width: int) -> int:
    """Number of blocks per hash word: an index below a power of two and a sign are plain bits of a narrow field."""
    if width & (width - 1):
        return 2
    return 8 if width <= 1 << 7 else 4 if width <= 1 << 15 else 2


def sketch_dense(X: np.ndarray, seed: int, nonzeros: int, with_signs: bool, out: np.ndarray) -> None:
    """Write the block-hash projection of each row of ``X`` (float32 or float64) into ``out``, of the same dtype."""
    if len(X) != len(out):
        raise ValueError(f"X has {len(X)} rows but out has {len(out)}")
    _check_out(out, nonzeros)
    scaled = X * X.dtype.type(1 / np.sqrt(float(nonzeros)))
    keys = splitmix64(np.arange(X.shape[1]), seed)
    out[...] = 0
    for j in range(X.shape[1]):
        index, sign = key_buckets(keys[j : j + 1], nonzeros, out.shape[1], with_signs)
        out[:, index[0]] += scaled[:, j, None] * sign[0].astype(X.dtype)


def sketch_csr(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    seed: int,
    nonzeros: int,
    with_signs: bool,
    out: np.ndarray,
) -> None:
    """`sketch_dense` for rows of a CSR matrix; ``indptr`` may be a slice of that of the matrix."""
    if len(data) != len(indices):
        raise ValueError(f"data and indices must be of one length, got {len(data)} and {len(indices)}")
    if len(indptr) != len(out) + 1:
        raise ValueError(f"indptr must have {len(out) + 1} entries, one more than out has rows, not {len(indptr)}")
    if indptr[0] < 0 or indptr[-1] > len(data) or np.any(indptr[1:] < indptr[:-1]):
        raise ValueError(f"indptr must rise within 0 .. {len(data)}")
    _check_out(out, nonzeros)
    entries = slice(int(indptr[0]), int(indptr[-1]))
    scaled = data[entries] * data.dtype.type(1 / np.sqrt(float(nonzeros)))
    keys = splitmix64(indices[entries], seed)
    index, sign = key_buckets(keys, nonzeros, out.shape[1], with_signs)
    rows = np.repeat(np.arange(len(out)), np.diff(indptr))
    out[...] = 0
    np.add.at(out, (rows[:, None], index), scaled[:, None] * sign.astype(data.dtype))


def _check_out(out: np.ndarray, nonzeros: int) -> None:
    if nonzeros < 1 or out.shape[1] < 1 or out.shape[1] % nonzeros:
        raise ValueError(f"out has {out.shape[1]} columns, which {nonzeros} nonzeros per column do not divide")
