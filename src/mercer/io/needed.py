"""Rows that lack their target or weight, in files that hold kinds already and in tables in memory."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np

from mercer.source import Columns, TableSource
from mercer.source.missing import is_missing


def leave_out(source: TableSource, needed: dict[str, str], files, spool) -> None:
    """Let a Parquet source skip rows without their target or weight; the spool notes and writes which they are."""
    import pyarrow.parquet as pq

    for path, shown in files:
        before = 0
        with pq.ParquetFile(path, pre_buffer=False) as file:
            for i in range(file.metadata.num_row_groups):
                table = Columns.of(file.read_row_group(i, columns=list(needed)))
                gone = lacking(table, needed)
                spool.bad.rejected += [(shown, f"row {before + row}", reason, "") for row, reason in gone]
                before += len(table)
    source.skip_incomplete = bool(spool.bad.rejected)
    if len(spool.bad.rejected) >= source.n_rows:
        raise ValueError(f"Every row of {files[0][1]} lacks its {' or '.join(needed.values())}.")
    spool.tell_of_bad_rows()


def complete(table: Columns, needed: dict[str, str], rejected: str | None = None) -> tuple[Columns, list[str]]:
    """The rows of a table in memory that have what is needed, and a note of how many have not."""
    found = lacking(table, needed)
    if not found:
        return table, []
    if len(found) == len(table):
        raise ValueError(f"Every row lacks its {' or '.join(needed.values())}.")
    if rejected is not None:
        write_rejected(rejected, [("table", f"row {row}", reason, "") for row, reason in found])
    keep = np.ones(len(table), dtype=bool)
    keep[[row for row, _ in found]] = False
    (row, reason), which = found[0], "" if rejected is None else f"; {rejected} says which and why"
    return table[keep], [f"{len(found)} bad rows were left out, first row {row}: {reason}{which}."]


def lacking(table: Columns, needed: dict[str, str]) -> list[tuple[int, str]]:
    """(row, reason) of each row that lacks something, once."""
    found: dict[int, str] = {}
    for name, what in needed.items():
        for row in np.flatnonzero(is_missing(table.array(name))):
            found.setdefault(int(row), f"the {what} {name!r} is missing")
    return sorted(found.items())


def write_rejected(path: str, rejected: list[tuple[str, Any, str, str]]) -> None:
    """A CSV file of the rows that were left out: file, line (of tables `row 3`), reason and text."""
    with open(path, "w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("file", "line", "reason", "text"), *rejected])
