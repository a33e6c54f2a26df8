"""N-grams of text: documents to units, units to rows of counts, tables of terms.

Documents, units and terms are UTF-8 strings, concatenated in an array of bytes, with the offsets where they
begin. *Units* are words or characters: unit i is ``bytes[starts[i] : starts[i + 1] - gap]`` (words have a blank between
them, gap 1; characters none), run r holds the units ``runs[r] .. runs[r + 1]``, document d the runs
``docs[d] .. docs[d + 1]``. An n-gram is n consecutive units of a run, a slice of the bytes.

Terms are identified by a keyed 64-bit hash of their bytes: with the words w_1, w_2, ... of eight bytes (little endian,
zeros at the end) and the mix of `splitmix64`,

    h_0 = mix(seed) ^ (length * gamma),   h_k = mix((h_{k-1} ^ w_k) + gamma).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from mercer._numeric.hashing.splitmix import utf8
from mercer._numeric.sketch.projection import key_buckets
from mercer._numeric.text.packed import bounds_of, murmur3, packed, strings, term_hash

__all__ = [
    "counted_ngrams",
    "find_terms",
    "hashed_ngrams",
    "merge_terms",
    "murmur_buckets",
    "renumber_rows",
    "scale_rows",
    "sort_terms",
    "take_terms",
    "term_hashes",
    "term_slots",
    "text_units",
]

#: Bytes of padding after units, so that whole machine words may be read there.
PADDING = 32

Arrays = tuple[np.ndarray, ...]


def text_units(
    data: np.ndarray,
    offsets: np.ndarray,
    kind: int,
    min_length: int,
    lowercase: bool,
    flags: np.ndarray,
    lower: np.ndarray,
    stop_data: np.ndarray,
    stop_bounds: np.ndarray,
) -> Arrays:
    """Split documents into words (kind 0), characters (1) or characters within words (2): (bytes, starts, runs, docs).

    Words are maximal runs of at least `min_length` word characters, except stop words. Characters within words are
    those of each word between white space, with a blank on both sides.
    """
    stop = set(strings(stop_bounds, stop_data))
    texts = [text.decode("utf-8", "replace") for text in strings(offsets, data)]
    documents = [_runs_of(text.lower() if lowercase else text, kind, min_length, stop) for text in texts]
    return _packed_units(documents, kind)


def _runs_of(text: str, kind: int, min_length: int, stop: set[bytes]) -> list[list[bytes]]:
    """Runs of a document, each a list of units."""
    if kind == 0:
        words = (utf8(word) for word in re.findall(rf"\b\w{{{min_length},}}\b", text))
        return [[word for word in words if word not in stop]]
    if kind == 1:
        return [[utf8(character) for character in re.sub(r"\s\s+", " ", text)]]
    return [[utf8(character) for character in f" {word} "] for word in text.split()]


def _packed_units(documents: list[list[list[bytes]]], kind: int) -> Arrays:
    separator = b" " if kind == 0 else b""
    units = [unit + separator for runs in documents for run in runs for unit in run]
    starts = bounds_of(map(len, units)).astype(np.uint32)
    run_sizes = [len(run) for runs in documents for run in runs]
    packed = np.frombuffer(b"".join(units) + bytes(PADDING), np.uint8)
    return packed, starts, bounds_of(run_sizes), bounds_of(map(len, documents))


def _ngrams(
    bytes: np.ndarray,
    starts: np.ndarray,
    runs: np.ndarray,
    docs: np.ndarray,
    gap: int,
    low: int,
    high: int,
    whole: bool,
) -> Iterator[list[Any]]:
    """N-grams of each document as lists of bytes, ordered by start, then by length.

    If `whole`, a run of fewer than n units is itself an n-gram, once, after its parts.
    """
    text = np.asarray(bytes).tobytes()
    unit_starts, run_starts = np.asarray(starts).tolist(), np.asarray(runs).tolist()
    for first, last in pairwise(np.asarray(docs).tolist()):
        found: list[Any] = []
        for begin, end in pairwise(run_starts[first : last + 1]):
            size = end - begin
            if whole and 0 < size <= high:
                spans = [(i, i + n) for n in range(low, size) for i in range(begin, end - n + 1)] + [(begin, end)]
            else:
                spans = [(i, i + n) for i in range(begin, end) for n in range(low, min(high, end - i) + 1)]
            found += [text[unit_starts[a] : unit_starts[b] - gap] for a, b in spans]
        yield found


def counted_ngrams(
    bytes: np.ndarray,
    starts: np.ndarray,
    runs: np.ndarray,
    docs: np.ndarray,
    gap: int,
    low: int,
    high: int,
    whole: bool,
) -> Arrays:
    """Count the n-grams of low to high units of each document: rows of counts and a table of terms.

    (indptr, codes, counts) are the rows, entries in order of appearance; (hashes, bounds, data) are the terms, sorted
    by the upper eight bits of their hashes (their partition), then by first appearance; `documents` is the number of
    rows with each term, `total` the number of its occurrences.
    """
    numbers: dict[Any, int] = {}
    indptr: list[int] = [0]
    codes: Any = []
    counts: list[int] = []
    for found in _ngrams(bytes, starts, runs, docs, gap, low, high, whole):
        row = Counter(numbers.setdefault(ngram, len(numbers)) for ngram in found)
        codes += row.keys()
        counts += row.values()
        indptr.append(len(codes))
    hashes = term_hashes(*packed(numbers), 0)
    order = np.argsort(hashes >> np.uint64(56), kind="stable")
    codes = np.argsort(order)[np.array(codes, np.int64)] if codes else codes
    terms = list(numbers)
    bounds, data = packed(terms[i] for i in order.tolist())
    documents = np.bincount(np.array(codes, np.int64), minlength=len(numbers))
    total = np.bincount(np.array(codes, np.int64), np.array(counts, float), minlength=len(numbers)).astype(np.int64)
    rows = np.array(indptr, np.int64), np.array(codes, np.int32), np.array(counts, np.int32)
    return *rows, hashes[order], bounds, data, documents, total


def hashed_ngrams(
    bytes: np.ndarray,
    starts: np.ndarray,
    runs: np.ndarray,
    docs: np.ndarray,
    gap: int,
    low: int,
    high: int,
    whole: bool,
    seed: int,
    murmur: bool,
    n_buckets: int,
    nonzeros: int,
    with_signs: bool,
    weighting: int,
) -> Arrays:
    """Rows (indptr, indices, values) of n-grams of low to high units, hashed into `n_buckets` columns.

    The weight of a term in a document, its count (weighting 0), 1 (1) or 1 + log(count) (2), times its sign and divided
    by sqrt(nonzeros), is added to each of its buckets: those of `key_buckets` or, with `murmur`, of scikit-learn.
    """
    indptr: list[int] = [0]
    indices: list[int] = []
    values: list[float] = []
    for found in _ngrams(bytes, starts, runs, docs, gap, low, high, whole):
        row: dict[int, float] = {}
        counted = Counter(found)
        buckets, signs = _buckets(list(counted), seed, murmur, n_buckets, nonzeros, with_signs)
        for count, at, sign in zip(counted.values(), buckets.tolist(), signs.tolist(), strict=True):
            weight = (float(count), 1.0, 1.0 + float(np.log(float(count))))[weighting]
            for bucket, s in zip(at, sign, strict=True):
                row[bucket] = row.get(bucket, 0.0) + s * weight / np.sqrt(float(nonzeros))
        indices += sorted(row)
        values += [row[bucket] for bucket in sorted(row)]
        indptr.append(len(indices))
    return np.array(indptr, np.int64), np.array(indices, np.int32), np.array(values, np.float64)


def _buckets(
    terms: list[bytes], seed: int, murmur: bool, n_buckets: int, nonzeros: int, with_signs: bool
) -> tuple[np.ndarray, np.ndarray]:
    if murmur:
        hashes = _signed_murmur3(terms, seed)
        return np.abs(hashes)[:, None] % n_buckets, np.where(with_signs & (hashes < 0), -1, 1)[:, None]
    return key_buckets(term_hashes(*packed(terms), seed), nonzeros, n_buckets, with_signs)


def murmur_buckets(bounds: np.ndarray, data: np.ndarray, seed: int, n_buckets: int) -> np.ndarray:
    """Bucket of each term as in scikit-learn's hashing, |MurmurHash3| modulo n_buckets, as a column."""
    return np.abs(_signed_murmur3(strings(bounds, data), seed))[:, None] % n_buckets


def _signed_murmur3(terms: list[bytes], seed: int) -> np.ndarray:
    hashes = [murmur3(term, int(seed) & 0xFFFFFFFF) for term in terms]
    return np.array(hashes, np.uint32).view(np.int32).astype(np.int64)


def term_hashes(bounds: np.ndarray, data: np.ndarray, seed: int) -> np.ndarray:
    """Keyed 64-bit hash of each term, see the module docstring."""
    return np.array([term_hash(term, int(seed) & 0xFFFFFFFFFFFFFFFF) for term in strings(bounds, data)], np.uint64)


def merge_terms(tables: Sequence[Any], codes: np.ndarray, first: int, last: int) -> Arrays:
    """Merge tables (hashes, bounds, data, documents, total): each term once, with the sums of its counts.

    Merges the partitions `first` to `last` - 1 (the upper eight bits of hashes); tables and result are sorted by
    partition. Writes the number of each merged term, over the concatenated tables, into `codes`.
    """
    found: list = [{} for _ in range(first, last)]
    start = 0
    entries = []
    for hashes, bounds, data, documents, total in tables:
        counted = zip(hashes.tolist(), strings(bounds, data), documents.tolist(), total.tolist(), strict=True)
        for index, (hash_, term, d, t) in enumerate(counted, start):
            if first <= hash_ >> 56 < last:
                sums = found[(hash_ >> 56) - first].setdefault(term, [hash_, 0, 0])
                sums[1] += d
                sums[2] += t
                entries.append((index, term))
        start += len(hashes)
    merged = {term: sums for partition in found for term, sums in partition.items()}
    numbers = {term: number for number, term in enumerate(merged)}
    for index, term in entries:
        codes[index] = numbers[term]
    hashes, documents, total = np.array(list(merged.values()), dtype=object).reshape(-1, 3).T
    return hashes.astype(np.uint64), *packed(merged), documents.astype(np.int64), total.astype(np.int64)


def sort_terms(bounds: np.ndarray, data: np.ndarray, rows: np.ndarray, part: int, parts: int) -> np.ndarray:
    """Sort the term numbers in `rows` by the bytes of their terms, which is the order of code points.

    Returns part `part` of `parts` of the order, split by the first eight bytes at quantiles of a sample.
    """
    terms, numbers = strings(bounds, data), np.asarray(rows).tolist()
    ordered = sorted(numbers, key=terms.__getitem__)
    sample = sorted(_first_bytes(terms[row]) for row in numbers[:: len(numbers) // 1024 + 1]) if parts > 1 else []
    if sample and part > 0:
        first_key = sample[part * len(sample) // parts]
        ordered = [row for row in ordered if _first_bytes(terms[row]) >= first_key]
    if sample and part + 1 < parts:
        end = sample[(part + 1) * len(sample) // parts]
        ordered = [row for row in ordered if _first_bytes(terms[row]) < end]
    return np.array(ordered if sample or part == parts - 1 else [], np.int32)


def _first_bytes(term: bytes) -> bytes:
    return term[:8].ljust(8, bytes(1))


def take_terms(bounds: np.ndarray, data: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Select the terms with the numbers in `rows`: (bounds, data)."""
    terms = strings(bounds, data)
    return packed(terms[row] for row in np.asarray(rows).tolist())


def scale_rows(indptr: np.ndarray, values: np.ndarray, norm: int) -> None:
    """Divide each row of `values`, in place, by its l1 norm (norm 1) or its l2 norm (norm 2)."""
    for begin, end in pairwise(indptr.tolist()):
        row = values[begin:end]
        size = np.abs(row).sum() if norm == 1 else np.sqrt(np.square(row).sum())
        if size > 0:
            row /= size


def term_slots(hashes: np.ndarray) -> np.ndarray:
    """Open-addressing hash table of the terms with these hashes, for `find_terms`."""
    size = 16
    while size < 2 * len(hashes):
        size *= 2
    slots = [0] * size
    for number, term in enumerate(np.asarray(hashes).tolist()):
        at = term & (size - 1)
        while slots[at]:
            at = (at + 1) & (size - 1)
        slots[at] = (term >> 32 << 32) | (number + 1)
    return np.array(slots, np.uint64)


def find_terms(
    slots: np.ndarray,
    known_hashes: np.ndarray,
    known_bounds: np.ndarray,
    known_data: np.ndarray,
    hashes: np.ndarray,
    bounds: np.ndarray,
    data: np.ndarray,
) -> np.ndarray:
    """Index of each term among the known terms, or -1."""
    numbers = {term: number for number, term in enumerate(strings(known_bounds, known_data))}
    return np.array([numbers.get(term, -1) for term in strings(bounds, data)], np.int32)


def renumber_rows(indptr: np.ndarray, codes: np.ndarray, counts: np.ndarray, numbers: np.ndarray) -> Arrays:
    """Replace each code by its number: rows (indptr, indices, values), sorted, without entries numbered -1."""
    columns = np.asarray(numbers)[codes]
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    kept = np.flatnonzero(columns >= 0)
    kept = kept[np.lexsort((columns[kept], rows[kept]))]
    sizes = np.bincount(rows[kept], minlength=len(indptr) - 1)
    return bounds_of(sizes), columns[kept].astype(np.int32), np.asarray(counts)[kept].astype(np.float64)
