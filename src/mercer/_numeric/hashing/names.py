"""Rows of named values as 64-bit keys and numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from mercer._numeric.hashing.splitmix import digest, utf8
from mercer._numeric.text.ngrams import term_hashes
from mercer._numeric.text.packed import packed

__all__ = ["hash_entries", "hash_utf8"]


def hash_utf8(data: np.ndarray, offsets: np.ndarray, seed: int = 0) -> np.ndarray:
    """`hash_strings` of strings given as UTF-8 bytes: string i is data[offsets[i]:offsets[i + 1]]."""
    text, bounds = np.asarray(data, np.uint8).tobytes(), np.asarray(offsets).tolist()
    if not bounds:
        raise ValueError("offsets must have an entry per string and one more.")
    if bounds[0] < 0 or bounds[-1] > len(text) or any(a > b for a, b in pairwise(bounds)):
        raise ValueError("offsets must rise within the data.")
    keys = [digest(text[a:b], b"", seed) for a, b in pairwise(bounds)]
    return np.array(keys, np.uint64)


def packed_names(names: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """Concatenate the UTF-8 bytes of names: (bounds, data) for `term_hashes`."""
    return packed(utf8(name) for name in names)


def hash_entries(
    rows: Sequence[Any],
    names: list[str] | None,
    seed: int,
    read: Callable[[Any, int], Iterable[tuple[str, float]]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries of rows in CSR form: keys (`term_hashes` of the names), values and row pointers.

    `read(row, i)` returns the (name, number) entries of row i without missing values and zeros. The compiled twin reads
    plain rows without calling it: dicts, lists of tokens, lists of pairs and, where `names` is a list, lists with one
    cell per name.
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
