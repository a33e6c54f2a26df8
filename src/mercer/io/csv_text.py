"""A text table as batches of strings: fast where the file is clean, careful where it is not.

The fast way is Arrow's reader. It closes an open quote at the end of the file and says nothing, and knows rows but not
lines; so at the first sign of trouble (a row of another length, a line break inside a value, a byte that is no
character) the file is read again by `careful_batches`, which knows every line.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from mercer.io.dialect import Dialect, open_bytes, quoting

_BLOCK = 1 << 22
_BATCH = 1 << 14
_TAIL = 1 << 16
_LONGEST = 1 << 24  # characters in one value


class Unclean(Exception):
    """The file needs the careful reader."""


class NotUtf8(Exception):
    """A byte late in the file is no UTF-8."""


class Batch(NamedTuple):
    """Columns of strings, and the line of the file each row begins on (None where the reader does not know)."""

    columns: list[pa.Array]
    lines: list[int] | None


@dataclass
class BadRows:
    """What to do with rows that do not fit, and which there were."""

    policy: str = "error"
    rejected: list[tuple[str, int, str, str]] = field(default_factory=list)  # file, line, reason, text
    mended: list[tuple[str, int]] = field(default_factory=list)

    def row(self, shown: str, line: int, row: list[str], width: int, text: str) -> list[str] | None:
        """The row made `width` fields long, or None if it is left out."""
        reason = f"{len(row)} fields where there are {width} columns"
        if self.policy == "null":
            self.mended.append((shown, line))
            return (row + [""] * width)[:width]
        if self.policy == "skip":
            self.rejected.append((shown, line, reason, text))
            return None
        raise ValueError(
            f"{shown}, line {line}: {reason}: {_short(text)}. Mend that line, or read with on_bad_rows='skip' "
            "(rejected lines go to a file) or 'null' (short rows are filled with missing values, long ones cut)."
        )


def first_row(path: str, dialect: Dialect, shown: str) -> list[str]:
    """The fields of the first row."""
    with _text(path, dialect) as file:
        return next(row for _, row, _ in _records(file, dialect, shown) if row)


def fast_batches(path: str, dialect: Dialect, width: int) -> Iterator[Batch]:
    """Batches of strings by Arrow; Unclean at the first sign of trouble."""
    names = [str(j) for j in range(width)]
    skip = dialect.header
    try:
        with open_bytes(path, dialect.compressed) as file:
            file = _Watched(file, dialect.quote.encode())
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
    """Whether the last line leaves no quote open; no value of the file has a line break in it."""
    last = end.rstrip("\r\n").rpartition("\n")[2]
    try:
        list(csv.reader([last], **quoting(dialect.quote), delimiter=dialect.delimiter, strict=True))
    except csv.Error:
        return False
    return True


def _arrow_reader(file, dialect, names):
    import pyarrow.csv as arrow_csv

    encoding = "utf8" if dialect.encoding in ("utf-8", "utf-8-sig") else dialect.encoding
    return arrow_csv.open_csv(
        file,
        arrow_csv.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=names, encoding=encoding),
        arrow_csv.ParseOptions(delimiter=dialect.delimiter, quote_char=dialect.quote or False, newlines_in_values=True),
        arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
    )


class _Watched(io.RawIOBase):
    """A file that remembers the last bytes read from it, and whether there was a quote among all."""

    def __init__(self, file, quote: bytes):
        self.file, self.quote, self.last, self.quoted = file, quote, b"", False

    def read(self, size=-1):
        data = self.file.read(size)
        if data:
            self.quoted = self.quoted or (self.quote != b"" and self.quote in data)
            self.last = (self.last + data)[-_TAIL:] if len(data) < _TAIL else data[-_TAIL:]
        return data

    def readable(self):
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
            if len(rows) == _BATCH:
                yield _batch(rows, lines, width)
                rows, lines = [], []
    yield _batch(rows, lines, width)


def _batch(rows, lines, width) -> Batch:
    columns = zip(*rows, strict=True) if rows else [()] * width
    return Batch([pa.array(column, pa.string()) for column in columns], lines)


def _records(file, dialect, shown) -> Iterator[tuple[int, list[str], str]]:
    """(line it begins on, fields, text) of each record; an open or stray quote is an error that names that line."""
    taken: list[str] = []

    def remembering():
        for line in file:
            taken.append(line)
            yield line

    previous = csv.field_size_limit(_LONGEST)
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
        raise ValueError(_quote_trouble(shown, line, str(error), taken, dialect)) from error
    except UnicodeDecodeError as error:
        raise NotUtf8 from error
    finally:
        csv.field_size_limit(previous)


def _quote_trouble(shown, line, said, taken, dialect) -> str:
    opened = f"{shown}, line {line}: {_short(taken[0]) if taken else ''}"
    remedy = (
        f"Close it, double the quotes inside values ({2 * dialect.quote}), or say that nothing is quoted with quote=''."
    )
    if "unexpected end" in said or "field larger" in said:
        return f"{opened} opens a quote that is never closed: it would swallow the lines that follow. {remedy}"
    return f"{opened} has a quoted value with text after its closing quote: a quote is open or stray. {remedy}"


def _text(path, dialect):
    encoding = "utf-8-sig" if dialect.encoding in ("utf-8", "utf8") else dialect.encoding  # with or without a mark
    return io.TextIOWrapper(open_bytes(path, dialect.compressed), encoding=encoding, newline="")


def _short(text: str) -> str:
    text = text.rstrip("\r\n")
    return repr(text if len(text) <= 60 else text[:57] + "...")
