"""Results written block by block as CSV, TSV, Parquet or JSON lines; a file appears when it is complete."""

from __future__ import annotations

import csv
import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, BinaryIO

from mercer._runtime.errors import MercerError, Message, Setting
from mercer.io.atomic_file import atomic_write
from mercer.io.checks.formulas import harmless_column, harmless_row, without_escapes

_FORMATS = {
    "": "csv",
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def format_of(path: str | None, given: str | None = None) -> str:
    """The format of a file by the extension of its name, unless given; an unknown extension is refused."""
    if given is not None or path is None or path == "-":
        return given or "csv"
    ending = "" if os.path.exists(path) and not os.path.isfile(path) else os.path.splitext(path)[1].lower()
    if ending not in _FORMATS:
        known = ", ".join(each for each in _FORMATS if each)
        remedy = Message("Rename it, or set ", Setting("format"), ".")
        raise MercerError(f"{path}: rows are not written as {ending}, only as {known}.", remedy=remedy)
    return _FORMATS[ending]


@contextmanager
def open_rows(path: str | None, given: str | None = None) -> Iterator:
    """A writer with `write({name: values})`, all blocks with the same names. None or "-" is standard output."""
    form = format_of(path, given)
    if path is None or path == "-":
        if form == "parquet":
            remedy = Message("name a file with ", Setting("output"), ".")
            raise MercerError("Parquet is not written to a terminal or pipe:", remedy=remedy)
        with _WRITERS[form](sys.stdout.buffer) as writer:
            yield writer
        sys.stdout.flush()
        return
    with atomic_write(path) as file, _WRITERS[form](file) as writer:
        yield writer


class _Csv(AbstractContextManager):
    """CSV with quotes only around values that hold a delimiter, a quote or a line break.

    Text that a spreadsheet would run gets an apostrophe, which a warning reports; text that would steer a terminal is
    not printed there.
    """

    delimiter = ","

    def __init__(self, file: BinaryIO):
        self._file, self._begun = file, False
        self._on_terminal = file.isatty()
        self._n_formulas = 0

    def write(self, columns: dict[str, Any]) -> None:
        table = self._harmless(_table(columns))
        if not self._begun:
            self._file.write(self._header(table.column_names))
            self._begun = True
        self._file.write(self._rows(table))
        self._file.flush()

    def _harmless(self, table: Any) -> Any:
        import pyarrow as pa

        columns = []
        for column in table.columns:
            column, count = harmless_column(column)
            self._n_formulas += count
            columns.append(without_escapes(column) if self._on_terminal else column)
        names = harmless_row(table.column_names)
        self._n_formulas += sum(map(str.__ne__, names, table.column_names)) if not self._begun else 0
        if self._on_terminal:
            names = without_escapes(pa.array(names)).to_pylist()
        return pa.table(columns, names=names)

    def _header(self, names: list[str]) -> bytes:
        text = io.StringIO()
        csv.writer(text, delimiter=self.delimiter, lineterminator="\n").writerow(names)
        return text.getvalue().encode()

    def _rows(self, table: Any) -> Any:
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        def written(quoting: str) -> Any:
            out = pa.BufferOutputStream()
            options = arrow_csv.WriteOptions(include_header=False, quoting_style=quoting, delimiter=self.delimiter)
            arrow_csv.write_csv(table, out, options)
            return out.getvalue()

        try:
            return written("none")
        except pa.ArrowInvalid:
            return written("needed")  # this style quotes all text

    def __exit__(self, failure: type[BaseException] | None, *_: Any) -> None:
        if self._n_formulas and failure is None:
            what = "1 text" if self._n_formulas == 1 else f"{self._n_formulas:,} texts"
            problem = f"{what} that a spreadsheet would run as a formula got an apostrophe in front."
            warnings.warn(f"{problem} JSON and Parquet keep such text as it is.", UserWarning, stacklevel=2)


class _Tsv(_Csv):
    delimiter = "\t"


class _Parquet(AbstractContextManager):
    """Parquet, opened when the first block gives the names and types, and closed before its file in any case."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self._writer: Any = None

    def write(self, columns: dict[str, Any]) -> None:
        import pyarrow.parquet as pq

        table = _table(columns)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)
        self._file.flush()

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()


class _Json(AbstractContextManager):
    """One JSON object per line."""

    def __init__(self, file: BinaryIO):
        self._file = file

    def write(self, columns: dict[str, Any]) -> None:
        import json

        names = list(columns)
        rows = zip(*(_table({name: columns[name]}).column(0).to_pylist() for name in names), strict=True)
        text = "".join(json.dumps(dict(zip(names, row, strict=True)), allow_nan=False) + "\n" for row in rows)
        self._file.write(text.encode())
        self._file.flush()

    def __exit__(self, *_: object) -> None:
        pass


_WRITERS: dict[str, Any] = {"csv": _Csv, "tsv": _Tsv, "parquet": _Parquet, "json": _Json}


def _table(columns: dict[str, Any]) -> Any:
    import numpy as np
    import pyarrow as pa

    def array(values: Any) -> Any:
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            return values
        values = np.asarray(values)
        return pa.array(values.tolist() if values.dtype.kind in "OU" else values)

    return pa.table([array(values) for values in columns.values()], names=[str(name) for name in columns])
