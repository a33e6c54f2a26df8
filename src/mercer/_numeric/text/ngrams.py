"""n-grams of text: documents to units, units to rows of counts, lists of terms.

Documents, units and terms are strings of UTF-8 one after the other in an array of bytes, with the places where they
begin. *Units* are words or characters: unit i is ``bytes[starts[i] : starts[i + 1] - gap]`` (words have a blank between
them, gap 1; characters none), run r holds the units ``runs[r] .. runs[r + 1]``, document d the runs
``docs[d] .. docs[d + 1]``. An n-gram is n consecutive units of a run, a slice of the bytes.

Terms are numbered by a keyed hash of their bytes, 64 bits: with the words w_1, w_2, ... of eight bytes (little endian,
zeros at the end) and the mix of `splitmix64`,

    h_0 = mix(seed) ^ (length * gamma),   h_k = mix((h_{k-1} ^ w_k) + gamma).
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import numpy as np

from mercer._numeric.sketch.projection import key_buckets

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

#: Bytes to spare after units, so that whole words of memory may be read there.
PADDING = 32

_MASK = 0xFFFFFFFFFFFFFFFF
_GAMMA = 0x9E3779B97F4A7C15


def text_units(data, offsets, kind, min_length, lowercase, flags, lower, stop_data, stop_bounds):
    """(bytes, starts, runs, docs) of documents: their words (kind 0), characters (1) or characters within words (2).

    Words are the longest runs of word characters, at min_length `min_length` of them, without the stop words. Characters within
    words have a blank on both sides of each word between white space.
    """
    stop = set(_strings(stop_bounds, stop_data))
    texts = [text.decode("utf-8", "replace") for text in _strings(offsets, data)]
    documents = [_runs_of(text.lower() if lowercase else text, kind, min_length, stop) for text in texts]
    return _packed_units(documents, kind)


def _runs_of(text, kind, min_length, stop):
    """The runs of a document, each a list of units."""
    if kind == 0:
        words = (word.encode("utf-8", "surrogatepass") for word in re.findall(rf"\b\w{{{min_length},}}\b", text))
        return [[word for word in words if word not in stop]]
    if kind == 1:
        return [[_utf8(character) for character in re.sub(r"\s\s+", " ", text)]]
    return [[_utf8(character) for character in f" {word} "] for word in text.split()]


def _packed_units(documents, kind):
    separator = b" " if kind == 0 else b""
    units = [unit + separator for runs in documents for run in runs for unit in run]
    starts = _bounds(map(len, units)).astype(np.uint32)
    run_sizes = [len(run) for runs in documents for run in runs]
    packed = np.frombuffer(b"".join(units) + bytes(PADDING), np.uint8)
    return packed, starts, _bounds(run_sizes), _bounds(map(len, documents))


def _ngrams(bytes, starts, runs, docs, gap, low, high, whole):
    """The n-grams of each document as lists of bytes, in the order of where they begin, the shorter first.

    If `whole`, a run of fewer than n units is an n-gram itself, once; it comes after its parts.
    """
    text = np.asarray(bytes).tobytes()
    starts, runs = np.asarray(starts).tolist(), np.asarray(runs).tolist()
    for first, last in pairwise(np.asarray(docs).tolist()):
        found = []
        for begin, end in pairwise(runs[first : last + 1]):
            size = end - begin
            if whole and 0 < size <= high:
                places = [(i, i + n) for n in range(low, size) for i in range(begin, end - n + 1)] + [(begin, end)]
            else:
                places = [(i, i + n) for i in range(begin, end) for n in range(low, min(high, end - i) + 1)]
            found += [text[starts[a] : starts[b] - gap] for a, b in places]
        yield found


def counted_ngrams(bytes, starts, runs, docs, gap, low, high, whole):
    """Rows of counts and the terms they count.

    (indptr, codes, counts) are the rows, by the number of each n-gram of low to high units; (hashes, bounds, data) the
    terms, in the order of the upper eight bits of their hashes (their share), then of first appearance; `documents`
    says how many rows have each term, `total` how often it occurs. Entries of a row come in the order of appearance.
    """
    numbers: dict = {}
    indptr, codes, counts = [0], [], []
    for found in _ngrams(bytes, starts, runs, docs, gap, low, high, whole):
        row = Counter(numbers.setdefault(ngram, len(numbers)) for ngram in found)
        codes += row.keys()
        counts += row.values()
        indptr.append(len(codes))
    hashes = term_hashes(*_packed(numbers), 0)
    order = np.argsort(hashes >> np.uint64(56), kind="stable")
    codes = np.argsort(order)[np.array(codes, np.int64)] if codes else codes
    terms = list(numbers)
    bounds, data = _packed(terms[i] for i in order.tolist())
    documents = np.bincount(np.array(codes, np.int64), minlength=len(numbers))
    total = np.bincount(np.array(codes, np.int64), np.array(counts, float), minlength=len(numbers)).astype(np.int64)
    rows = np.array(indptr, np.int64), np.array(codes, np.int32), np.array(counts, np.int32)
    return *rows, hashes[order], bounds, data, documents, total


def hashed_ngrams(
    bytes, starts, runs, docs, gap, low, high, whole, seed, murmur, n_buckets, nonzeros, with_signs, weighting
):
    """Rows (indptr, indices, values) of n-grams of low to high units, hashed into `n_buckets` columns.

    A term's weight in a document, its count (weighting 0), 1 (1) or 1 + log(count) (2), is added with its sign and
    divided by sqrt(nonzeros) at each of its places, which are those of `key_buckets`, or with `murmur` scikit-learn's.
    """
    indptr, indices, values = [0], [], []
    for found in _ngrams(bytes, starts, runs, docs, gap, low, high, whole):
        row: dict = {}
        counted = Counter(found)
        places, signs = _places(list(counted), seed, murmur, n_buckets, nonzeros, with_signs)
        for count, at, sign in zip(counted.values(), places.tolist(), signs.tolist(), strict=True):
            weight = (float(count), 1.0, 1.0 + float(np.log(float(count))))[weighting]
            for place, s in zip(at, sign, strict=True):
                row[place] = row.get(place, 0.0) + s * weight / np.sqrt(float(nonzeros))
        indices += sorted(row)
        values += [row[place] for place in sorted(row)]
        indptr.append(len(indices))
    return np.array(indptr, np.int64), np.array(indices, np.int32), np.array(values, np.float64)


def _places(terms, seed, murmur, n_buckets, nonzeros, with_signs):
    if murmur:
        hashes = _signed_murmur3(terms, seed)
        return np.abs(hashes)[:, None] % n_buckets, np.where(with_signs & (hashes < 0), -1, 1)[:, None]
    return key_buckets(term_hashes(*_packed(terms), seed), nonzeros, n_buckets, with_signs)


def murmur_buckets(bounds, data, seed, n_buckets):
    """The bucket of each term under scikit-learn's hash, one row for each: |MurmurHash3| modulo n_buckets."""
    return np.abs(_signed_murmur3(_strings(bounds, data), seed))[:, None] % n_buckets


def _signed_murmur3(terms, seed):
    hashes = [_murmur3(term, int(seed) & 0xFFFFFFFF) for term in terms]
    return np.array(hashes, np.uint32).view(np.int32).astype(np.int64)


def term_hashes(bounds, data, seed):
    """The keyed 64-bit hash of each term, see the head of this file."""
    return np.array([_hash(term, int(seed) & _MASK) for term in _strings(bounds, data)], np.uint64)


def merge_terms(tables, codes, first, last):
    """The terms of tables (hashes, bounds, data, documents, total), each once with the sums of its counts, as a table.

    Only those of the shares `first` up to `last`, the upper eight bits of their hashes; tables and result are in the
    order of shares. The number of each such term of the tables, one table after the other, is written into `codes`.
    """
    found: list = [{} for _ in range(first, last)]
    at = 0
    places = []
    for hashes, bounds, data, documents, total in tables:
        counted = zip(hashes.tolist(), _strings(bounds, data), documents.tolist(), total.tolist(), strict=True)
        for place, (hash_, term, d, t) in enumerate(counted, at):
            if first <= hash_ >> 56 < last:
                sums = found[(hash_ >> 56) - first].setdefault(term, [hash_, 0, 0])
                sums[1] += d
                sums[2] += t
                places.append((place, term))
        at += len(hashes)
    merged = {term: sums for share in found for term, sums in share.items()}
    numbers = {term: number for number, term in enumerate(merged)}
    for place, term in places:
        codes[place] = numbers[term]
    hashes, documents, total = np.array(list(merged.values()), dtype=object).reshape(-1, 3).T
    return hashes.astype(np.uint64), *_packed(merged), documents.astype(np.int64), total.astype(np.int64)


def sort_terms(bounds, data, rows, part, parts):
    """The numbers in `rows` in the order of the bytes of their terms, which is that of their code points.

    Only one of `parts` parts of the order, split by the first eight bytes at quantiles of a sample.
    """
    terms, rows = _strings(bounds, data), np.asarray(rows).tolist()
    ordered = sorted(rows, key=terms.__getitem__)
    sample = sorted(_first_bytes(terms[row]) for row in rows[:: len(rows) // 1024 + 1]) if parts > 1 else []
    if sample and part > 0:
        first_key = sample[part * len(sample) // parts]
        ordered = [row for row in ordered if _first_bytes(terms[row]) >= first_key]
    if sample and part + 1 < parts:
        end = sample[(part + 1) * len(sample) // parts]
        ordered = [row for row in ordered if _first_bytes(terms[row]) < end]
    return np.array(ordered if sample or part == parts - 1 else [], np.int32)


def _first_bytes(term):
    return term[:8].ljust(8, bytes(1))


def take_terms(bounds, data, rows):
    """(bounds, data) of the terms with the numbers in `rows`."""
    terms = _strings(bounds, data)
    return _packed(terms[row] for row in np.asarray(rows).tolist())


def scale_rows(indptr, values, norm):
    """Divide each row of `values`, in place, by the sum of its absolute values (norm 1) or its length (norm 2)."""
    for begin, end in pairwise(indptr.tolist()):
        row = values[begin:end]
        size = np.abs(row).sum() if norm == 1 else np.sqrt(np.square(row).sum())
        if size > 0:
            row /= size


def term_slots(hashes):
    """An open-addressing table of the terms with these hashes, for `find_terms`."""
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


def find_terms(slots, known_hashes, known_bounds, known_data, hashes, bounds, data):
    """The number of each term among the known ones, or -1."""
    numbers = {term: number for number, term in enumerate(_strings(known_bounds, known_data))}
    return np.array([numbers.get(term, -1) for term in _strings(bounds, data)], np.int32)


def renumber_rows(indptr, codes, counts, numbers):
    """Rows (indptr, indices, values) with each code replaced by its number, in rising order; -1 is left out."""
    columns = np.asarray(numbers)[codes]
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    kept = np.flatnonzero(columns >= 0)
    kept = kept[np.lexsort((columns[kept], rows[kept]))]
    sizes = np.bincount(rows[kept], minlength=len(indptr) - 1)
    return _bounds(sizes), columns[kept].astype(np.int32), np.asarray(counts)[kept].astype(np.float64)


def _bounds(sizes):
    return np.concatenate([[0], np.cumsum(np.fromiter(sizes, np.int64))]).astype(np.int64)


def _packed(terms):
    """(bounds, data) of byte strings."""
    terms = list(terms)
    return _bounds(map(len, terms)), np.frombuffer(b"".join(terms), np.uint8)


def _strings(bounds, data):
    text, bounds = np.asarray(data).tobytes(), np.asarray(bounds).tolist()
    return [text[a:b] for a, b in pairwise(bounds)]


def _utf8(character):
    return character.encode("utf-8", "surrogatepass")


def _mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK
    return z ^ (z >> 31)


def _hash(term, seed):
    h = _mix(seed) ^ (len(term) * _GAMMA & _MASK)
    for start in range(0, max(len(term), 1), 8):
        h = _mix(((h ^ int.from_bytes(term[start : start + 8], "little")) + _GAMMA) & _MASK)
    return h


def _murmur3(term, seed):
    """MurmurHash3, 32 bits (A. Appleby, public domain)."""
    mask, h = 0xFFFFFFFF, seed

    def rotated(x, by):
        return ((x << by) | (x >> (32 - by))) & mask

    for start in range(0, len(term), 4):
        piece = term[start : start + 4]
        h ^= rotated(int.from_bytes(piece, "little") * 0xCC9E2D51 & mask, 15) * 0x1B873593 & mask
        if len(piece) == 4:
            h = (rotated(h, 13) * 5 + 0xE6546B64) & mask
    h ^= len(term)
    h = (h ^ (h >> 16)) * 0x85EBCA6B & mask
    h = (h ^ (h >> 13)) * 0xC2B2AE35 & mask
    return h ^ (h >> 16)
