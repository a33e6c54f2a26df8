"""Pieces of documents to pieces of CSR rows, and the pieces put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from mercer import _numeric
from mercer._runtime.pool import for_each
from mercer.text.analysis import Analysis
from mercer.text.vocabulary import Rows, Terms

_NORMS = {"l1": 1, "l2": 2}
_TERM_WEIGHTS = {"count": 0, "tfidf": 0, "binary": 1, "log": 2, "log-tfidf": 2}


class Piece(NamedTuple):
    """Rows of a CSR matrix."""

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class Weights:
    """What is made of the counts of a row: a weighting, the idf of each column if it has one, and a norm."""

    weighting: str
    idf: np.ndarray | None
    norm: str | None

    def of(self, piece: Piece, counted: bool = True) -> Piece:
        """The piece weighted, in place; `counted` if its values are counts of terms still."""
        values = piece.values
        if counted and self.weighting == "binary":
            values.fill(1.0)
        elif counted and self.weighting in ("log", "log-tfidf"):
            np.log(values, out=values)
            values += 1.0
        if self.idf is not None:
            values *= self.idf[piece.indices]
        if self.norm is not None:
            _numeric.scale_rows(piece.indptr, values, _NORMS[self.norm])
        return piece


def inverse_document_frequency(documents: np.ndarray, n: int) -> np.ndarray:
    """1 + log((1 + n)/(1 + df)): as if one more document had every term, so that no term divides by zero."""
    return np.log((1.0 + n) / (1.0 + documents)) + 1.0


@dataclass(frozen=True)
class Counting:
    """Text to counts by the terms of each piece."""

    analysis: Analysis

    def __call__(self, text) -> Rows:
        indptr, codes, counts, *terms = _numeric.counted_ngrams(*self.analysis.grams(self.analysis.units(*text)))
        return Rows(indptr, codes, counts, Terms(*terms))


def known_rows(rows: Rows, numbers: np.ndarray, weights: Weights) -> Piece:
    """Counts by the terms of a piece to weighted rows by their numbers in a vocabulary, -1 for those not in it."""
    return weights.of(Piece(*_numeric.renumber_rows(rows.indptr, rows.codes, rows.counts, numbers)))


@dataclass(frozen=True)
class Hashing:
    """Text to weighted rows of buckets."""

    analysis: Analysis
    weights: Weights
    seed: int
    murmur: bool
    n_buckets: int
    nonzeros: int
    signed: bool

    def __call__(self, text) -> Piece:
        # scikit-learn's HashingVectorizer forgets counts after they are added up, not before.
        late = self.murmur and self.weights.weighting == "binary"
        weighting = 0 if late else _TERM_WEIGHTS[self.weights.weighting]
        how = (self.seed, self.murmur, self.n_buckets, self.nonzeros, self.signed, weighting)
        given = (*self.analysis.grams(self.analysis.units(*text)), *how)
        return self.weights.of(Piece(*_numeric.hashed_ngrams(*given)), counted=late)


def stacked(pieces: Iterable[Piece], width: int):
    """The pieces as one CSR matrix."""
    parts = list(pieces)
    if not parts:
        return sparse.csr_matrix((0, width))
    sizes = np.concatenate([np.diff(piece.indptr) for piece in parts])
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    kind = np.int32 if indptr[-1] < 2**31 else np.int64
    indices, values = np.empty(indptr[-1], kind), np.empty(indptr[-1])
    ends = np.cumsum([0, *(len(piece.indices) for piece in parts)]).tolist()

    def copy(k):
        indices[ends[k] : ends[k + 1]] = parts[k].indices
        values[ends[k] : ends[k + 1]] = parts[k].values

    for_each(copy, range(len(parts)))
    matrix = sparse.csr_matrix((values, indices, indptr.astype(kind)), shape=(len(sizes), width))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def side_by_side(blocks: Iterable):
    """One block of columns per text column."""
    parts = list(blocks)
    return parts[0] if len(parts) == 1 else sparse.hstack(parts, format="csr")
