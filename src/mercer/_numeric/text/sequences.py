"""Windows of coded letters, sparse Gram matrices, gapped subsequences and tree fragments.

Letters are integers below 2^bits; segment s of a text is codes[starts[s]] .. codes[starts[s + 1] - 1].
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

__all__ = ["add_sparse_gram", "count_keys", "subsequence_pairs", "tree_pairs", "window_keys"]


def window_keys(codes: np.ndarray, starts: np.ndarray, offsets: np.ndarray, span: int, bits: int) -> np.ndarray:
    """Letters at `offsets` in each window of `span` letters of each segment, packed into 64 bits.

    The first letter takes the highest bits, so keys sort like words; len(offsets) * bits <= 64.
    """
    lengths = np.maximum(np.diff(starts) - (span - 1), 0)
    ends = np.cumsum(lengths)
    shift = np.repeat(starts[:-1] - (ends - lengths), lengths)
    first = np.arange(len(shift), dtype=np.int64) + shift
    keys = np.zeros(len(first), np.uint64)
    for offset in offsets:
        keys = (keys << np.uint64(bits)) | codes[first + offset].astype(np.uint64)
    return keys


def count_keys(
    keys: np.ndarray, rows: np.ndarray, weights: np.ndarray, n_rows: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Count the keys of each row: CSR arrays (indptr, indices, data) and the index of the first occurrence of each key.

    Columns are numbered in the order of first appearance, and so are the entries of a row. `rows` must not decrease;
    `weights` has one number per key, or is empty if every key counts 1.
    """
    if len(rows) != len(keys) or len(weights) not in (0, len(keys)):
        raise ValueError(f"{len(keys)} keys need as many rows and weights, not {len(rows)} and {len(weights)}.")
    if len(rows) and (rows[0] < 0 or rows[-1] >= n_rows or np.any(rows[1:] < rows[:-1])):
        raise ValueError(f"rows must rise within 0 .. {n_rows - 1}.")
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    columns = rank[codes]
    _, entry_first, entries = np.unique(rows * max(len(order), 1) + columns, return_index=True, return_inverse=True)
    sequence = np.argsort(entry_first)
    data = np.bincount(entries, weights if len(weights) else None, minlength=len(entry_first))[sequence]
    kept = np.sort(entry_first)
    indptr = np.searchsorted(rows[kept], np.arange(n_rows + 1)).astype(np.int64)
    return indptr, columns[kept].astype(np.int32), data.astype(np.float64), first[order].astype(np.int64)


def add_sparse_gram(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    t_indptr: np.ndarray,
    t_rows: np.ndarray,
    t_data: np.ndarray,
    coefficient: float,
    symmetric: bool,
    start: int,
    out: np.ndarray,
) -> None:
    """out += coefficient * A B' for rows start, start + 1, ... of A in CSR and all rows of B in CSC.

    Symmetric: B is A, and only entries on and above the diagonal of the whole product are added.
    """
    for i in range(len(out)):
        for entry in range(indptr[start + i], indptr[start + i + 1]):
            column = indices[entry]
            inside = slice(t_indptr[column], t_indptr[column + 1])
            rows, values = t_rows[inside], t_data[inside]
            if symmetric:
                values, rows = values[rows >= start + i], rows[rows >= start + i]
            out[i, rows] += coefficient * data[entry] * values


def subsequence_pairs(
    codes: np.ndarray,
    starts: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    length: int,
    decay: float,
    similarity: np.ndarray,
) -> np.ndarray:
    """Gapped subsequence kernel of the pairs of segments (left[p], right[p]) by dynamic programming.

    Lodhi et al., "Text classification using string kernels", 2002: every common subsequence of `length` letters
    contributes decay^(letters it spans in both texts), times similarity[a, b] for each pair of matched letters a and b.
    An empty table means 1 for equal letters, else 0.
    """
    texts = [codes[a:b] for a, b in pairwise(starts)]
    if not similarity.size:
        similarity = np.eye(int(codes.max(initial=0)) + 1)
    pairs = zip(left, right, strict=True)
    return np.array([_subsequences(texts[i], texts[j], length, decay, similarity) for i, j in pairs], float)


def _subsequences(s: np.ndarray, t: np.ndarray, length: int, decay: float, similarity: np.ndarray) -> float:
    """Kernel of two texts; ways[i, j]: weight of the common subsequences of i letters in s so far and t[:j]."""
    ways = np.zeros((length, len(t) + 1))
    ways[0] = 1.0
    total = 0.0
    for letter in s:
        same = similarity[letter, t]
        total += decay**2 * (ways[length - 1, :-1] * same).sum()
        for i in range(length - 1, 0, -1):
            found = 0.0
            for j in range(len(t)):
                found = decay * found + decay**2 * same[j] * ways[i - 1, j]
                ways[i, j + 1] = decay * ways[i, j + 1] + found
    return total


def tree_pairs(
    productions: np.ndarray,
    child_starts: np.ndarray,
    children: np.ndarray,
    starts: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    decay: float,
) -> np.ndarray:
    """Subset-tree kernel of the pairs of trees (left[p], right[p]).

    Tree i has the nodes starts[i] .. starts[i + 1] - 1, children before parents; node v has the production
    productions[v] and the child nodes children[child_starts[v]] .. (Collins and Duffy, "Convolution kernels for
    natural language", 2001):

        delta(v, w) = decay * product over children (1 + delta(c_v, c_w)) if the productions agree, else 0.
    """
    return np.array(
        [
            _fragments(productions, child_starts, children, starts[i : i + 2], starts[j : j + 2], decay)
            for i, j in zip(left, right, strict=True)
        ],
        dtype=float,
    )


def _fragments(
    productions: np.ndarray,
    child_starts: np.ndarray,
    children: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
    decay: float,
) -> float:
    delta: dict[tuple[int, int], float] = {}
    for v in range(*one):
        for w in range(*other):
            if productions[v] == productions[w]:
                value = decay
                for c in range(child_starts[v + 1] - child_starts[v]):
                    pair = children[child_starts[v] + c], children[child_starts[w] + c]
                    value *= 1.0 + delta.get(pair, 0.0)
                delta[v, w] = value
    return sum(delta.values())
