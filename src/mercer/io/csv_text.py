"""A text table as batches of strings, by a fast reader for clean files and a careful one for others.

The fast reader is Arrow's. It takes text after a closing quote for a part of the value, silently closes an open quote
at the end of the file, and counts rows but not lines. So `QuoteProof` checks the bytes that it reads, and at the first
irregularity (a quote out of place, a row of another length, an invalid byte) the file is read again by
`careful_batches`, which tracks the line of each row.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import pyarrow as pa

from mercer._runtime.errors import DataError, Message, Setting
from mercer.io.checks.quotes import QuoteProof, StrayQuotes
from mercer.io.dialect import Dialect, open_bytes, quoting

_BLOCK_BYTES = 1 << 22
_BATCH_ROWS = 1 << 14
_MAX_VALUE = 1 << 24  # characters


class Unclean(Exception):
    """The file needs the careful reader."""


class NotUtf8(Exception):
    """A byte beyond the sample is not valid UTF-8."""


class Batch(NamedTuple):
    """Columns of strings, and for each row the line of the file on which it begins and its number in the input.

    The fast reader knows neither of them (None).
    """

    columns: list[pa.Array]
    lines: list[int] | None = None
    rows: list[int] | None = None


@dataclass
class BadRows:
    """The policy for bad rows, and the bad rows found so far, by their numbers in the input."""

    policy: str = "error"
    rejected: dict[int, tuple[str, Any, str, str]] = field(default_factory=dict)  # file, line, reason, text
    repaired: dict[int, tuple[str, int]] = field(default_factory=dict)
    literal: list[tuple[str, int]] = field(default_factory=list)  # rows whose quotes are part of the values
    n_rows: int = 0  # read so far, of all files

    def mend(self, shown: str, line: int, row: int) -> None:
        """Record a row with values that were replaced by missing ones."""
        self.repaired[row] = shown, line

    def skip(self, shown: str, line: Any, row: int, reason: str, text: str) -> None:
        """Record a row that is left out, with the first reason that was found."""
        self.rejected.setdefault(row, (shown, line, reason, text))

    def row(self, shown: str, line: int, row: list[str], width: int, text: str) -> list[str] | None:
        """The row padded or cut to `width` fields, or None if it is skipped."""
        reason = f"{len(row)} fields where there are {width} columns"
        if self.policy == "null":
            self.mend(shown, line, self.n_rows)
            return (row + [""] * width)[:width]
        if self.policy == "skip":
            self.skip(shown, line, self.n_rows, reason, text)
            return None
        remedy = Message(
            *("Correct that line, or read with ", Setting("on_bad_rows", "skip"), " (rejected lines go to a file) or "),
            *(Setting("on_bad_rows", "null"), " (short rows are filled with missing values, long ones cut)."),
        )
        raise DataError(f"{shown}, line {line}: {reason}: {_short(text)}.", remedy=remedy, file=shown, line=line)

    def quotes(
        self, shown: str, line: int, row: list[str], found: list[int], text: str, header: bool, quote: str
    ) -> list[str] | None:
        """The row without the values at `found`, which hold a stray quote, or None if it is skipped."""
        reason = f"a quote inside a value that is not quoted, {_short(row[found[0]])}"
        if self.policy == "null" and not header:
            self.mend(shown, line, self.n_rows)
            return ["" if j in found else value for j, value in enumerate(row)]
        if self.policy == "skip" and not header:
            self.skip(shown, line, self.n_rows, reason, text)
            return None
        problem = f"{shown}, line {line}: {reason}, in a file with quoted values: {_short(text)}."
        remedy = Message(
            f"Quote the value and double the quotes inside it ({2 * quote}), or say that nothing is quoted with ",
            *(Setting("quote", ""), ", or read with ", Setting("on_bad_rows", "skip", "null"), "."),
        )
        raise DataError(problem, remedy=remedy, file=shown, line=line)


def first_row(path: str, dialect: Dialect, shown: str) -> list[str]:
    """The fields of the first row."""
    with _text(path, dialect) as file:
        return next(row for _, row, _ in _records(file, dialect, shown) if row)


def fast_batches(path: str, dialect: Dialect, width: int) -> Iterator[Batch]:
    """Batches of strings by Arrow; raises Unclean at the first irregularity."""
    names = [str(j) for j in range(width)]
    skip = dialect.header
    try:
        with open_bytes(path, dialect.compressed) as file:
            checked = _CheckedReader(file, dialect)
            for batch in _arrow_reader(checked, dialect, names):
                columns = [column[1:] if skip else column for column in batch.columns]
                skip = skip and len(batch) == 0
                if not checked.proof.holds:
                    raise Unclean
                yield Batch(columns)
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):
            return
        raise (NotUtf8 if "invalid UTF8" in str(error) else Unclean) from error
    except UnicodeDecodeError as error:
        raise NotUtf8 from error
    if not checked.proof.finish():
        raise Unclean


def _arrow_reader(file: Any, dialect: Dialect, names: list[str]) -> Any:
    import pyarrow.csv as arrow_csv

    return arrow_csv.open_csv(
        file,
        arrow_csv.ReadOptions(
            use_threads=False, block_size=_BLOCK_BYTES, column_names=names, skip_rows=dialect.n_comments
        ),
        arrow_csv.ParseOptions(delimiter=dialect.delimiter, quote_char=dialect.quote or False, newlines_in_values=True),
        arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
    )


class _CheckedReader(io.RawIOBase):
    """The bytes of a file as UTF-8, whose quotes are checked as they are read."""

    def __init__(self, file: Any, dialect: Dialect):
        self.file, self.proof = file, QuoteProof(dialect.delimiter, dialect.quote)
        is_utf8 = dialect.encoding in ("utf-8", "utf-8-sig")
        self.decoder = None if is_utf8 else codecs.getincrementaldecoder(dialect.encoding)()
        self.pending = b""

    def read(self, size: int = -1) -> bytes:
        size = _BLOCK_BYTES if size < 0 else size
        data = self.file.read(size) if self.decoder is None else self._transcoded(size)
        self.proof.update(data)
        return data

    def _transcoded(self, size: int) -> bytes:
        data = None
        while not self.pending and data != b"":
            data = self.file.read(size)
            self.pending = self.decoder.decode(data, final=not data).encode()  # type: ignore[union-attr]
        taken, self.pending = self.pending[:size], self.pending[size:]
        return taken

    def readable(self) -> bool:
        return True


def careful_batches(path: str, dialect: Dialect, width: int, bad: BadRows, shown: str) -> Iterator[Batch]:
    """Batches of strings row by row, with the line of each."""
    rows: list[list[str]] = []
    lines: list[int] = []
    numbers: list[int] = []
    skip = dialect.header
    quotes = _QuotePolicy(path, dialect, shown, bad)
    with _text(path, dialect) as file:
        for line, row, text in _records(file, dialect, shown):
            if not row:
                continue
            fitting = quotes.apply(line, row, text, header=skip)
            if skip:
                skip = False
                continue
            if fitting is not None and len(row) != width:
                fitting = bad.row(shown, line, fitting, width, text)
            if fitting is not None:
                rows.append(fitting)
                lines.append(line)
                numbers.append(bad.n_rows)
            bad.n_rows += 1
            if len(rows) == _BATCH_ROWS:
                yield _batch(rows, lines, numbers, width)
                rows, lines, numbers = [], [], []
    yield _batch(rows, lines, numbers, width)


class _QuotePolicy:
    """Quotes inside unquoted values: part of the value where nothing is quoted, else the row is a bad row."""

    def __init__(self, path: str, dialect: Dialect, shown: str, bad: BadRows):
        self.path, self.dialect, self.shown, self.bad = path, dialect, shown, bad
        self.quotes = StrayQuotes(dialect.delimiter, dialect.quote, dialect.trim)

    def apply(self, line: int, row: list[str], text: str, header: bool) -> list[str] | None:
        """The row, with missing values in place of doubtful ones if the policy says so, or None if it is skipped."""
        found = self.quotes.positions(text)
        if not found:
            return row
        if not self.some_are_quoted:
            self.bad.literal.append((self.shown, line))
            return row
        return self.bad.quotes(self.shown, line, row, found, text, header, self.dialect.quote)

    @cached_property
    def some_are_quoted(self) -> bool:
        with _text(self.path, self.dialect) as file:
            return self.quotes.any_quoted(file)


def _batch(rows: list[list[str]], lines: list[int], numbers: list[int], width: int) -> Batch:
    columns = zip(*rows, strict=True) if rows else [()] * width
    return Batch([pa.array(column, pa.string()) for column in columns], lines, numbers)


def _records(file: Iterable[str], dialect: Dialect, shown: str) -> Iterator[tuple[int, list[str], str]]:
    """(first line, fields, text) of each record; an open or stray quote is an error that names the line."""
    taken: list[str] = []

    def remembering() -> Iterator[str]:
        for line in islice(file, dialect.n_comments, None):
            taken.append(line)
            yield line

    previous = csv.field_size_limit(_MAX_VALUE)
    reader = csv.reader(
        remembering(), **quoting(dialect.quote), delimiter=dialect.delimiter, strict=True, skipinitialspace=dialect.trim
    )
    try:
        while True:
            line = dialect.n_comments + reader.line_num + 1
            taken.clear()
            row = next(reader, None)
            if row is None:
                return
            yield line, row, "".join(taken)
    except csv.Error as error:
        raise _quote_error(shown, line, str(error), taken, dialect) from error
    except UnicodeDecodeError as error:
        raise NotUtf8 from error
    finally:
        csv.field_size_limit(previous)


def _quote_error(shown: str, line: int, reason: str, taken: list[str], dialect: Dialect) -> DataError:
    opened = f"{shown}, line {line}: {_short(taken[0]) if taken else ''}"
    double = f"Close it, double the quotes inside values ({2 * dialect.quote}), or say that nothing is quoted with "
    if "unexpected end" in reason or "field larger" in reason:
        problem = f"{opened} opens a quote that is never closed: it would swallow the lines that follow."
    else:
        problem = f"{opened} has a quoted value with text after its closing quote: a quote is open or stray."
    return DataError(problem, remedy=Message(double, Setting("quote", ""), "."), file=shown, line=line)


def _text(path: str, dialect: Dialect) -> io.TextIOWrapper:
    # utf-8-sig reads UTF-8 with or without a byte order mark.
    encoding = "utf-8-sig" if dialect.encoding in ("utf-8", "utf8") else dialect.encoding
    return io.TextIOWrapper(open_bytes(path, dialect.compressed), encoding=encoding, newline="")


def _short(text: str) -> str:
    text = text.rstrip("\r\n")
    return repr(text if len(text) <= 60 else text[:57] + "...")
