"""Quotes of a text table: the proof that all of them are in their places, and those that are not.

A quote has its place at the beginning and the end of a value, and doubled inside a value that begins and ends so.
Readers differ in what they make of others: `"1"2` is 12 to one and an error to another.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

import numpy as np


class QuoteProof:
    """Proves from the bytes of a table, block by block, that every quote is in its place.

    Count the quotes from 0. All are in their places if and only if each even one follows a delimiter, a line break, a
    quote or nothing, each odd one precedes a delimiter, a line break, a quote or nothing, and their number is even.
    """

    def __init__(self, delimiter: str, quote: str):
        self.holds = True
        self._quote = quote.encode()
        self._neighbors = np.zeros(256, dtype=bool)
        self._neighbors[list(b"\r\n" + delimiter.encode() + self._quote)] = True
        self._count, self._last, self._follows = 0, ord("\n"), False
        self._begun = False

    def update(self, data: bytes) -> None:
        """Continue with the next bytes of the file."""
        if not (self._quote and data and self.holds):
            return
        if not self._begun:
            data, self._begun = data.removeprefix(codecs.BOM_UTF8), True
        if self._follows and data:  # the last byte of the block before was an odd quote
            self.holds, self._follows = bool(self._neighbors[data[0]]), False
        if self._quote in data:
            self._check(np.frombuffer(data, np.uint8))
        self._last = data[-1] if data else self._last

    def _check(self, data: np.ndarray) -> None:
        at = np.flatnonzero(data == self._quote[0])
        odd = self._count % 2
        opening, closing = at[odd::2], at[1 - odd :: 2]
        self._count += len(at)
        if len(opening) and opening[0] == 0:
            self.holds = self.holds and bool(self._neighbors[self._last])
            opening = opening[1:]
        if len(closing) and closing[-1] == len(data) - 1:
            self._follows, closing = True, closing[:-1]
        well_placed = self._neighbors[data[opening - 1]].all() and self._neighbors[data[closing + 1]].all()
        self.holds = self.holds and bool(well_placed)

    def finish(self) -> bool:
        """Whether every quote of the whole file is in its place."""
        return self.holds and self._count % 2 == 0


class StrayQuotes:
    """Finds quotes inside values that do not begin with one, in records that `csv.reader` accepts."""

    def __init__(self, delimiter: str, quote: str, trim: bool):
        self._quote = quote
        end, mark, blanks = re.escape(delimiter), re.escape(quote), " *" if trim else ""
        quoted = f"{blanks}{mark}(?:[^{mark}]++|{mark}{mark})*+{mark}"
        self._field = re.compile(f"(?:^|{end})({quoted}(?={end}|[\r\n]|$)|[^{end}\r\n]*)")
        self._opening = re.compile(f"(?:^|{end}){blanks}{mark}")
        self._blanks = blanks

    def positions(self, text: str) -> list[int]:
        """The indices of the fields of a record with a quote inside an unquoted value."""
        if not self._quote or self._quote not in text:
            return []
        fields = (match.group(1) for match in self._field.finditer(text))
        return [j for j, field in enumerate(fields) if self._quote in field and not self._begins(field)]

    def _begins(self, field: str) -> bool:
        return (field.lstrip(" ") if self._blanks else field).startswith(self._quote)

    def any_quoted(self, lines: Iterable[str]) -> bool:
        """Whether any value of a file with stray quotes is quoted as well."""
        return any(self._opening.search(line) for line in lines)
