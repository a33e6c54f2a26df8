"""Terms, their counts in one pass, and the vocabulary that is kept of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mercer import _numeric
from mercer._runtime.pool import n_threads, ordered_map
from mercer.stats import Statistic
from mercer.text.analysis import unpacked

#: Tables of terms wait to be put together until so many terms are in them, twice as many as were left the last time.
_PATIENCE = 1 << 22

#: Long lists of terms are put together and sorted in parts, on all cores.
_PART = 1 << 16
_PARTS = 8

#: Shares of the terms of a table, by the upper eight bits of their hashes.
_SHARES = 256


class Terms(NamedTuple):
    """Distinct terms with the number of documents they are in and how often they occur."""

    hashes: np.ndarray
    bounds: np.ndarray
    data: np.ndarray
    documents: np.ndarray
    total: np.ndarray

    @property
    def size(self) -> int:
        return len(self.hashes)

    def at(self, rows: np.ndarray) -> Terms:
        """Some of them, in the order of `rows`."""
        bounds, data = _taken(self.bounds, self.data, rows.astype(np.int32, copy=False))
        hashes, documents, total = (np.take(array, rows) for array in (self.hashes, self.documents, self.total))
        return Terms(hashes, bounds, data, documents, total)

    def order(self, rows: np.ndarray) -> np.ndarray:
        """The numbers of some of them in the order of their code points."""
        rows, parts = rows.astype(np.int32), 1 if len(rows) < _PART else min(n_threads(), _PARTS)
        sort = partial(_numeric.sort_terms, self.bounds, self.data, rows, parts=parts)
        return np.concatenate(list(ordered_map(lambda part: sort(part=part), range(parts))))

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
    return tables[0] if len(tables) == 1 else numbered(tables)[0]


def numbered(tables: list[Terms]) -> tuple[Terms, np.ndarray]:
    """The terms of all tables, each once, and the number in it of every term of the tables.

    Tables hold their terms in shares by the upper bits of their hashes: shares are put together on all cores.
    """
    sizes = [table.size for table in tables]
    codes = np.empty(sum(sizes), np.int32)
    cuts = np.linspace(0, _SHARES, 1 + min(1 + len(codes) // _PART, _PARTS)).astype(int).tolist()
    found = list(ordered_map(lambda shares: _numeric.merge_terms(tables, codes, *shares), pairwise(cuts)))
    if len(found) > 1:
        starts = np.cumsum([0, *(len(hashes) for hashes, *_ in found)]).astype(np.int32)
        for table, own in zip(tables, np.split(codes, np.cumsum(sizes)[:-1]), strict=True):
            ends = np.searchsorted(table.hashes, np.array(cuts[1:-1], np.uint64) << np.uint64(56))
            for part, start in zip(np.split(own, ends), starts, strict=False):
                part += start
    hashes, bounds, data, documents, total = zip(*found, strict=True)
    ends = np.cumsum([0, *map(len, data)])
    places = [part[:-1] + end for part, end in zip(bounds, ends[:-1], strict=True)]
    joined = map(np.concatenate, (hashes, [*places, ends[-1:]], data, documents, total))
    return Terms(*joined), codes


def _taken(bounds: np.ndarray, data: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(bounds, data) of the terms at `rows`; long lists are copied in parts."""
    parts = np.array_split(rows, 1 + len(rows) // (1 << 18))
    found = list(ordered_map(lambda some: _numeric.take_terms(bounds, data, some), parts))
    if len(found) == 1:
        return found[0]
    lengths = np.concatenate([np.diff(places) for places, _ in found])
    places = np.concatenate([[0], np.cumsum(lengths)])
    return places, np.concatenate([text for _, text in found])


@dataclass(frozen=True)
class TermCounts(Statistic):
    """Terms of every text column with their document frequencies; `finish` gives one `Terms` per column.

    `count(documents)` turns a block into a list of `Rows` for each column. Tables are put together when enough
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
        columns = self.count(block.X)
        tables = tuple(tuple(piece.terms for piece in pieces) for pieces in columns)
        return replace(self, n=len(block), tables=tables, settled=0)._settle()

    def _merge(self, other):
        tables = tuple(a + b for a, b in zip(self.tables, other.tables, strict=True))
        settled = max(self.settled, other.settled)
        return replace(self, n=self.n + other.n, tables=tables, settled=settled)._settle()

    def _settle(self):
        waiting = sum(table.size for column in self.tables for table in column)
        if waiting <= max(_PATIENCE, 2 * self.settled):
            return self
        tables = tuple((joined(list(column)),) for column in self.tables)
        return replace(self, tables=tables, settled=sum(table.size for (table,) in tables))

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
    """The kept terms of one column, in the order of the output columns: those of a table at the rows `origin`.

    They are put in that order when somebody first asks for them.
    """

    def __init__(self, table: Terms, origin: np.ndarray):
        self.origin = origin
        self._table: Terms | None = table
        self._terms: Terms | None = None
        self._slots: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.origin) if self._terms is None else self._terms.size

    @property
    def terms(self) -> Terms:
        if self._terms is None:
            self._terms, self._table = self._table.at(self.origin), None  # type: ignore[union-attr]
        return self._terms

    @property
    def documents(self) -> np.ndarray:
        """The number of documents each term is in."""
        return self.terms.documents if self._table is None else np.take(self._table.documents, self.origin)

    def numbers(self, terms: Terms) -> np.ndarray:
        """The number of each term, or -1 if it is not kept."""
        if self._slots is None:
            self._slots = _numeric.term_slots(self.terms.hashes)
        return _numeric.find_terms(self._slots, *self.terms[:3], *terms[:3])

    def __getstate__(self):
        return {"terms": self.terms, "origin": None, "_slots": None}

    def __setstate__(self, state):
        self.__dict__.update({"_terms": state["terms"], "_table": None, "origin": None, "_slots": None})


def choose(terms: Terms, n: int, min_df, max_df, max_features) -> Vocabulary:
    """The terms in at least `min_df` and at most `max_df` documents (numbers or shares of n), the most frequent."""
    least = min_df * n if isinstance(min_df, float) else min_df
    most = max_df * n if isinstance(max_df, float) else max_df
    if most < least:
        raise ValueError(
            f"max_df={max_df!r} of {n} documents is fewer than min_df={min_df!r}: no term can be in both ranges."
        )
    rows = np.flatnonzero((terms.documents >= least) & (terms.documents <= most))
    if len(rows) == 0:
        why = "min_df and max_df leave none of them" if terms.size else "the documents are empty or only stop words"
        raise ValueError(f"The vocabulary is empty: of {terms.size} terms none is kept ({why}).")
    order = terms.order(rows)
    if max_features is not None and len(order) > max_features:
        often = np.argsort(-terms.total[order], kind="stable")[:max_features]
        order = order[np.sort(often)]
    return Vocabulary(terms, order)
