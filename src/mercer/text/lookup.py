"""From terms to columns and back: what an output column stands for."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from mercer import _numeric
from mercer.base import seed_of
from mercer.text.analysis import packed
from mercer.text.collisions import Collisions, collisions_of, heaviest_in
from mercer.text.vocabulary import Terms, Vocabulary, joined


class TermLookup:
    """The methods of `TextFeatures` that explain its columns."""

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

    def inverse_transform(self, X) -> list[np.ndarray]:
        """The terms of each row whose entries are not zero, in the order of the columns; needs a vocabulary."""
        if self.n_buckets is not None:
            raise ValueError("Buckets do not name their terms: see `heaviest` for the terms of documents you have.")
        names = self.get_feature_names_out()
        rows = sparse.csr_matrix(X)
        return [names[np.sort(rows.indices[a:b][rows.data[a:b] != 0])] for a, b in pairwise(rows.indptr)]

    def columns_of(self, term: str, column: int = 0) -> list[int]:
        """The output columns of a term (of a text column): one, none if it is not kept, or `nonzeros` when hashing."""
        self._check_parameters()
        if self.n_buckets is None:
            check_is_fitted(self)
            bounds, data = packed([term.encode()])
            one = Terms(_numeric.term_hashes(bounds, data, 0), bounds, data, bounds[1:], bounds[1:])
            number = int(self._vocabularies[column].numbers(one)[0])
            return [] if number < 0 else [number + self._ends()[column]]
        return (self._places(*packed([term.encode()]))[0] + column * int(self.n_buckets)).tolist()

    def collisions(self, X) -> Collisions:
        """How many terms of these documents share their buckets with others; see `Collisions`."""
        tables, places = self._terms_and_places(X)
        total = np.concatenate([terms.total for terms in tables])
        return collisions_of(np.concatenate(places), total, int(self.n_buckets) * len(tables))

    def heaviest(self, X, columns, n: int = 3) -> dict[int, list[tuple[str, int]]]:
        """The terms of these documents in each of some output columns that occur most often, with how often."""
        tables, places = self._terms_and_places(X)
        m = int(self.n_buckets)
        wrong = [column for column in columns if not 0 <= column < m * len(tables)]
        if wrong:
            raise ValueError(f"columns must be among 0 .. {m * len(tables) - 1}, not {wrong[0]!r}.")
        found: dict[int, list[tuple[str, int]]] = {}
        for column in columns:
            found |= heaviest_in([column], places[column // m], tables[column // m], n)
        return found

    def _terms_and_places(self, X) -> tuple[list[Terms], list[np.ndarray]]:
        """The terms of each text column of X and the output columns of each of them."""
        self._check_parameters()
        if self.n_buckets is None:
            raise ValueError("A vocabulary has a column for each term: nothing is shared. Set n_buckets to hash.")
        counted = self._count(self._checked_X(X, reset=False))
        tables = [joined([piece.terms for piece in pieces]) for pieces in counted]
        m = int(self.n_buckets)
        return tables, [self._places(terms.bounds, terms.data) + j * m for j, terms in enumerate(tables)]

    def _places(self, bounds, data) -> np.ndarray:
        """The buckets of terms, one row for each: those of a text column by itself."""
        seed, m = seed_of(self.random_state), int(self.n_buckets)
        if self.hash == "murmur3":
            return _numeric.murmur_buckets(bounds, data, seed, m)
        return _numeric.key_buckets(_numeric.term_hashes(bounds, data, seed), int(self.nonzeros), m)[0]
