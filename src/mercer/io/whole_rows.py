"""Rows of Parquet files without their target or weight, left out as those of text files are."""

from __future__ import annotations

import os
from functools import reduce

import pyarrow.compute as pc
import pyarrow.parquet as pq


def whole_rows(files: list[tuple[str, str]], spool) -> list[str]:
    """The files, or copies of those that have rows to be left out; what and why goes to `spool.bad.rejected`."""
    return [
        _copy(path, shown, i, spool) if _lacks(path, spool.needed) else path for i, (path, shown) in enumerate(files)
    ]


def _lacks(path: str, needed) -> bool:
    with pq.ParquetFile(path, pre_buffer=False) as file:
        groups = range(file.metadata.num_row_groups)
        return any(
            pc.any(pc.is_null(column, nan_is_null=True)).as_py()
            for group in groups
            for column in file.read_row_group(group, columns=list(needed)).columns
        )


def _copy(path: str, shown: str, number: int, spool) -> str:
    target = os.path.join(spool.folder.path, f"whole-{number}.parquet")
    with pq.ParquetFile(path, pre_buffer=False) as file, pq.ParquetWriter(target, file.schema_arrow) as out:
        before = 0
        for group in range(file.metadata.num_row_groups):
            table = file.read_row_group(group)
            gone = {name: pc.is_null(table[name], nan_is_null=True) for name in spool.needed}
            for name, mask in gone.items():
                reason = f"the {spool.needed[name]} {name!r} is missing"
                rows = pc.indices_nonzero(mask).to_pylist()
                spool.bad.rejected += [(shown, f"row {before + row}", reason, "") for row in rows]
            out.write_table(table.filter(pc.invert(reduce(pc.or_, gone.values()))))
            before += len(table)
    return target
