"""Rows that lack a required value, their target or weight, in Parquet files and in tables in memory."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

from mercer._runtime.errors import DataError
from mercer.io.atomic_file import write_text
from mercer.io.checks.formulas import harmless_row
from mercer.source import Columns, TableSource
from mercer.source.missing import is_missing
from mercer.source.storage import open_file


def skip_incomplete_rows(source: TableSource, files: list[tuple[str, str]], spool: Any) -> None:
    """Let a Parquet source skip rows without a required value; the spool notes them and writes them to a file."""
    import pyarrow.parquet as pq

    for path, shown in files:
        before = 0
        with pq.ParquetFile(open_file(path), pre_buffer=False) as file:
            for i in range(file.metadata.num_row_groups):
                table = Columns.of(file.read_row_group(i, columns=list(spool.required)))
                found = incomplete_rows(table, spool.required)
                for row, reason in found:
                    spool.bad.skip(shown, f"row {before + row}", spool.bad.n_rows + row, reason, "")
                before, spool.bad.n_rows = before + len(table), spool.bad.n_rows + len(table)
    source.skip_incomplete = bool(spool.bad.rejected)
    if len(spool.bad.rejected) >= source.n_rows:
        problem = f"Every row of {files[0][1]} lacks its {' or '.join(spool.required.values())}."
        raise DataError(problem, file=files[0][1])
    spool.note_bad_rows()


def complete_rows(
    table: Columns, required: dict[str, str], rejected: str | None = None
) -> tuple[Columns, list[str], list[int]]:
    """The rows of a table in memory that have the required values, a note on the others, and their numbers."""
    found = incomplete_rows(table, required)
    if not found:
        return table, [], []
    if len(found) == len(table):
        raise DataError(f"Every row lacks its {' or '.join(required.values())}.")
    if rejected is not None:
        write_rejected(rejected, [("table", f"row {row}", reason, "") for row, reason in found])
    keep = np.ones(len(table), dtype=bool)
    keep[[row for row, _ in found]] = False
    (row, reason), which = found[0], "" if rejected is None else f"; {rejected} says which and why"
    note = f"{len(found)} bad rows were left out, first row {row}: {reason}{which}."
    return table[keep], [note], [row for row, _ in found]


def incomplete_rows(table: Columns, required: dict[str, str]) -> list[tuple[int, str]]:
    """(row, reason) of each row that lacks a required value."""
    found: dict[int, str] = {}
    for name, what in required.items():
        for row in np.flatnonzero(is_missing(table.array(name))):
            found.setdefault(int(row), f"the {what} {name!r} is missing")
    return sorted(found.items())


def write_rejected(path: str, rejected: list[tuple[str, Any, str, str]]) -> None:
    """Write the skipped rows to a CSV file: file, line (for tables `row 3`), reason and text."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows([("file", "line", "reason", "text"), *map(harmless_row, rejected)])
    write_text(path, out.getvalue())
