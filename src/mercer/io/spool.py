"""Text files converted to one temporary Parquet file; the kind of each column is inferred from all rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import compress

import pyarrow as pa
import pyarrow.compute as pc

from mercer._runtime.errors import DataError, Location, Message, ParameterError, Setting
from mercer.io.checks.encoding import other_encoding
from mercer.io.checks.written_numbers import WRITTEN
from mercer.io.column_types import TYPES, TypeCandidates, kind, parse_lenient
from mercer.io.columns import require_column
from mercer.io.csv_text import BadRows, Batch, NotUtf8, Unclean, careful_batches, fast_batches, first_row
from mercer.io.dialect import MISSING, Dialect, open_bytes, sniff
from mercer.io.required import write_rejected
from mercer.io.temporary import RowGroupWriter, TemporaryFolder


@dataclass
class TextFile:
    """One file of the table: its path, its name in messages, its dialect, its columns, and the reader it needs."""

    path: str
    shown: str
    dialect: Dialect
    names: list[str] = field(default_factory=list)
    careful: bool = False
    encoding_given: bool = False
    decimal_given: bool = False

    def change_encoding(self, notes: list[str]) -> None:
        """Take another encoding for a file that is not in the detected one, or refuse it with the line."""
        with open_bytes(self.path, self.dialect.compressed) as data:
            encoding = other_encoding(data, self.dialect.encoding, self.shown, self.encoding_given)
        notes.append(f"{self.shown} is not UTF-8 after all: read as {encoding}.")
        self.dialect = replace(self.dialect, encoding=encoding)


@dataclass
class Spool:
    """Converts text files to Parquet. `notes` collects remarks on the data.

    Parameters are those of `read_table`.
    """

    missing: tuple[str, ...] = MISSING
    types: dict[str, str] = field(default_factory=dict)
    on_bad_rows: str = "error"
    rejected: str | None = None
    required: dict[str, str] = field(default_factory=dict)  # columns without missing values: "target" or "weight"
    like: dict[str, str] = field(default_factory=dict)  # kinds of the columns seen in fit
    notes: list[str] = field(default_factory=list)
    folder: TemporaryFolder = field(default_factory=TemporaryFolder)
    bad: BadRows = field(default_factory=BadRows)
    dialect: Dialect | None = None  # of the first text file

    def __post_init__(self) -> None:
        self.bad = BadRows(self.on_bad_rows)

    def run(self, files: list[TextFile]) -> str:
        """Convert all files and return the path of the Parquet file."""
        self.names, self.files = files[0].names, files
        self._refuse_differences(files)
        while True:
            self.bad = BadRows(self.on_bad_rows)
            try:
                path = self._write(files)
            except Unclean:
                self.current.careful = True
            except NotUtf8:
                self.current.change_encoding(self.notes)
            else:
                break
        self.note_bad_rows()
        return path

    def _refuse_differences(self, files: list[TextFile]) -> None:
        for other in files[1:]:
            if sorted(other.names) != sorted(self.names):
                missing, new = set(self.names) - set(other.names), set(other.names) - set(self.names)
                raise DataError(
                    f"{other.shown} does not have the columns of {files[0].shown}: ",
                    f"missing {sorted(missing) or 'none'}, new {sorted(new) or 'none'}.",
                    remedy="Files read together must have the same columns.",
                    file=other.shown,
                )
        unknown = [name for name in self.types if name not in self.names]
        if unknown:
            require_column(unknown[0], self.names, "types", files[0].shown)

    def _write(self, files: list[TextFile]) -> str:
        """Write with the kinds of the first rows; if later rows contradict them, write again with those of all rows."""
        self.columns = [self._candidates(name, files[0]) for name in self.names]
        path = os.path.join(self.folder.path, "rows.parquet")
        forms: list[str] | None = None
        writer = None
        for batch in self._batches(files):
            parsed = [column.update(values) for column, values in zip(self.columns, batch.columns, strict=True)]
            now = [column.form for column in self.columns]
            if forms is None and len(batch.columns[0]):
                forms, writer = now, RowGroupWriter(path, self.names, now)
            if writer is not None and now == forms:
                writer.add(parsed)
        if writer is None:
            below = " below its header" * files[0].dialect.header
            raise DataError(f"{files[0].shown} has no rows{below}.", file=files[0].shown)
        writer.close()
        if self._declare_as_fitted():
            raise Unclean  # with the kinds of the fit, a few values are bad ones
        final = [column.form for column in self.columns]
        if final != forms or writer.rows != self.columns[0].rows:
            self._write_as(final, files, path)
        self._note_exceptions()
        return path

    def _declare_as_fitted(self) -> bool:
        """Declare columns that are text because of some values as what a model was fitted to, if bad rows may be."""
        if self.on_bad_rows == "error":
            return False
        found = {}
        for name, column in zip(self.names, self.columns, strict=True):
            wanted = {"integer": "number"}.get(self.like.get(name, "text"), self.like.get(name, "text"))
            if name not in self.types and column.form == "text" and wanted != "text" and column.has_some(wanted):
                found[name] = wanted
        self.types |= found
        return bool(found)

    def _write_as(self, forms: list[str], files: list[TextFile], path: str) -> None:
        self.bad = BadRows(self.on_bad_rows)
        writer = RowGroupWriter(path, self.names, forms)
        for batch in self._batches(files):
            parsed = zip(batch.columns, self.columns, strict=True)
            writer.add([parse_lenient(values, column.form, column.decimal)[0] for values, column in parsed])
        writer.close()

    def _batches(self, files: list[TextFile]) -> Iterator[Batch]:
        """Batches of all files, columns in the order of the first file, markers of missing values as null."""
        for self.current in files:
            file = self.current
            width = len(self.names)
            if file.careful:
                batches = careful_batches(file.path, file.dialect, width, self.bad, file.shown)
            else:
                batches = fast_batches(file.path, file.dialect, width)
            order = [file.names.index(name) for name in self.names]
            for batch in batches:
                self.bad.n_rows += 0 if file.careful else len(batch.columns[0])
                columns = [self._nulled(batch.columns[j], file.dialect.trim) for j in order]
                yield self._with_declared_types(self._with_required(batch._replace(columns=columns), file), file)

    def _with_required(self, batch: Batch, file: TextFile) -> Batch:
        """The batch without rows that lack their target or weight, or an error that locates the first of them."""
        kept = None
        for name, what in self.required.items():
            column = batch.columns[self.names.index(name)]
            if column.null_count == 0:
                continue
            if batch.lines is None or batch.rows is None:
                raise Unclean  # only the careful reader knows the line
            for row in pc.indices_nonzero(pc.is_null(column)).to_pylist():
                reason = f"the {what} {name!r} is missing"
                if self.on_bad_rows != "skip":
                    raise DataError(
                        f"{file.shown}, line {batch.lines[row]}: {reason}. A row without its {what} cannot be used:",
                        remedy=Message("fill it in, or leave such rows out with ", Setting("on_bad_rows", "skip"), "."),
                        column=name,
                        file=file.shown,
                        line=batch.lines[row],
                    )
                self.bad.skip(file.shown, batch.lines[row], batch.rows[row], reason, "")
                kept = kept if kept is not None else [True] * len(batch.lines)
                kept[row] = False
        return batch if kept is None else _rows_of(batch, kept)

    def locate(self, row: int) -> Location:
        """The file and line of a row of the table, found by reading the files again with the careful reader."""
        self.bad, before = BadRows(self.on_bad_rows), 0
        for file in self.files:
            file.careful = True
        for batch in self._batches(self.files):
            if row < before + len(batch.columns[0]):
                return Location(self.current.shown, line=(batch.lines or [])[row - before])
            before += len(batch.columns[0])
        return Location(row=row)

    def _nulled(self, column: pa.Array, trim: bool) -> pa.Array:
        bare = pc.utf8_trim_whitespace(column)
        if self.missing:
            absent = pc.is_in(bare, value_set=pa.array(self.missing, pa.string()))
            column = pc.if_else(absent, None, bare if trim else column)
        return bare if trim and not self.missing else column

    def _candidates(self, name: str, file: TextFile) -> TypeCandidates:
        decimal = file.dialect.decimal
        if name not in self.types:
            like = self.like.get(name)
            found = TypeCandidates(decimal, "text" if like == "text" else None, like)
            found.left = [form for form in found.left if not file.decimal_given or form != WRITTEN[1]]
            return found
        if self.types[name] not in TYPES:
            raise ParameterError(Setting("types", key=name), self.types[name], f"must be one of {', '.join(TYPES)}")
        return TypeCandidates(decimal, self.types[name])

    def _with_declared_types(self, batch: Batch, file: TextFile) -> Batch:
        """The batch after the policy for values that contradict a declared type."""
        columns, kept = list(batch.columns), None
        for j, name in enumerate(self.names):
            if name not in self.types or len(columns[j]) == 0:
                continue
            column = self.columns[j]
            column.settle(columns[j])
            _, lost = parse_lenient(columns[j], column.form, column.decimal)
            if not pc.any(lost).as_py():
                continue
            if batch.lines is None:
                raise Unclean  # only the careful reader knows the line
            columns[j] = pc.if_else(lost, None, columns[j])
            kept = self._apply_policy(batch, j, lost, file, kept)
        batch = batch._replace(columns=columns)
        return batch if kept is None else _rows_of(batch, kept)

    def _apply_policy(
        self, batch: Batch, j: int, lost: pa.Array, file: TextFile, kept: list[bool] | None
    ) -> list[bool] | None:
        """Refuse, null or reject the rows whose value in column j contradicts its declared type."""
        lines, numbers = batch.lines or [], batch.rows or []
        name, wanted = self.names[j], self.types[self.names[j]]
        for row in pc.indices_nonzero(lost).to_pylist():
            line, value = lines[row], batch.columns[j][row].as_py()
            reason = f"column {name!r} holds {value!r}, not a {wanted}"
            if self.on_bad_rows == "error":
                add, policy = Setting("missing", value, item=True), Setting("on_bad_rows", "null", "skip")
                remedy = Message("Correct it, read with ", add, ", declare another type, or read with ", policy, ".")
                problem = f"{file.shown}, line {line}: {reason}."
                raise DataError(problem, remedy=remedy, value=value, column=name, file=file.shown, line=line)
            if self.on_bad_rows == "null":
                self.bad.mend(file.shown, line, numbers[row])
            else:
                self.bad.skip(file.shown, line, numbers[row], reason, value)
                kept = kept if kept is not None else [True] * len(lines)
                kept[row] = False
        return kept

    def _note_exceptions(self) -> None:
        """Note the columns that are text because of a few values."""
        for name, column in zip(self.names, self.columns, strict=True):
            self.notes += column.remarks(name)
            exception = None if column.remarks(name) else column.exception()
            if exception is not None:
                row, value, form = exception
                problem = f"Column {name!r} is text because of {value!r} in row {row + 1}; "
                instead = Setting("missing", value, item=True), " or ", Setting("types", kind(form), key=name)
                self.notes.append(
                    Message(problem, f"until there it was {kind(form)}. If that is a mistake: ", *instead, ".")
                )

    def note_bad_rows(self) -> None:
        """Note the rows that were repaired or skipped, and write the latter to a file."""
        if self.bad.literal:
            shown, line = self.bad.literal[0]
            found = f"{len(self.bad.literal)} lines, first line {line}"
            self.notes.append(
                f"{shown}: no value is quoted, so quotes are read as a part of the values they are in ({found})."
            )
        if self.bad.repaired:
            shown, line = self.bad.repaired[min(self.bad.repaired)]
            self.notes.append(
                f"{len(self.bad.repaired)} bad rows were repaired with missing values, first {shown} line {line}."
            )
        if self.bad.rejected:
            rejected = [self.bad.rejected[row] for row in sorted(self.bad.rejected)]
            path = self.rejected or os.path.basename(rejected[0][0]) + ".rejected.csv"
            write_rejected(path, rejected)
            self.notes.append(f"{len(rejected)} bad rows were left out; {path} says which and why.")


def _rows_of(batch: Batch, kept: list[bool]) -> Batch:
    mask = pa.array(kept)
    lines, rows = (list(compress(each or (), kept)) for each in (batch.lines, batch.rows))
    return Batch([column.filter(mask) for column in batch.columns], lines, rows)


def open_text(path: str, shown: str, notes: list[str], given: dict) -> TextFile:
    """A text file with its dialect and the names of its columns."""
    are_given = (given.get(name) is not None for name in ("encoding", "decimal"))
    file = TextFile(path, shown, sniff(path, shown, **given), [], False, *are_given)
    try:
        row = first_row(path, file.dialect, shown)
    except NotUtf8:
        file.change_encoding(notes)
        row = first_row(path, file.dialect, shown)
    if file.dialect.n_comments:
        notes.append(f"{shown}: {file.dialect.n_comments} lines at its beginning, marked with #, are comments.")
    named = file.dialect.header
    file.names = (
        _distinct([name.strip() for name in row], shown, notes) if named else [f"x{j}" for j in range(len(row))]
    )
    return file


def _distinct(names: list[str], shown: str, notes: list[str]) -> list[str]:
    """Unique names: blank names become column1, ...; the second "a" becomes "a_2"."""
    given: list[str] = []
    for j, name in enumerate(names):
        fresh, times = name or f"column{j + 1}", 1
        while fresh in given or (fresh != name and fresh in names):
            times += 1
            fresh = f"{name or 'column'}_{times}"
        if fresh != name:
            why = f"for {name!r} is taken" if name else "for it has no name"
            notes.append(f"{shown}: column {j + 1} is called {fresh!r}, {why}.")
        given.append(fresh)
    return given
