"""Words in windows of sequences: exact keys, counts per row, and Gram matrices of counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mercer import _numeric
from mercer._runtime.pool import for_each
from mercer.kernels.discrete.letters import Segments

#: Rows of a Gram matrix computed at a time.
_ROWS = 256
#: Entries that a dense product processes in the time of one scattered addition.
_DENSE = 16
#: Maximum number of entries of dense counts.
MAX_DENSE_ENTRIES = 1 << 25


class Pattern(NamedTuple):
    """The letters read in a window of `span` letters, the weight of a word, and whether its position matters."""

    offsets: tuple[int, ...]
    span: int
    weight: float = 1.0
    positional: bool = False


class Windows(NamedTuple):
    """Windows of rows: a word of each, as exact 64-bit keys, with row and weight."""

    keys: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    positions: np.ndarray

    def counts(self, n_rows: int) -> WordCounts:
        """How often each row holds each word."""
        return WordCounts(*_numeric.count_keys(self.keys, self.rows, self.weights, n_rows))


class WordCounts(NamedTuple):
    """A CSR matrix of counts, one column for each word in the order of first appearance at window `first`."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    first: np.ndarray

    def matrix(self, rows: slice = slice(None)) -> Any:
        """The counts of some rows as a CSR array."""
        from scipy.sparse import csr_array

        shape = len(self.indptr) - 1, max(len(self.first), 1)
        return csr_array((self.data, self.indices, self.indptr), shape=shape)[rows]


def windows_of(
    segments: Segments, pattern: Pattern, both_strands: bool = False, known: Segments | None = None
) -> Windows:
    """The words that a pattern reads; for both strands, the smaller of each word and its reverse complement.

    `known` are words, one per segment, that come first.
    """
    rows, weights, positions = segments.window_rows(pattern.span)
    words = [letter_chunks(segments, pattern.offsets, pattern.span)]
    starts_in_row = [positions]
    if both_strands:
        words.append(letter_chunks(opposite(segments), pattern.offsets[::-1], pattern.span))
    if known is not None:
        width = len(pattern.offsets)
        words.insert(0, letter_chunks(known, tuple(range(width)), width))
        starts_in_row.insert(0, known.positions)
    if pattern.positional:
        bits = max(*(int(position.max(initial=0)) for position in starts_in_row), 1, 1).bit_length()
        for pieces, position in zip(words, starts_in_row, strict=True):
            pieces.append((position.astype(np.uint64), bits))
    keys = joined(words)
    if both_strands:
        before, there, back = np.split(keys, [len(keys) - 2 * len(rows), len(keys) - len(rows)])
        keys = np.append(before, np.minimum(there, back))
    if known is not None:
        rows, positions = np.append(known.rows, rows), np.append(known.positions, positions)
        weights = np.append(np.ones(len(known.rows)), weights) if len(weights) else weights
    return Windows(keys, rows, weights, positions)


def opposite(segments: Segments) -> Segments:
    """Every letter of DNA replaced by its complement: A - T, C - G."""
    return replace(segments, codes=segments.n_letters - 1 - segments.codes)


def letter_chunks(segments: Segments, offsets: Any, span: int) -> list[tuple[np.ndarray, int]]:
    """The words in pieces of one machine word at most: (keys, bits) of each piece."""
    bits = segments.bits
    room = 64 // bits if len(offsets) * bits <= 64 else max(32 // bits, 1)
    pieces = [np.array(offsets[i : i + room], np.int64) for i in range(0, max(len(offsets), 1), room)]
    return [
        (_numeric.window_keys(segments.codes, segments.starts, piece, span, bits), bits * len(piece))
        for piece in pieces
    ]


def joined(words: list[list[tuple[np.ndarray, int]]]) -> np.ndarray:
    """One 64-bit key per window, equal exactly where all pieces are equal, for several lists of windows at once.

    Pieces that do not fit 64 bits together are replaced by their ranks, which do: nothing is hashed.
    """
    pieces = [(np.concatenate([p[0] for p in piece]), max(p[1] for p in piece)) for piece in zip(*words, strict=True)]
    keys, used = pieces[0]
    for more, bits in pieces[1:]:
        if used + bits > 64:
            keys, used = _ranks(keys)
        if used + bits > 64:
            more, bits = _ranks(more)
        keys, used = (keys << np.uint64(bits)) | more, used + bits
    return keys


def _ranks(keys: np.ndarray) -> tuple[np.ndarray, int]:
    found, ranks = np.unique(keys, return_inverse=True)
    return ranks.astype(np.uint64), max(len(found) - 1, 1).bit_length()


def add_gram(out: np.ndarray, counts: WordCounts, symmetric: bool, coefficient: float = 1.0) -> None:
    """out += coefficient * A B' of the counts A of the first rows and B of the rest.

    Symmetric: B is A, and only the upper triangle is certain to be complete (see `mirror`).
    """
    n, m = out.shape
    A = counts.matrix(slice(0, n))
    B = A if symmetric else counts.matrix(slice(n, n + m))
    width = A.shape[1]
    work = float(np.bincount(A.indices, minlength=width) @ np.bincount(B.indices, minlength=width).astype(float))
    if n * m * width <= _DENSE * work and (n + m) * width <= MAX_DENSE_ENTRIES:
        _add_dense(out, A, B, coefficient)
        return
    T = B.tocsc()
    A, T = _with_types(A), _with_types(T)

    def fill(start: int) -> None:
        block = out[start : start + _ROWS]
        _numeric.add_sparse_gram(*A, *T, coefficient, symmetric, start, block)

    for_each(fill, range(0, n, _ROWS))


def _with_types(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(np.int32, copy=False), matrix.data


def _add_dense(out: np.ndarray, A: Any, B: Any, coefficient: float) -> None:
    """By matrix product, in float32 where counts are whole numbers so small that it is exact."""
    if A.nnz and B.nnz:
        whole = not np.any(A.data % 1) and not np.any(B.data % 1)
        exact = whole and A.sum(axis=1).max() * B.data.max() < 2**24
        left = A.toarray().astype(np.float32 if exact else np.float64, copy=False)
        right = left if B is A else B.toarray().astype(left.dtype, copy=False)
        product = left @ right.T
        out += product if coefficient == 1.0 else coefficient * product.astype(np.float64, copy=False)


def mirror(out: np.ndarray) -> np.ndarray:
    """The upper triangle copied to the lower one."""
    for start in range(0, len(out), _ROWS):
        stop = start + _ROWS
        square = out[start:stop, start:stop]
        square[:] = np.triu(square) + np.triu(square, 1).T
        out[stop:, start:stop] = out[start:stop, stop:].T
    return out


def squared_norms(counts: WordCounts) -> np.ndarray:
    """The sum of squared counts of every row."""
    rows = np.repeat(np.arange(len(counts.indptr) - 1), np.diff(counts.indptr))
    return np.bincount(rows, counts.data**2, minlength=len(counts.indptr) - 1)
