"""Chunks of documents to CSR rows, and the rows of all chunks stacked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from mercer import _numeric
from mercer._runtime.pool import for_each
from mercer.text.analysis import Analysis
from mercer.text.vocabulary import CountedRows, TermTable

_NORMS = {"l1": 1, "l2": 2}
_TERM_WEIGHTS = {"count": 0, "tfidf": 0, "binary": 1, "log": 2, "log-tfidf": 2}


class CsrRows(NamedTuple):
    """Some rows of a CSR matrix."""

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class Weights:
    """Turns term counts into weights: a weighting, the idf of each column if it uses one, and a row norm."""

    weighting: str
    idf: np.ndarray | None
    norm: str | None

    def of(self, rows: CsrRows, counted: bool = True) -> CsrRows:
        """Weight the rows in place; `counted` says that their values are still counts."""
        values = rows.values
        if counted and self.weighting == "binary":
            values.fill(1.0)
        elif counted and self.weighting in ("log", "log-tfidf"):
            np.log(values, out=values)
            values += 1.0
        if self.idf is not None:
            values *= self.idf[rows.indices]
        if self.norm is not None:
            _numeric.scale_rows(rows.indptr, values, _NORMS[self.norm])
        return rows


def inverse_document_frequency(documents: np.ndarray, n: int) -> np.ndarray:
    """Smoothed idf, 1 + log((1 + n)/(1 + df)): as if one more document contained every term."""
    return np.log((1.0 + n) / (1.0 + documents)) + 1.0


@dataclass(frozen=True)
class Counting:
    """Counts the terms of a chunk of documents."""

    analysis: Analysis

    def __call__(self, text: tuple[np.ndarray, np.ndarray]) -> CountedRows:
        indptr, codes, counts, *terms = _numeric.counted_ngrams(*self.analysis.grams(self.analysis.units(*text)))
        return CountedRows(indptr, codes, counts, TermTable(*terms))


def known_rows(rows: CountedRows, numbers: np.ndarray, weights: Weights) -> CsrRows:
    """Weighted rows of the vocabulary; `numbers` maps the terms of the chunk to its columns, -1 for none."""
    return weights.of(CsrRows(*_numeric.renumber_rows(rows.indptr, rows.codes, rows.counts, numbers)))


@dataclass(frozen=True)
class Hashing:
    """Hashes the terms of a chunk of documents into weighted rows of buckets."""

    analysis: Analysis
    weights: Weights
    seed: int
    murmur: bool
    n_buckets: int
    nonzeros: int
    signed: bool

    def __call__(self, text: tuple[np.ndarray, np.ndarray]) -> CsrRows:
        # scikit-learn's HashingVectorizer binarizes the sums per bucket, not the counts of terms.
        of_sums = self.murmur and self.weights.weighting == "binary"
        weighting = 0 if of_sums else _TERM_WEIGHTS[self.weights.weighting]
        how = (self.seed, self.murmur, self.n_buckets, self.nonzeros, self.signed, weighting)
        given = (*self.analysis.grams(self.analysis.units(*text)), *how)
        return self.weights.of(CsrRows(*_numeric.hashed_ngrams(*given)), counted=of_sums)


def stacked(chunks: Iterable[CsrRows], width: int) -> sparse.csr_matrix:
    """Stack the rows of all chunks into one CSR matrix."""
    parts = list(chunks)
    if not parts:
        return sparse.csr_matrix((0, width))
    sizes = np.concatenate([np.diff(part.indptr) for part in parts])
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    kind = np.int32 if indptr[-1] < 2**31 else np.int64
    indices, values = np.empty(indptr[-1], kind), np.empty(indptr[-1])
    ends = np.cumsum([0, *(len(part.indices) for part in parts)]).tolist()

    def copy(k: int) -> None:
        indices[ends[k] : ends[k + 1]] = parts[k].indices
        values[ends[k] : ends[k + 1]] = parts[k].values

    for_each(copy, range(len(parts)))
    matrix = sparse.csr_matrix((values, indices, indptr.astype(kind)), shape=(len(sizes), width))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def side_by_side(blocks: Iterable[sparse.csr_matrix]) -> sparse.csr_matrix:
    """Concatenate the columns of all text columns."""
    parts = list(blocks)
    return parts[0] if len(parts) == 1 else sparse.hstack(parts, format="csr")
