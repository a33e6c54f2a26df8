"""Columns of results written block by block: CSV, Parquet or one JSON object per line; a file appears when complete."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mercer.io.whole_file import appearing

_FORMS = {".csv": "csv", ".json": "json", ".jsonl": "json", ".parquet": "parquet"}


@contextmanager
def open_rows(path: str | None, form: str | None = None) -> Iterator:
    """A writer with `write({name: values})`, all blocks with the same names. None writes to standard output."""
    form = form or ("csv" if path is None else _FORMS.get(os.path.splitext(path)[1].lower(), "csv"))
    if path is None:
        if form == "parquet":
            raise ValueError("Parquet is not written to a terminal or pipe: name a file with --output.")
        writer = _WRITERS[form](sys.stdout.buffer)
        yield writer
        writer.close()
        sys.stdout.flush()
        return
    with appearing(path) as file:
        writer = _WRITERS[form](file)
        yield writer
        writer.close()


class _Arrow:
    """A writer of pyarrow's, opened when the first block tells the names and types."""

    def __init__(self, file):
        self._file, self._writer = file, None

    def write(self, columns) -> None:
        table = _table(columns)
        if self._writer is None:
            self._writer = self._opened(table.schema)
        self._writer.write_table(table)
        self._file.flush()

    def _opened(self, schema):
        raise NotImplementedError

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


class _Csv(_Arrow):
    def _opened(self, schema):
        import pyarrow.csv as csv

        return csv.CSVWriter(self._file, schema, write_options=csv.WriteOptions(quoting_style="needed"))


class _Parquet(_Arrow):
    def _opened(self, schema):
        import pyarrow.parquet as pq

        return pq.ParquetWriter(self._file, schema)


class _Json:
    def __init__(self, file):
        self._file = file

    def write(self, columns) -> None:
        import json

        names = list(columns)
        rows = zip(*(_table({name: columns[name]}).column(0).to_pylist() for name in names), strict=True)
        text = "".join(json.dumps(dict(zip(names, row, strict=True)), allow_nan=False) + "\n" for row in rows)
        self._file.write(text.encode())
        self._file.flush()

    def close(self) -> None:
        pass


_WRITERS: dict[str, Any] = {"csv": _Csv, "parquet": _Parquet, "json": _Json}


def _table(columns):
    import numpy as np
    import pyarrow as pa

    arrays = [pa.array(v.tolist() if np.asarray(v).dtype.kind in "OU" else np.asarray(v)) for v in columns.values()]
    return pa.table(arrays, names=[str(name) for name in columns])
