"""Text tables to one temporary Parquet file, the kind of each column decided over all rows."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mercer._runtime.errors import Location
from mercer.io.cells import TYPES, Candidates, kind, lenient
from mercer.io.columns import require_column
from mercer.io.csv_text import BadRows, Batch, NotUtf8, Unclean, careful_batches, fast_batches, first_row
from mercer.io.dialect import MISSING, Dialect, fallback_encoding, open_bytes, sniff
from mercer.io.needed import write_rejected

GROUP_ROWS = 65_536


class Folder:
    """A temporary folder that goes away with the last one who holds it, or with the process."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="mercer-")
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass
class TextFile:
    """One file of the table: where it is, what it is called in messages, its form and how it must be read."""

    path: str
    shown: str
    dialect: Dialect
    names: list[str]
    careful: bool = False


@dataclass
class Spool:
    """The reading of text files into Parquet. `notes` collects what the reader of the table should know.

    Parameters are those of `read_table`.
    """

    missing: tuple[str, ...] = MISSING
    types: dict[str, str] = field(default_factory=dict)
    on_bad_rows: str = "error"
    rejected: str | None = None
    needed: dict[str, str] = field(default_factory=dict)  # column to what it is, "target" or "weight": never missing
    like: dict[str, str] = field(default_factory=dict)  # kinds of the columns that other rows had
    notes: list[str] = field(default_factory=list)
    folder: Folder = field(default_factory=Folder)
    bad: BadRows = field(default_factory=BadRows)
    dialect: Dialect | None = None  # of the first text file

    def __post_init__(self):
        self.bad = BadRows(self.on_bad_rows)

    def run(self, files: list[TextFile]) -> str:
        """The path of the Parquet file that holds the rows of all files."""
        self.names, self.files = files[0].names, files
        self._refuse_differences(files)
        while True:
            self.bad = BadRows(self.on_bad_rows)
            try:
                path = self._write(files)
            except Unclean:
                self.current.careful = True
            except NotUtf8:
                self._change_encoding(self.current)
            else:
                break
        self.tell_of_bad_rows()
        return path

    def _refuse_differences(self, files):
        for other in files[1:]:
            if sorted(other.names) != sorted(self.names):
                missing, new = set(self.names) - set(other.names), set(other.names) - set(self.names)
                raise ValueError(
                    f"{other.shown} does not have the columns of {files[0].shown}: "
                    f"missing {sorted(missing) or 'none'}, new {sorted(new) or 'none'}. "
                    "Files read together must have the same columns."
                )
        unknown = [name for name in self.types if name not in self.names]
        if unknown:
            require_column(unknown[0], self.names, "types", files[0].shown)

    def _change_encoding(self, file: TextFile):
        if file.dialect.encoding not in ("utf-8", "utf-8-sig"):
            raise ValueError(f"{file.shown} is not {file.dialect.encoding}. Try encoding='latin-1'.")
        with open_bytes(file.path, file.dialect.compressed) as data:
            encoding = fallback_encoding(data.read())
        self.notes.append(f"{file.shown} is not UTF-8 after all: read as {encoding}.")
        file.dialect = replace(file.dialect, encoding=encoding)

    def _write(self, files) -> str:
        """Guess the kinds from the first rows and write; if later rows disagree, write again with what all agree on."""
        self.columns = [self._candidates(name, files[0].dialect) for name in self.names]
        path = os.path.join(self.folder.path, "rows.parquet")
        forms: list[str] | None = None
        writer = None
        for batch in self._batches(files):
            parsed = [column.see(values) for column, values in zip(self.columns, batch.columns, strict=True)]
            now = [column.form for column in self.columns]
            if forms is None and len(batch.columns[0]):
                forms, writer = now, Writer(path, self.names, now)
            if writer is not None and now == forms:
                writer.add(parsed)
        if writer is None:
            raise ValueError(f"{files[0].shown} has no rows{' below its header' * files[0].dialect.header}.")
        writer.close()
        final = [column.form for column in self.columns]
        if final != forms or writer.rows != self.columns[0].rows:
            self._write_as(final, files, path)
        self._tell_of_strays()
        return path

    def _write_as(self, forms, files, path):
        self.bad = BadRows(self.on_bad_rows)
        writer = Writer(path, self.names, forms)
        for batch in self._batches(files):
            parsed = zip(batch.columns, self.columns, strict=True)
            writer.add([lenient(values, column.form, column.decimal)[0] for values, column in parsed])
        writer.close()

    def _batches(self, files) -> Iterator[Batch]:
        """Batches of all files, columns in the order of the first file, missing markers made null."""
        for self.current in files:
            file = self.current
            width = len(self.names)
            if file.careful:
                batches = careful_batches(file.path, file.dialect, width, self.bad, file.shown)
            else:
                batches = fast_batches(file.path, file.dialect, width)
            order = [file.names.index(name) for name in self.names]
            for batch in batches:
                columns = [self._nulled(batch.columns[j], file.dialect.trim) for j in order]
                yield self._declared_only(self._with_needed(Batch(columns, batch.lines), file), file)

    def _with_needed(self, batch: Batch, file: TextFile) -> Batch:
        """The batch without rows that lack a target or weight, or an error that says where the first of them is."""
        kept = None
        for name, what in self.needed.items():
            column = batch.columns[self.names.index(name)]
            if column.null_count == 0:
                continue
            if batch.lines is None:
                raise Unclean  # only the careful reader knows the line
            for row in pc.indices_nonzero(pc.is_null(column)).to_pylist():
                reason = f"the {what} {name!r} is missing"
                if self.on_bad_rows != "skip":
                    raise ValueError(
                        f"{file.shown}, line {batch.lines[row]}: {reason}. A row without its {what} teaches nothing: "
                        "fill it in, or leave such rows out with on_bad_rows='skip'."
                    )
                self.bad.rejected.append((file.shown, batch.lines[row], reason, ""))
                kept = kept if kept is not None else [True] * len(batch.lines)
                kept[row] = False
        return batch if kept is None else _rows_of(batch, kept)

    def locate(self, row: int) -> Location:
        """File and line of a row of the table, found by reading the files once more, carefully."""
        self.bad, before = BadRows(self.on_bad_rows), 0
        for file in self.files:
            file.careful = True
        for batch in self._batches(self.files):
            if row < before + len(batch.columns[0]):
                return Location(self.current.shown, line=(batch.lines or [])[row - before])
            before += len(batch.columns[0])
        return Location(row=row)

    def _nulled(self, column, trim):
        bare = pc.utf8_trim_whitespace(column)
        if self.missing:
            absent = pc.is_in(bare, value_set=pa.array(self.missing, pa.string()))
            column = pc.if_else(absent, None, bare if trim else column)
        return bare if trim and not self.missing else column

    def _candidates(self, name, dialect) -> Candidates:
        if name not in self.types:
            return Candidates(dialect.decimal, "text" if self.like.get(name) == "text" else None)
        if self.types[name] not in TYPES:
            raise ValueError(f"types[{name!r}] must be one of {', '.join(TYPES)}, not {self.types[name]!r}.")
        return Candidates(dialect.decimal, self.types[name])

    def _declared_only(self, batch: Batch, file: TextFile) -> Batch:
        """The batch after values that contradict a type given by the user were dealt with."""
        columns, kept = list(batch.columns), None
        for j, name in enumerate(self.names):
            if name not in self.types or len(columns[j]) == 0:
                continue
            column = self.columns[j]
            column.settle(columns[j])
            _, lost = lenient(columns[j], column.form, column.decimal)
            if not pc.any(lost).as_py():
                continue
            if batch.lines is None:
                raise Unclean  # only the careful reader knows the line
            columns[j] = pc.if_else(lost, None, columns[j])
            kept = self._judge(batch, j, lost, file, kept)
        return Batch(columns, batch.lines) if kept is None else _rows_of(Batch(columns, batch.lines), kept)

    def _judge(self, batch, j, lost, file, kept):
        name, wanted = self.names[j], self.types[self.names[j]]
        for row in pc.indices_nonzero(lost).to_pylist():
            line, value = batch.lines[row], batch.columns[j][row].as_py()
            reason = f"column {name!r} holds {value!r}, not a {wanted}"
            if self.on_bad_rows == "error":
                raise ValueError(
                    f"{file.shown}, line {line}: {reason}. Mend it, add it to missing=, declare another type, "
                    "or read with on_bad_rows='null' or 'skip'."
                )
            if self.on_bad_rows == "null":
                self.bad.mended.append((file.shown, line))
            else:
                self.bad.rejected.append((file.shown, line, reason, value))
                kept = kept if kept is not None else [True] * len(batch.lines)
                kept[row] = False
        return kept

    def _tell_of_strays(self):
        """Columns that are text because of a few values only."""
        for name, column in zip(self.names, self.columns, strict=True):
            stray = column.stray()
            if stray is not None:
                row, value, form = stray
                self.notes.append(
                    f"Column {name!r} is text because of {value!r} in row {row + 1}; until there it was {kind(form)}. "
                    f"If that is a mistake: missing=[..., {value!r}] or types={{{name!r}: {kind(form)!r}}}."
                )

    def tell_of_bad_rows(self):
        """Notes of the rows that were mended or left out, and a file of the latter."""
        if self.bad.mended:
            shown, line = self.bad.mended[0]
            self.notes.append(
                f"{len(self.bad.mended)} bad rows were mended with missing values, first {shown} line {line}."
            )
        if self.bad.rejected:
            path = self.rejected or os.path.basename(self.bad.rejected[0][0]) + ".rejected.csv"
            write_rejected(path, self.bad.rejected)
            self.notes.append(f"{len(self.bad.rejected)} bad rows were left out; {path} says which and why.")


def _rows_of(batch: Batch, kept) -> Batch:
    mask = pa.array(kept)
    lines = [line for line, keep in zip(batch.lines or (), kept, strict=True) if keep]
    return Batch([column.filter(mask) for column in batch.columns], lines)


class Writer:
    """Parquet in row groups of about GROUP_ROWS rows."""

    def __init__(self, path, names, forms):
        self.schema = pa.schema([(name, TYPES[kind(form)]) for name, form in zip(names, forms, strict=True)])
        text = [field.name for field in self.schema if field.type == pa.string()]
        self.out = pq.ParquetWriter(path, self.schema, compression="lz4", use_dictionary=text, write_statistics=False)
        self.waiting: list[pa.RecordBatch] = []
        self.rows = self.held = 0

    def add(self, columns) -> None:
        """More rows, as one array per column."""
        batch = pa.record_batch(columns, schema=self.schema)
        self.waiting.append(batch)
        self.rows, self.held = self.rows + len(batch), self.held + len(batch)
        if self.held >= GROUP_ROWS:
            self._flush()

    def close(self) -> None:
        """Write what waits and close the file."""
        if self.held:
            self._flush()
        self.out.close()

    def _flush(self):
        self.out.write_table(pa.Table.from_batches(self.waiting), row_group_size=GROUP_ROWS)
        self.waiting, self.held = [], 0


def open_text(path: str, shown: str, notes: list[str], given: dict) -> TextFile:
    """A text file with its dialect and the names of its columns."""
    dialect = sniff(path, shown, **given)
    row = first_row(path, dialect, shown)
    if not dialect.header:
        return TextFile(path, shown, dialect, [f"x{j}" for j in range(len(row))])
    return TextFile(path, shown, dialect, _distinct([name.strip() for name in row], shown, notes))


def _distinct(names, shown, notes) -> list[str]:
    """Blank names become column1, ...; the second "a" becomes "a_2"."""
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
