"""Files by path or by address: local ones, and those of object stores through pyarrow or fsspec."""

from __future__ import annotations

import os
from typing import Any

from mercer._runtime.errors import DataError

#: Schemes that pyarrow knows itself; the others, and any with options, go through fsspec.
_ARROW_SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs")


class StoredPath(str):
    """The address of a file, such as s3://bucket/rows.parquet, with the options of its file system."""

    options: dict[str, Any]

    def __new__(cls, address: str, options: dict[str, Any] | None = None) -> StoredPath:
        path = super().__new__(cls, address)
        path.options = dict(options or {})
        return path

    def __reduce__(self) -> tuple:
        return StoredPath, (str(self), self.options)


def is_address(path: str) -> bool:
    """Whether a path is an address with a scheme, such as s3://bucket/rows.parquet.

    >>> is_address("s3://bucket/rows.parquet"), is_address("C:/rows.parquet")
    (True, False)
    """
    return "://" in path and path.split("://", 1)[0].replace("+", "").isalnum()


def filesystem(address: str, options: dict[str, Any] | None = None) -> tuple[Any, str]:
    """The pyarrow file system of an address, and the path inside it.

    Schemes that pyarrow knows are opened by pyarrow, which finds credentials and endpoints in the environment. With
    `options`, and for other schemes, fsspec opens them: options are the arguments of `fsspec.filesystem`.
    """
    import pyarrow as pa
    from pyarrow import fs

    scheme = address.split("://", 1)[0].lower()
    if scheme in _ARROW_SCHEMES and not options:
        try:
            return fs.FileSystem.from_uri(address)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            raise DataError(f"{address} cannot be opened: {error}", file=address) from error
    try:
        from fsspec.core import url_to_fs

        found, inside = url_to_fs(address, **(options or {}))
    except ImportError as error:
        remedy = f"Install the package of fsspec for {scheme}:// (s3fs, gcsfs, adlfs), or copy the file here."
        raise DataError(f"{address} cannot be opened: {error}.", remedy=remedy, file=address) from error
    except ValueError as error:
        remedy = "Known are s3://, gs://, az://, file:// and the schemes of fsspec."
        raise DataError(f"{address} cannot be opened: {error}.", remedy=remedy, file=address) from error
    return fs.PyFileSystem(fs.FSSpecHandler(found)), inside


def open_file(path: str) -> Any:
    """What `pyarrow.parquet.ParquetFile` opens: a local path as it is, or an open file of an object store."""
    if not isinstance(path, StoredPath):
        return path
    system, inside = filesystem(path, path.options)
    return system.open_input_file(inside)


def for_workers(path: str) -> str:
    """The path as a process in another working folder needs it."""
    return path if isinstance(path, StoredPath) else os.path.abspath(path)
