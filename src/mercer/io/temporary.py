"""Temporary Parquet files: the folder that holds them, and their writer."""

from __future__ import annotations

import shutil
import tempfile
import weakref

import pyarrow as pa
import pyarrow.parquet as pq

from mercer.io.column_types import TYPES, kind

GROUP_ROWS = 65_536


class TemporaryFolder:
    """A temporary folder that is removed with its last reference, or with the process."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="mercer-")
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


class RowGroupWriter:
    """Writes Parquet in row groups of about GROUP_ROWS rows."""

    def __init__(self, path: str, names: list[str], forms: list[str]):
        self.schema = pa.schema([(name, TYPES[kind(form)]) for name, form in zip(names, forms, strict=True)])
        text = [field.name for field in self.schema if field.type == pa.string()]
        self.out = pq.ParquetWriter(path, self.schema, compression="lz4", use_dictionary=text, write_statistics=False)
        self.pending: list[pa.RecordBatch] = []
        self.rows = self.n_pending = 0

    def add(self, columns: list[pa.Array]) -> None:
        """Append rows, given as one array per column."""
        batch = pa.record_batch(columns, schema=self.schema)
        self.pending.append(batch)
        self.rows, self.n_pending = self.rows + len(batch), self.n_pending + len(batch)
        if self.n_pending >= GROUP_ROWS:
            self._flush()

    def close(self) -> None:
        """Write the pending rows and close the file."""
        if self.n_pending:
            self._flush()
        self.out.close()

    def _flush(self) -> None:
        self.out.write_table(pa.Table.from_batches(self.pending), row_group_size=GROUP_ROWS)
        self.pending, self.n_pending = [], 0
