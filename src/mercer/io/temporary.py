"""Temporary Parquet files: the folder that holds them, and their writer."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pyarrow as pa
import pyarrow.parquet as pq

from mercer._runtime.errors import DataError
from mercer.io.checks.litter import (
    FOLDER_PREFIX,
    adopt_folder,
    folder_prefix,
    is_kept,
    keep_folder,
    own_folder,
    remove_abandoned_folders,
)
from mercer.io.column_types import TYPES, kind

GROUP_ROWS = 65_536


class TemporaryFolder:
    """A temporary folder that is removed with its last reference, or with the process.

    One that a killed process has left is removed by the next process that needs one.
    """

    def __init__(self) -> None:
        with temporary_space():
            _clean_once(tempfile.gettempdir())
            self.path = tempfile.mkdtemp(prefix=folder_prefix())
            handle = own_folder(self.path)
        self.remove = weakref.finalize(self, _remove, self.path, handle)

    def keep_for(self, checkpoint: str) -> None:
        """Keep the folder beyond this process, as long as the folder of a checkpoint exists."""
        keep_folder(self.path, checkpoint)

    @classmethod
    def adopted(cls, path: str) -> TemporaryFolder | None:
        """A folder that an interrupted process has kept; None if it is gone, or in use."""
        ours = os.path.basename(path).startswith(FOLDER_PREFIX)
        handle = adopt_folder(path) if ours and is_kept(path) else None
        if handle is None:
            return None
        folder = cls.__new__(cls)
        folder.path = path
        folder.remove = weakref.finalize(folder, _remove, path, handle)
        return folder


@cache
def _clean_once(parent: str) -> None:
    remove_abandoned_folders(parent)


def _remove(path: str, handle: int | None) -> None:
    if not is_kept(path):
        shutil.rmtree(path, ignore_errors=True)
    if handle is not None:
        os.close(handle)


@contextmanager
def temporary_space() -> Iterator[None]:
    """Errors of the disk inside are about the folder for temporary files."""
    try:
        yield
    except OSError as error:
        raise _space_error(error) from error


def _space_error(error: OSError) -> DataError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    what = "is full" if full else f"cannot be written to ({error.strerror or error})"
    remedy = "Free some space there, or name another folder in the environment variable TMPDIR."
    return DataError(f"The folder for temporary files{_named()} {what}.", remedy=remedy)


def _named() -> str:
    """The path of the folder between commas, if there is one that files can be written to at all."""
    try:
        return f", {tempfile.gettempdir()},"
    except FileNotFoundError:
        return ""


class RowGroupWriter:
    """Writes Parquet in row groups of about GROUP_ROWS rows."""

    def __init__(self, path: str, names: list[str], forms: list[str]):
        self.schema = pa.schema([(name, TYPES[kind(form)]) for name, form in zip(names, forms, strict=True)])
        text = [field.name for field in self.schema if field.type == pa.string()]
        how = {"compression": "lz4", "use_dictionary": text, "write_statistics": False}
        with temporary_space():
            self.out = pq.ParquetWriter(path, self.schema, **how)
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
        with temporary_space():
            self.out.close()

    def _flush(self) -> None:
        with temporary_space():
            self.out.write_table(pa.Table.from_batches(self.pending), row_group_size=GROUP_ROWS)
        self.pending, self.n_pending = [], 0
