"""Terms, their counts in one pass, and the vocabulary chosen from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block
from mercer._runtime.loaded import require, require_bounds, require_indices, require_vectors
from mercer._runtime.pool import n_threads, ordered_map
from mercer.stats import Statistic
from mercer.text.analysis import unpacked

#: Tables of terms are merged once they hold this many terms, and twice as many as after the last merge.
_MERGE_TERMS = 1 << 22

#: Long lists of terms are merged and sorted in up to 8 parts of at least this many terms, on all cores.
_PART_TERMS = 1 << 16
_MAX_PARTS = 8

#: Partitions of a table of terms by the upper eight bits of their hashes.
_PARTITIONS = 256


class TermTable(NamedTuple):
    """Distinct terms with their document frequencies and total counts."""

    hashes: np.ndarray
    bounds: np.ndarray
    data: np.ndarray
    documents: np.ndarray
    total: np.ndarray

    @property
    def size(self) -> int:
        return len(self.hashes)

    def at(self, rows: np.ndarray) -> TermTable:
        """The terms at `rows`, in that order."""
        bounds, data = _taken(self.bounds, self.data, rows.astype(np.int32, copy=False))
        hashes, documents, total = (np.take(array, rows) for array in (self.hashes, self.documents, self.total))
        return TermTable(hashes, bounds, data, documents, total)

    def order(self, rows: np.ndarray) -> np.ndarray:
        """Sort `rows` by the code points of their terms."""
        rows, parts = rows.astype(np.int32), 1 if len(rows) < _PART_TERMS else min(n_threads(), _MAX_PARTS)
        sort = partial(_numeric.sort_terms, self.bounds, self.data, rows, parts=parts)
        return np.concatenate(list(ordered_map(lambda part: sort(part=part), range(parts))))

    def _check_loaded(self) -> None:
        n = self.size
        require_vectors(n, "u", hashes=self.hashes)
        require_vectors(n, "iu", documents=self.documents, total=self.total)
        require_vectors(n + 1, "i", bounds=self.bounds)
        require_vectors(np.size(self.data), "u", data=self.data)
        require_bounds("the bounds of the terms", self.bounds, len(self.data))
        hashes = _numeric.term_hashes(self.bounds, self.data, 0)
        require(np.array_equal(self.hashes, hashes), "the hashes are not those of the terms")

    def strings(self) -> list[str]:
        return [term.decode() for term in unpacked(self.bounds, self.data)]


class CountedRows(NamedTuple):
    """Counts of a chunk of documents in CSR form; column codes index the terms of the chunk."""

    indptr: np.ndarray
    codes: np.ndarray
    counts: np.ndarray
    terms: TermTable


def merged(tables: list[TermTable]) -> TermTable:
    """Merge tables: each distinct term once, with the sums of its counts."""
    return tables[0] if len(tables) == 1 else numbered(tables)[0]


def numbered(tables: list[TermTable]) -> tuple[TermTable, np.ndarray]:
    """Merge tables, and return the row in the merged table of every term of every table.

    Tables are partitioned by the upper bits of the hashes; partitions are merged on all cores.
    """
    sizes = [table.size for table in tables]
    codes = np.empty(sum(sizes), np.int32)
    cuts = np.linspace(0, _PARTITIONS, 1 + min(1 + len(codes) // _PART_TERMS, _MAX_PARTS)).astype(int).tolist()
    found = list(ordered_map(lambda span: _numeric.merge_terms(tables, codes, *span), pairwise(cuts)))
    if len(found) > 1:
        starts = np.cumsum([0, *(len(hashes) for hashes, *_ in found)]).astype(np.int32)
        for table, own in zip(tables, np.split(codes, np.cumsum(sizes)[:-1]), strict=True):
            ends = np.searchsorted(table.hashes, np.array(cuts[1:-1], np.uint64) << np.uint64(56))
            for part, start in zip(np.split(own, ends), starts, strict=False):
                part += start
    hashes, bounds, data, documents, total = zip(*found, strict=True)
    ends = np.cumsum([0, *map(len, data)])
    begins = [part[:-1] + end for part, end in zip(bounds, ends[:-1], strict=True)]
    parts = (hashes, [*begins, ends[-1:]], data, documents, total)
    return TermTable(*(np.concatenate(part) for part in parts)), codes


def _taken(bounds: np.ndarray, data: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(bounds, data) of the terms at `rows`, copied in parts if there are many."""
    parts = np.array_split(rows, 1 + len(rows) // (1 << 18))
    found = list(ordered_map(lambda some: _numeric.take_terms(bounds, data, some), parts))
    if len(found) == 1:
        return found[0]
    lengths = np.concatenate([np.diff(begins) for begins, _ in found])
    return np.concatenate([[0], np.cumsum(lengths)]), np.concatenate([text for _, text in found])


@dataclass(frozen=True)
class TermCounts(Statistic):
    """Terms of every text column with their document frequencies; `finish` gives one `TermTable` per column.

    `count(documents)` turns a block into a list of `CountedRows` for each column. Merging concatenates; tables are
    consolidated once they hold many terms. The counts are whole numbers, so the order does not matter.
    """

    parallel_inside = True

    count: Callable[..., list[list[CountedRows]]]
    n: int = 0
    tables: tuple[tuple[TermTable, ...], ...] = ()
    consolidated: int = 0

    def of(self, block: Block) -> TermCounts:
        if len(block) == 0:
            return replace(self, n=0, tables=(), consolidated=0)
        columns = self.count(block.X)
        tables = tuple(tuple(chunk.terms for chunk in chunks) for chunks in columns)
        return replace(self, n=len(block), tables=tables, consolidated=0)._consolidate()

    def _merge(self, other: TermCounts) -> TermCounts:
        tables = tuple(a + b for a, b in zip(self.tables, other.tables, strict=True))
        consolidated = max(self.consolidated, other.consolidated)
        return replace(self, n=self.n + other.n, tables=tables, consolidated=consolidated)._consolidate()

    def _consolidate(self) -> TermCounts:
        n_terms = sum(table.size for column in self.tables for table in column)
        if n_terms <= max(_MERGE_TERMS, 2 * self.consolidated):
            return self
        tables = tuple((merged(list(column)),) for column in self.tables)
        return replace(self, tables=tables, consolidated=sum(table.size for (table,) in tables))

    def finish(self) -> tuple[int, list[TermTable]]:
        return self.n, [merged(list(column)) for column in self.tables]


@dataclass(frozen=True)
class BucketCounts(Statistic):
    """Document frequency of each column of `rows_of(documents)`; `finish` gives (n, frequencies)."""

    parallel_inside = True

    rows_of: Callable[..., Any]
    n: int = 0
    documents: np.ndarray | None = None

    def of(self, block: Block) -> BucketCounts:
        if len(block) == 0:
            return replace(self, n=0, documents=None)
        rows = self.rows_of(block.X)
        return replace(self, n=len(block), documents=np.bincount(rows.indices, minlength=rows.shape[1]))

    def _merge(self, other: BucketCounts) -> BucketCounts:
        return replace(self, n=self.n + other.n, documents=self.documents + other.documents)  # type: ignore[operator]

    def finish(self) -> tuple[int, np.ndarray | None]:
        return self.n, self.documents


class Vocabulary:
    """The kept terms of one column in the order of the output columns: rows `origin` of a table of terms.

    The terms are copied in that order on first use.
    """

    _rebuilt = ("_slots",)

    def __init__(self, table: TermTable, origin: np.ndarray):
        self.origin = origin
        self._table: TermTable | None = table
        self._terms: TermTable | None = None
        self._slots: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.origin) if self._terms is None else self._terms.size

    @property
    def terms(self) -> TermTable:
        if self._terms is None:
            self._terms, self._table = self._table.at(self.origin), None  # type: ignore[union-attr]
        return self._terms

    @property
    def documents(self) -> np.ndarray:
        """The document frequency of each term."""
        return self.terms.documents if self._table is None else np.take(self._table.documents, self.origin)

    def numbers(self, terms: TermTable) -> np.ndarray:
        """The column of each term, or -1 if it is not kept."""
        if self._slots is None:
            self._slots = _numeric.term_slots(self.terms.hashes)
        return _numeric.find_terms(self._slots, *self.terms[:3], *terms[:3])

    def _check_loaded(self) -> None:
        if self._terms is None:
            require(isinstance(self._table, TermTable), "the vocabulary has no terms")
            require_vectors(np.size(self.origin), "iu", origin=self.origin)
            require_indices("origin", self.origin, self._table.size)  # type: ignore[union-attr]
        else:
            require(isinstance(self._terms, TermTable), "the vocabulary has no terms")

    def __getstate__(self) -> dict[str, Any]:
        return {"terms": self.terms, "origin": None, "_slots": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"_terms": state["terms"], "_table": None, "origin": None, "_slots": None})


def choose(terms: TermTable, n: int, min_df: float, max_df: float, max_features: int | None) -> Vocabulary:
    """The `max_features` most frequent terms with document frequencies from `min_df` to `max_df` (floats times n)."""
    low = min_df * n if isinstance(min_df, float) else min_df
    high = max_df * n if isinstance(max_df, float) else max_df
    if high < low:
        raise ValueError(f"max_df={max_df!r} of {n} documents is fewer than min_df={min_df!r}, which leaves no terms.")
    rows = np.flatnonzero((terms.documents >= low) & (terms.documents <= high))
    if len(rows) == 0:
        why = (
            f"min_df and max_df exclude all {terms.size} terms"
            if terms.size
            else "documents have no terms but stop words"
        )
        raise ValueError(f"The vocabulary is empty: {why}.")
    order = terms.order(rows)
    if max_features is not None and len(order) > max_features:
        frequent = np.argsort(-terms.total[order], kind="stable")[:max_features]
        order = order[np.sort(frequent)]
    return Vocabulary(terms, order)
