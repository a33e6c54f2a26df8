"""Files that are copied to a temporary folder before reading: packed or remote text, and Parquet of huge row groups."""

from __future__ import annotations

import os
import shutil
from typing import Any

from mercer._runtime.errors import DataError
from mercer.source.storage import StoredPath, filesystem, open_file

#: First bytes of packed files, and the codecs of pyarrow that unpack them. Text in gzip is read as it is.
_CODECS = {b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
#: Bytes of a row group, uncompressed, above which a file is written anew in smaller ones.
MAX_GROUP_BYTES = 1 << 29


def first_bytes(path: str, size: int = 4) -> bytes:
    """The first bytes of a file."""
    if not isinstance(path, StoredPath):
        with open(path, "rb") as file:
            return file.read(size)
    with open_file(path) as file:
        return file.read(size)


def local_text(path: str, shown: str, folder: str) -> str:
    """A local, unpacked copy of a text file where it is remote or packed with bzip2 or zstd; else the path itself."""
    start = first_bytes(path)
    codec = next((name for magic, name in _CODECS.items() if start.startswith(magic)), None)
    if codec is None and not isinstance(path, StoredPath):
        return path
    import pyarrow as pa

    copy = os.path.join(folder, f"{len(os.listdir(folder))}-{os.path.basename(path)}")
    try:
        with _stream(path) as raw, open(copy, "wb") as out:
            shutil.copyfileobj(raw if codec is None else pa.CompressedInputStream(raw, codec), out, 1 << 20)
    except (pa.ArrowInvalid, OSError) as error:
        problem = f"{shown} cannot be read or unpacked: {str(error).splitlines()[0]}."
        raise DataError(problem, remedy="Copy or pack it again.", file=shown) from error
    return copy


def _stream(path: str) -> Any:
    import pyarrow as pa

    if not isinstance(path, StoredPath):
        return pa.OSFile(path)
    system, inside = filesystem(path, path.options)
    return system.open_input_stream(inside, compression=None)


def small_row_groups(path: str, folder: str, notes: list[str]) -> str:
    """The path of a Parquet file, or of a copy in small row groups if one of its own would take too much memory."""
    import pyarrow.parquet as pq

    from mercer.io.temporary import GROUP_ROWS

    with pq.ParquetFile(open_file(path), buffer_size=1 << 20, pre_buffer=False) as file:
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        largest = max((group.total_byte_size for group in groups), default=0)
        if largest <= MAX_GROUP_BYTES:
            return path
        copy = os.path.join(folder, f"{len(os.listdir(folder))}-{os.path.basename(path)}")
        with pq.ParquetWriter(copy, file.schema_arrow, compression="lz4", write_statistics=False) as out:
            for batch in file.iter_batches(GROUP_ROWS):
                out.write_batch(batch, row_group_size=GROUP_ROWS)
    notes.append(f"{path} has row groups of up to {largest / 1e9:.1f} GB: it was copied once in smaller ones.")
    return copy
