"""Terms, their counts in one pass, and the vocabulary that is kept of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mercer import _numeric
from mercer.stats import Statistic
from mercer.text.analysis import unpacked

#: Tables of terms wait to be put together until so many terms are in them, twice as many as were left the last time.
_PATIENCE = 1 << 22


class Terms(NamedTuple):
    """Distinct terms with the number of documents they are in and how often they occur."""

    hashes: np.ndarray
    bounds: np.ndarray
    data: np.ndarray
    documents: np.ndarray
    total: np.ndarray

    def __len__(self) -> int:
        return len(self.hashes)

    def at(self, rows: np.ndarray) -> Terms:
        """Some of them, in the order of `rows`."""
        bounds, data = _numeric.take_terms(self.bounds, self.data, rows.astype(np.int32, copy=False))
        return Terms(self.hashes[rows], bounds, data, self.documents[rows], self.total[rows])

    def sorted(self, rows: np.ndarray) -> Terms:
        """Some of them in the order of their code points."""
        return self.at(_numeric.sort_terms(self.bounds, self.data, rows.astype(np.int32)))

    def strings(self) -> list[str]:
        return [term.decode() for term in unpacked(self.bounds, self.data)]


class Rows(NamedTuple):
    """Counts of a piece of documents by the numbers of its own terms."""

    indptr: np.ndarray
    codes: np.ndarray
    counts: np.ndarray
    terms: Terms


def joined(tables: list[Terms]) -> Terms:
    """The terms of all tables, each once, with the sums of their counts."""
    if len(tables) == 1:
        return tables[0]
    ends = np.cumsum([0, *(len(table.data) for table in tables)])
    bounds = [table.bounds[:-1] + end for table, end in zip(tables, ends[:-1], strict=True)]
    parts = [np.concatenate([getattr(table, name) for table in tables]) for name in ("data", "documents", "total")]
    hashes = np.concatenate([table.hashes for table in tables])
    everything = Terms(hashes, np.concatenate([*bounds, ends[-1:]]), *parts)
    _, first, documents, total = _numeric.distinct_terms(*everything)
    return everything.at(first)._replace(documents=documents, total=total)


@dataclass(frozen=True)
class TermCounts(Statistic):
    """Terms of every text column with their document frequencies; `finish` gives one `Terms` per column.

    `count(documents, start)` turns a block into a list of `Rows` for each column. Tables are put together when enough
    of them wait: a merge is a concatenation, and the sums are whole numbers, so the order does not matter.
    """

    parallel_inside = True

    count: Callable[..., list[list[Rows]]]
    n: int = 0
    tables: tuple[tuple[Terms, ...], ...] = ()
    settled: int = 0

    def of(self, block):
        if len(block) == 0:
            return replace(self, n=0, tables=(), settled=0)
        columns = self.count(block.X, block.start)
        tables = tuple(tuple(piece.terms for piece in pieces) for pieces in columns)
        return replace(self, n=len(block), tables=tables, settled=0)._settle()

    def _merge(self, other):
        tables = tuple(a + b for a, b in zip(self.tables, other.tables, strict=True))
        settled = max(self.settled, other.settled)
        return replace(self, n=self.n + other.n, tables=tables, settled=settled)._settle()

    def _settle(self):
        waiting = sum(len(table) for column in self.tables for table in column)
        if waiting <= max(_PATIENCE, 2 * self.settled):
            return self
        tables = tuple((joined(list(column)),) for column in self.tables)
        return replace(self, tables=tables, settled=sum(len(table) for (table,) in tables))

    def finish(self) -> tuple[int, list[Terms]]:
        return self.n, [joined(list(column)) for column in self.tables]


@dataclass(frozen=True)
class BucketCounts(Statistic):
    """The number of documents with an entry in each column of `rows_of(documents)`; `finish` gives (n, numbers)."""

    parallel_inside = True

    rows_of: Callable
    n: int = 0
    documents: np.ndarray | None = None

    def of(self, block):
        if len(block) == 0:
            return replace(self, n=0, documents=None)
        rows = self.rows_of(block.X)
        return replace(self, n=len(block), documents=np.bincount(rows.indices, minlength=rows.shape[1]))

    def _merge(self, other):
        return replace(self, n=self.n + other.n, documents=self.documents + other.documents)

    def finish(self):
        return self.n, self.documents


class Vocabulary:
    """The kept terms of one column, in the order of the output columns."""

    def __init__(self, terms: Terms):
        self.terms = terms
        self._slots: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.terms)

    def numbers(self, terms: Terms) -> np.ndarray:
        """The number of each term, or -1 if it is not kept."""
        if self._slots is None:
            self._slots = _numeric.term_slots(self.terms.hashes)
        return _numeric.find_terms(self._slots, *self.terms[:3], *terms[:3])

    def __getstate__(self):
        return {"terms": self.terms, "_slots": None}


def choose(terms: Terms, n: int, min_df, max_df, max_features) -> Vocabulary:
    """The terms in at least `min_df` and at most `max_df` documents (numbers or shares of n), the most frequent ones."""
    least = min_df * n if isinstance(min_df, float) else min_df
    most = max_df * n if isinstance(max_df, float) else max_df
    if most < least:
        raise ValueError(
            f"max_df={max_df!r} of {n} documents is fewer than min_df={min_df!r}: no term can be in both ranges."
        )
    rows = np.flatnonzero((terms.documents >= least) & (terms.documents <= most))
    if len(rows) == 0:
        why = "min_df and max_df leave none of them" if len(terms) else "the documents are empty or only stop words"
        raise ValueError(f"The vocabulary is empty: of {len(terms)} terms none is kept ({why}).")
    kept = terms.sorted(rows)
    if max_features is not None and len(kept) > max_features:
        often = np.argsort(-kept.total, kind="stable")[:max_features]
        kept = kept.at(np.sort(often))
    return Vocabulary(kept)
