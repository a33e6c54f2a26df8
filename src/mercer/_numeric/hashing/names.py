"""Rows of named values as 64-bit keys and numbers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from mercer._numeric.hashing.splitmix import _digest, _utf8
from mercer._numeric.text.ngrams import term_hashes

__all__ = ["hash_entries", "hash_utf8"]


def hash_utf8(data, offsets, seed=0):
    """`hash_strings` of strings given as UTF-8 bytes: string i is data[offsets[i]:offsets[i + 1]]."""
    data, offsets = np.asarray(data, np.uint8).tobytes(), np.asarray(offsets).tolist()
    if not offsets:
        raise ValueError("offsets must have an entry per string and one more.")
    if offsets[0] < 0 or offsets[-1] > len(data) or any(a > b for a, b in pairwise(offsets)):
        raise ValueError("offsets must rise within the data.")
    keys = [_digest(data[a:b], b"", seed) for a, b in pairwise(offsets)]
    return np.array(keys, np.uint64)


def packed_names(names):
    """(bounds, data) of the UTF-8 bytes of names, as `term_hashes` takes them."""
    encoded = [_utf8(name) for name in names]
    bounds = np.concatenate([[0], np.cumsum([len(name) for name in encoded], dtype=np.int64)]).astype(np.int64)
    return bounds, np.frombuffer(b"".join(encoded), np.uint8)


def hash_entries(rows, names, seed, read):
    """The entries of rows: keys (`term_hashes` of the names), values, and where the entries of each row begin and end.

    `read(row, i)` gives the (name, number) entries of row i, absent ones and zeros left out. The compiled twin reads
    plain rows itself, as that function would: dicts, lists of tokens and of pairs or, where `names` is a list, lists
    with a cell for each name.
    """
    known: dict[str, int] = {}
    codes: list[int] = []
    values: list[float] = []
    indptr = [0]
    for i, row in enumerate(rows):
        if names is not None and len(row) != len(names):
            raise ValueError("a row needs a cell for each name, in a list.")
        for name, value in read(row, i):
            codes.append(known.setdefault(name, len(known)))
            values.append(value)
        indptr.append(len(codes))
    keys = term_hashes(*packed_names(known), int(seed) & 0xFFFFFFFFFFFFFFFF)
    return keys[np.array(codes, np.intp)], np.array(values, float), np.array(indptr, np.int64)
