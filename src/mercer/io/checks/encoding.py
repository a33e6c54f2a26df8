"""The encoding of a text file: UTF-8, another one, or UTF-8 that is damaged."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

from mercer._runtime.errors import DataError, Message, Setting

_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_LETTERS = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_ASCII = bytes(range(128))
_CHUNK_BYTES = 1 << 22
_UTF8 = ("utf-8", "utf8", "utf-8-sig")


def detect_encoding(head: bytes) -> str:
    """The most likely encoding of a file that begins like this."""
    for mark, name in _BOMS.items():
        if head.startswith(mark):
            return name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "utf-8" if _Bytes().of(head).is_utf8 else _single_byte(head)
    return "utf-8"


def other_encoding(file: BinaryIO, encoding: str, shown: str, given: bool) -> str:
    """The encoding of a file in which `encoding` fails, or an error that names the line.

    A file that is not UTF-8 is taken for Western European, unless most of its letters beyond ASCII are well-formed
    UTF-8: then it is damaged, and another encoding would turn all of these letters into others. A file of which only
    the last character fails was cut off there.
    """
    seen, undefined = _Bytes(), b""
    for chunk in _chunks(file):
        seen.of(chunk)
        undefined += bytes(set(chunk) & set(b"\x81\x8d\x8f\x90\x9d"))
    file.seek(0)
    line, byte, cut = _first_error(file, encoding)
    if cut:
        problem = f"{shown}, line {line}: the file ends in the middle of a character: it was cut off."
        again, only = "Copy or write it again", encoding in _UTF8 and not given and not seen.well_formed
        other = (", or read with ", Setting("encoding", "cp1252", "latin-1"), " if it is not UTF-8") if only else ()
        raise DataError(problem, remedy=Message(again, *other, "."), file=shown, line=line)
    if encoding in _UTF8 and not given and not seen.is_utf8:
        return _single_byte(undefined)
    problem = f"{shown}, line {line}: the byte 0x{byte:02x} is not {encoding}{', as the others are' * seen.is_utf8}."
    remedy = Message("Correct that line, or read with ", Setting("encoding", "cp1252", "latin-1"), ".")
    raise DataError(problem, remedy=remedy, file=shown, line=line, parameter="encoding")


def _single_byte(data: bytes) -> str:
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


class _Bytes:
    """Counts of bytes beyond ASCII: all of them, and those of well-formed UTF-8 letters."""

    beyond = well_formed = 0

    def of(self, data: bytes) -> _Bytes:
        self.beyond += len(data.translate(None, _ASCII))
        self.well_formed += sum(map(len, _LETTERS.findall(data)))
        return self

    @property
    def is_utf8(self) -> bool:
        return 2 * self.well_formed > self.beyond


def _first_error(file: BinaryIO, encoding: str) -> tuple[int, int, bool]:
    """(line, byte, whether the file ends there) of the first byte that cannot be decoded."""
    decoder, line = codecs.getincrementaldecoder(encoding)(), 1
    for chunk in [*_chunks(file), b""]:
        try:
            line += _line_breaks(decoder.decode(chunk, final=not chunk))
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode(encoding, "ignore")
            cut = not chunk or (error.end == len(error.object) and "unexpected end" in error.reason)
            return line + _line_breaks(before), error.object[error.start], cut
    return line, 0, True


def _line_breaks(text: str) -> int:
    return max(text.count("\n"), text.count("\r"))


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK_BYTES):
        yield chunk
