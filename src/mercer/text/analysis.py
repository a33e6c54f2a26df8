"""Tokenization: the units, words or characters, that n-grams are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mercer import _numeric
from mercer._numeric.text.ngrams import PADDING
from mercer._numeric.text.unicode import unicode_tables
from mercer.text.stemming import Stems, stems

_KINDS = {"word": 0, "char": 1, "char_wb": 2}

#: Patterns whose tokens are runs of word characters, with the minimum length of a run.
_RUNS = {None: 2, r"(?u)\b\w\w+\b": 2, r"\b\w\w+\b": 2, r"\w\w+": 2, r"(?u)\b\w+\b": 1, r"\b\w+\b": 1, r"\w+": 1}


class Units(NamedTuple):
    """Words or characters of documents; see `mercer._numeric.text.ngrams`."""

    bytes: np.ndarray
    starts: np.ndarray
    runs: np.ndarray
    docs: np.ndarray


@dataclass(frozen=True)
class Analysis:
    """The analyzer: splits documents into units and states which n-grams of them count."""

    analyzer: str
    low: int
    high: int
    lowercase: bool = True
    token_pattern: str | None = None
    stop: frozenset[str] = frozenset()
    stem: str | None = None
    _packed_stop: tuple = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        words = sorted(word.encode() for word in self.stop)
        object.__setattr__(self, "_packed_stop", packed(words))

    def units(self, data: np.ndarray, offsets: np.ndarray) -> Units:
        """Split the documents between `offsets` into units."""
        if self.analyzer == "word" and self.token_pattern not in _RUNS:
            units = self._matched(data, offsets)
        else:
            bounds, stop = self._packed_stop
            min_length = _RUNS[self.token_pattern] if self.analyzer == "word" else 1
            kind, tables = _KINDS[self.analyzer], unicode_tables()
            how = (kind, min_length, bool(self.lowercase), *tables, stop, bounds)
            units = Units(*_numeric.text_units(data, offsets, *how))
        return units if self.stem is None else _stemmed(units, stems(self.stem))

    def grams(self, units: Units) -> tuple:
        """Arguments of the compiled n-gram functions."""
        return *units, int(self.analyzer == "word"), self.low, self.high, self.analyzer == "char_wb"

    def _matched(self, data: np.ndarray, offsets: np.ndarray) -> Units:
        """Find words with the user's regular expression."""
        find, sizes, words = re.compile(self.token_pattern or "").findall, [], []
        for begin, end in pairwise(offsets.tolist()):
            text = data[begin:end].tobytes().decode("utf-8", "replace")
            found = [word for word in find(text.lower() if self.lowercase else text) if word not in self.stop]
            words += [word.encode() for word in found]
            sizes.append(len(found))
        return _units_of_words(*packed(words), np.arange(len(words)), _bounds(sizes))


def _stemmed(units: Units, known: Stems) -> Units:
    """Replace every word by its stem; each distinct word is stemmed once."""
    positions = np.arange(len(units.starts), dtype=np.int64)
    counted = _numeric.counted_ngrams(units.bytes, units.starts, positions, positions, 1, 1, 1, False)
    codes, bounds, data = counted[1], counted[4], counted[5]
    words = [word.decode() for word in unpacked(bounds, data)]
    return _units_of_words(*packed([stem.encode() for stem in known.of(words)]), codes, units.runs)


def _units_of_words(bounds: np.ndarray, data: np.ndarray, codes: np.ndarray, runs: np.ndarray) -> Units:
    """Units of documents given as sequences of word codes; word i is data[bounds[i]:bounds[i + 1]]."""
    lengths = np.diff(bounds)[codes]
    starts = _bounds(lengths + 1)
    out = np.full(starts[-1] + PADDING, ord(" "), dtype=np.uint8)
    out[-PADDING:] = 0
    within = np.arange(lengths.sum()) - np.repeat(_bounds(lengths)[:-1], lengths)
    out[np.repeat(starts[:-1], lengths) + within] = data[np.repeat(bounds[:-1][codes], lengths) + within]
    return Units(out, starts.astype(np.uint32), runs, np.arange(len(runs), dtype=np.int64))


def packed(terms: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """(bounds, data) of byte strings: string i is data[bounds[i]:bounds[i + 1]]."""
    return _bounds([len(term) for term in terms]), np.frombuffer(b"".join(terms), dtype=np.uint8)


def unpacked(bounds: np.ndarray, data: np.ndarray) -> list[bytes]:
    """The byte strings of `packed`."""
    text = data.tobytes()
    return [text[begin:end] for begin, end in pairwise(bounds.tolist())]


def _bounds(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).astype(np.int64)
