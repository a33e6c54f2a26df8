"""From terms to output columns and back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from mercer import _numeric
from mercer.base import seed_of
from mercer.text.analysis import packed
from mercer.text.collisions import Collisions, collisions_of, most_frequent_in
from mercer.text.vocabulary import TermTable, Vocabulary, merged


class TermLookup:
    """Methods of `TextFeatures` that explain its output columns."""

    n_buckets: Any
    nonzeros: Any
    hash: Any
    random_state: Any
    _vocabularies: list[Vocabulary]
    _check_parameters: Any
    _checked_X: Any
    _count: Any
    _ends: Any
    get_feature_names_out: Any

    def inverse_transform(self, X: Any) -> list[np.ndarray]:
        """Return the terms with nonzero entries in each row, in column order; needs a vocabulary."""
        if self.n_buckets is not None:
            raise ValueError("Hashing cannot be inverted. `top_terms` lists the terms of given documents per bucket.")
        names = self.get_feature_names_out()
        rows = sparse.csr_matrix(X)
        return [names[np.sort(rows.indices[a:b][rows.data[a:b] != 0])] for a, b in pairwise(rows.indptr)]

    def columns_of(self, term: str, column: int = 0) -> list[int]:
        """Return the output columns of a term of text column `column`: one or none; `nonzeros` of them if hashed."""
        self._check_parameters()
        if self.n_buckets is None:
            check_is_fitted(self)
            bounds, data = packed([term.encode()])
            one = TermTable(_numeric.term_hashes(bounds, data, 0), bounds, data, bounds[1:], bounds[1:])
            number = int(self._vocabularies[column].numbers(one)[0])
            return [] if number < 0 else [number + self._ends()[column]]
        return (self._buckets(*packed([term.encode()]))[0] + column * int(self.n_buckets)).tolist()

    def collisions(self, X: Any) -> Collisions:
        """Count the terms of these documents that share their buckets with others; see `Collisions`."""
        tables, buckets = self._hashed_terms(X)
        total = np.concatenate([terms.total for terms in tables])
        return collisions_of(np.concatenate(buckets), total, int(self.n_buckets) * len(tables))

    def top_terms(self, X: Any, columns: Sequence[int], n: int = 3) -> dict[int, list[tuple[str, int]]]:
        """Return the n most frequent terms of these documents in each given output column, with their counts."""
        tables, buckets = self._hashed_terms(X)
        m = int(self.n_buckets)
        wrong = [column for column in columns if not 0 <= column < m * len(tables)]
        if wrong:
            raise ValueError(f"columns must be among 0 .. {m * len(tables) - 1}, not {wrong[0]!r}.")
        found: dict[int, list[tuple[str, int]]] = {}
        for column in columns:
            found |= most_frequent_in([column], buckets[column // m], tables[column // m], n)
        return found

    def _hashed_terms(self, X: Any) -> tuple[list[TermTable], list[np.ndarray]]:
        """The terms of each text column of X and their output columns."""
        self._check_parameters()
        if self.n_buckets is None:
            raise ValueError("With a vocabulary each term has its own column. Set n_buckets to hash.")
        counted = self._count(self._checked_X(X, reset=False))
        tables = [merged([chunk.terms for chunk in chunks]) for chunks in counted]
        m = int(self.n_buckets)
        return tables, [self._buckets(terms.bounds, terms.data) + j * m for j, terms in enumerate(tables)]

    def _buckets(self, bounds: np.ndarray, data: np.ndarray) -> np.ndarray:
        """The buckets of terms within one text column, one row per term."""
        seed, m = seed_of(self.random_state), int(self.n_buckets)
        if self.hash == "murmur3":
            return _numeric.murmur_buckets(bounds, data, seed, m)
        return _numeric.key_buckets(_numeric.term_hashes(bounds, data, seed), int(self.nonzeros), m)[0]
