"""The dialect of a text table: encoding, delimiter, quote, header and decimal point, detected unless given."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import dropwhile, islice
from typing import Any

from mercer._runtime.errors import DataError, MercerError, Message, ParameterError, Setting
from mercer.io.checks.encoding import detect_encoding

#: Markers of missing values, compared after trimming. Override with `missing=`.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null", "?", ".", "<NA>", "NaT")

_DELIMITERS = "\t;|,"  # if several split the lines equally well, the earlier one is taken
_SAMPLE_BYTES = 1 << 18
_MAX_LINES = 400
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

_CONTROL = bytes(range(9)) + bytes(range(14, 27))
_MODEL = re.compile(rb"PK\x03\x04.{26}(manifest\.json|arrays\.safetensors)", re.DOTALL)
_OTHERS = {
    b"PARE": "an encrypted Parquet file",
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"BZh91AY&SY": "packed with bzip2",
    b"\xfd7zXZ": "packed with xz",
    b"\x28\xb5\x2f\xfd": "packed with zstd",
    b"SQLite format 3": "a database of SQLite",
    b"ARROW1\0\0": "an Arrow or Feather file",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "an array of NumPy",
}


@dataclass(frozen=True)
class Dialect:
    """The format of a text table.

    `trim` drops blanks around values (detected if every delimiter is followed by one). `compressed` is true for gzip.
    `n_comments` lines at the beginning are comments.
    """

    delimiter: str = ","
    quote: str = '"'
    header: bool = True
    decimal: str = "."
    encoding: str = "utf-8"
    trim: bool = False
    compressed: bool = False
    n_comments: int = 0

    def __str__(self) -> str:
        names = {"\t": "tab", " ": "space"}
        words = [f"delimiter {names.get(self.delimiter, repr(self.delimiter))}", f"quote {self.quote or 'none'}"]
        words += ["header" if self.header else "no header", f"decimal {self.decimal!r}", self.encoding]
        words += ["blanks trimmed"] * self.trim + ["gzip"] * self.compressed
        words += [f"{self.n_comments} lines of comments"] * bool(self.n_comments)
        return ", ".join(words)


def open_bytes(path: str, compressed: bool) -> Any:
    """The bytes of a file, decompressed."""
    return _GzipReader(path, "rb") if compressed else open(path, "rb")


class _GzipReader(gzip.GzipFile):
    """A gzip file whose errors name the file."""

    def read(self, size: int | None = -1) -> bytes:
        with self._named_errors():
            return super().read(size)

    def read1(self, size: int = -1) -> bytes:
        with self._named_errors():
            return super().read1(size)

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            problem = f"{self.name} is cut off or damaged: its gzip cannot be unpacked ({error})."
            raise DataError(problem, remedy="Copy or pack it again.", file=str(self.name)) from error


def sniff(path: str, shown: str | None = None, **given: Any) -> Dialect:
    """The dialect of a file, from its first quarter of a megabyte; parameters `given` (not None) are not detected.

    `shown` is the name of the file in messages.
    """
    with open(path, "rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
    with open_bytes(path, compressed) as file:
        head = file.read(_SAMPLE_BYTES)
    return dialect_of(head, shown or path, compressed, **given)


def dialect_of(head: bytes, shown: str, compressed: bool = False, **given: Any) -> Dialect:
    """The dialect of a file that begins with `head`; see `sniff`."""
    given = {name: value for name, value in given.items() if value is not None}
    _refuse_blanks(head, head, shown)
    if "encoding" not in given:
        _refuse_other_forms(head, shown)
    _check_given(**given)
    encoding = given.get("encoding") or detect_encoding(head)
    text = _decoded(head, encoding, shown)
    _refuse_blanks(text, head, shown)  # nothing beside a byte order mark, or the beginning of a character
    found = Dialect(encoding=encoding, compressed=compressed)
    return _with_lines(found, _whole_lines(text, cut=len(head) == _SAMPLE_BYTES), text, given)


def _refuse_blanks(text: str | bytes, head: bytes, shown: str) -> None:
    if not text.strip():
        problem = f"{shown} is empty." if len(head) < _SAMPLE_BYTES else f"{shown} begins with only blanks."
        raise DataError(problem, file=shown)


def _with_lines(found: Dialect, lines: list[str], text: str, given: dict[str, Any]) -> Dialect:
    """The dialect with all that the first lines show."""
    body = list(dropwhile(lambda line: line.startswith("#"), lines)) or lines
    found = replace(found, quote=given.get("quote", _quote(body)))
    found = replace(found, delimiter=given.get("delimiter") or _delimiter(body, found.quote))
    n_comments = _comments(lines[: len(lines) - len(body)], _rows(body, found.delimiter, found.quote), found)
    lines = lines[n_comments:]
    trim = _trimmed(lines, found.delimiter, found.quote)
    rows = _rows(lines, found.delimiter, found.quote, trim)
    found = replace(found, decimal=given.get("decimal") or _decimal(rows, found.delimiter), trim=trim)
    header = given["header"] if "header" in given else _header(rows)
    return replace(found, header=bool(header), n_comments=_lines_before(text, n_comments))


def _comments(marked: list[str], rows: list[list[str]], found: Dialect) -> int:
    """How many of the first lines, which begin with #, are comments; the last one may name the columns."""
    if not marked or not rows:
        return 0
    width = Counter(map(len, rows)).most_common(1)[0][0]
    last = _rows(marked[-1:], found.delimiter, found.quote)[0]
    if width == 1:
        return len(marked) * all(line.startswith("# ") for line in marked)
    return len(marked) - (len(last) == width and not _header(rows))


def _lines_before(text: str, n_comments: int) -> int:
    """The number of lines up to the last comment, empty ones included."""
    lines = enumerate(_LINES.findall(text), 1) if n_comments else ()
    filled = (number for number, line in lines if line.strip("\r\n"))
    return next(islice(filled, n_comments - 1, None)) if n_comments else 0


def _check_given(delimiter: str | None = None, quote: str | None = None, decimal: str | None = None, **_: Any) -> None:
    if delimiter is not None and (len(delimiter) != 1 or ord(delimiter) > 127):
        raise ParameterError("delimiter", delimiter, "must be one character such as ',' or '\\t'")
    if quote and (len(quote) != 1 or ord(quote) > 127):
        raise ParameterError("quote", quote, "must be one character such as '\"', or '' if nothing is quoted")
    if decimal is not None and decimal not in (".", ","):
        raise ParameterError("decimal", decimal, "must be '.' or ','")
    if delimiter is not None and delimiter in (quote, decimal):
        other = Setting("quote" if delimiter == quote else "decimal")
        raise MercerError(Setting("delimiter"), " and ", other, f" are both {delimiter!r}.")


def _refuse_other_forms(head: bytes, shown: str) -> None:
    """Refuse files in other formats, and name the format."""
    if _MODEL.match(head):
        problem = f"{shown} is a model file of Mercer, not a table:"
        raise DataError(problem, remedy=f"mercer predict {shown} DATA applies it.", file=shown)
    for start, what in _OTHERS.items():
        if head.startswith(start):
            problem = f"{shown} is {what}, not a table of text or Parquet."
            raise DataError(problem, remedy="Save or unpack it as CSV or Parquet.", file=shown)
    odd = len(head) - len(head.translate(None, _CONTROL))
    if odd > max(16, len(head) // 20) and head[:2] not in _BOMS:
        encoding = Message("If it is text after all, name its ", Setting("encoding", "utf-16"), ".")
        raise DataError(f"{shown} holds bytes that are no text.", remedy=encoding, file=shown)
    if re.match(rb"\s*(\[\s*)?\{\s*\"", head):
        remedy = "Save its rows as CSV or Parquet, or read them as a frame."
        raise DataError(f"{shown} looks like JSON.", remedy=remedy, file=shown)


def _decoded(head: bytes, encoding: str, shown: str) -> str:
    """The text of the sample; the reader locates what cannot be decoded."""
    try:
        return codecs.getincrementaldecoder(encoding)("replace").decode(head)
    except LookupError:
        problem = f"{encoding!r} is not an encoding; examples: 'utf-8', 'cp1252', 'latin-1'."
        raise DataError(problem, parameter="encoding", value=encoding, file=shown) from None


def _whole_lines(text: str, cut: bool) -> list[str]:
    """The first lines that are not empty."""
    lines = _LINES.findall(text)
    lines = lines[:-1] if cut and len(lines) > 1 else lines
    return [line for line in lines if line.strip("\r\n")][:_MAX_LINES]


def _quote(lines: list[str]) -> str:
    """A single quote if values are enclosed in single quotes and none in double quotes."""
    text = "".join(lines)
    if re.search(r'(^|[\t;|,])\s*"', text, re.MULTILINE):
        return '"'
    wrapped = re.findall(r"(?:^|[\t;|,])'[^'\n]*'(?=[\t;|,\r\n]|$)", text, re.MULTILINE)
    return "'" if len(wrapped) >= max(2, len(lines) // 4) else '"'


def _rows(lines: list[str], delimiter: str, quote: str, trim: bool = False) -> list[list[str]]:
    try:
        reader = csv.reader(lines, **quoting(quote), delimiter=delimiter, skipinitialspace=trim)
        return [row for row in reader if row]
    except csv.Error:
        return [line.rstrip("\r\n").split(delimiter) for line in lines]


def quoting(quote: str) -> dict[str, Any]:
    """The parameters of `csv.reader` for quotes."""
    return {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}


def _delimiter(lines: list[str], quote: str) -> str:
    """The delimiter that splits the largest fraction of lines into the same number, above one, of fields."""

    def evenness(delimiter: str) -> tuple[float, int]:
        widths = Counter(len(row) for row in _rows(lines, delimiter, quote, trim=True))
        width, count = widths.most_common(1)[0]
        return (count / widths.total() if width > 1 else 0.0, -_DELIMITERS.index(delimiter))

    best = max(_DELIMITERS, key=evenness)
    return best if evenness(best)[0] > 0 else ","


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    cells = [cell.strip() for row in rows for cell in row]
    commas, points = (sum(bool(form.fullmatch(cell)) for cell in cells) for form in (_COMMA_NUMBER, _POINT_NUMBER))
    return "," if commas > points else "."


def _trimmed(lines: list[str], delimiter: str, quote: str) -> bool:
    """Whether all fields but the first of each line begin with a blank, outside of quotes."""
    if delimiter == " ":
        return False
    end, mark = re.escape(delimiter), re.escape(quote)
    quoted = f" *{mark}(?:[^{mark}]++|{mark}{mark})*+{mark}|" if quote else ""
    field = re.compile(f"(?:^|{end})({quoted}[^{end}\r\n]*)")
    later = [cell for line in lines for cell in field.findall(line)[1:] if cell]
    return bool(later) and all(cell.startswith(" ") for cell in later)


def _header(rows: list[list[str]]) -> bool:
    """Whether the first row is a header: it has no numbers, or text above a column of numbers."""
    first, rest = rows[0], rows[1:]
    numeric = [bool(_NUMBER.fullmatch(cell.strip())) for cell in first]
    if not any(numeric):
        return True
    for j, is_number in enumerate(numeric):
        below = [row[j].strip() for row in rest if j < len(row) and row[j].strip() not in MISSING]
        named = not is_number and first[j].strip() not in MISSING
        if named and below and all(_NUMBER.fullmatch(cell) for cell in below):
            return True
    return False
