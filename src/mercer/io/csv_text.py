"""A text table as batches of strings, by a fast reader for clean files and a careful one for others.

The fast reader is Arrow's. It silently closes an open quote at the end of the file, and counts rows but not lines. So
at the first irregularity (a row of another length, a line break inside a value, an invalid byte) the file is read again
by `careful_batches`, which tracks the line of each row.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from mercer._runtime.errors import DataError, Message, Setting
from mercer.io.dialect import Dialect, open_bytes, quoting

_BLOCK_BYTES = 1 << 22
_BATCH_ROWS = 1 << 14
_TAIL_BYTES = 1 << 16
_MAX_VALUE = 1 << 24  # characters


class Unclean(Exception):
    """The file needs the careful reader."""


class NotUtf8(Exception):
    """A byte beyond the sample is not valid UTF-8."""


class Batch(NamedTuple):
    """Columns of strings, and the line of the file on which each row begins (None if the reader does not know)."""

    columns: list[pa.Array]
    lines: list[int] | None


@dataclass
class BadRows:
    """The policy for bad rows, and the bad rows found so far."""

    policy: str = "error"
    rejected: list[tuple[str, int, str, str]] = field(default_factory=list)  # file, line, reason, text
    repaired: list[tuple[str, int]] = field(default_factory=list)

    def row(self, shown: str, line: int, row: list[str], width: int, text: str) -> list[str] | None:
        """The row padded or cut to `width` fields, or None if it is skipped."""
        reason = f"{len(row)} fields where there are {width} columns"
        if self.policy == "null":
            self.repaired.append((shown, line))
            return (row + [""] * width)[:width]
        if self.policy == "skip":
            self.rejected.append((shown, line, reason, text))
            return None
        remedy = Message(
            *("Correct that line, or read with ", Setting("on_bad_rows", "skip"), " (rejected lines go to a file) or "),
            *(Setting("on_bad_rows", "null"), " (short rows are filled with missing values, long ones cut)."),
        )
        raise DataError(f"{shown}, line {line}: {reason}: {_short(text)}.", remedy=remedy, file=shown, line=line)


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
            file = _TrackingReader(file, dialect.quote.encode())
            for batch in _arrow_reader(file, dialect, names):
                columns = [column[1:] if skip else column for column in batch.columns]
                skip = skip and len(batch) == 0
                if file.quoted and any(pc.any(pc.match_substring(column, "\n")).as_py() for column in columns):
                    raise Unclean
                yield Batch(columns, None)
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):
            return
        raise (NotUtf8 if "invalid UTF8" in str(error) else Unclean) from error
    except UnicodeDecodeError as error:
        raise NotUtf8 from error
    if file.quoted and not _is_closed(file.last.decode(dialect.encoding, "replace"), dialect):
        raise Unclean


def _is_closed(end: str, dialect: Dialect) -> bool:
    """Whether the last line leaves no quote open, given that no value contains a line break."""
    last = end.rstrip("\r\n").rpartition("\n")[2]
    try:
        list(csv.reader([last], **quoting(dialect.quote), delimiter=dialect.delimiter, strict=True))
    except csv.Error:
        return False
    return True


def _arrow_reader(file: Any, dialect: Dialect, names: list[str]) -> Any:
    import pyarrow.csv as arrow_csv

    encoding = "utf8" if dialect.encoding in ("utf-8", "utf-8-sig") else dialect.encoding
    return arrow_csv.open_csv(
        file,
        arrow_csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES, column_names=names, encoding=encoding),
        arrow_csv.ParseOptions(delimiter=dialect.delimiter, quote_char=dialect.quote or False, newlines_in_values=True),
        arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
    )


class _TrackingReader(io.RawIOBase):
    """A file that keeps its last bytes, and whether any byte was a quote."""

    def __init__(self, file: Any, quote: bytes):
        self.file, self.quote, self.last, self.quoted = file, quote, b"", False

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        if data:
            self.quoted = self.quoted or (self.quote != b"" and self.quote in data)
            self.last = (self.last + data)[-_TAIL_BYTES:] if len(data) < _TAIL_BYTES else data[-_TAIL_BYTES:]
        return data

    def readable(self) -> bool:
        return True


def careful_batches(path: str, dialect: Dialect, width: int, bad: BadRows, shown: str) -> Iterator[Batch]:
    """Batches of strings row by row, with the line of each."""
    rows: list[list[str]] = []
    lines: list[int] = []
    skip = dialect.header
    with _text(path, dialect) as file:
        for line, row, text in _records(file, dialect, shown):
            if not row:
                continue
            if skip:
                skip = False
                continue
            fitting = row if len(row) == width else bad.row(shown, line, row, width, text)
            if fitting is not None:
                rows.append(fitting)
                lines.append(line)
            if len(rows) == _BATCH_ROWS:
                yield _batch(rows, lines, width)
                rows, lines = [], []
    yield _batch(rows, lines, width)


def _batch(rows: list[list[str]], lines: list[int], width: int) -> Batch:
    columns = zip(*rows, strict=True) if rows else [()] * width
    return Batch([pa.array(column, pa.string()) for column in columns], lines)


def _records(file: Iterable[str], dialect: Dialect, shown: str) -> Iterator[tuple[int, list[str], str]]:
    """(first line, fields, text) of each record; an open or stray quote is an error that names the line."""
    taken: list[str] = []

    def remembering() -> Iterator[str]:
        for line in file:
            taken.append(line)
            yield line

    previous = csv.field_size_limit(_MAX_VALUE)
    reader = csv.reader(remembering(), **quoting(dialect.quote), delimiter=dialect.delimiter, strict=True)
    try:
        while True:
            line = reader.line_num + 1
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
