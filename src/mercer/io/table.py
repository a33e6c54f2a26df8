"""`read_table`: files and frames of mixed columns as a source of raw rows."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._runtime.errors import DataError, MercerError, Message, ParameterError, Setting
from mercer.io.columns import require_column
from mercer.io.dialect import MISSING
from mercer.io.required import complete_rows, skip_incomplete_rows
from mercer.io.storage.find import found_files, partitions_of
from mercer.io.storage.prepare import first_bytes, local_text, small_row_groups
from mercer.source import Columns, MemorySource, Source, TableSource
from mercer.source.delayed import is_dask
from mercer.source.table import is_column_dict, table_in_memory

if TYPE_CHECKING:
    from mercer.io.spool import Spool
    from mercer.io.temporary import TemporaryFolder

_POLICIES = ("error", "skip", "null")


def read_table(
    data: Any,
    target: Any = None,
    weight: Any = None,
    *,
    delimiter: str | None = None,
    quote: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] = MISSING,
    types: Mapping[str, str] | None = None,
    on_bad_rows: str = "error",
    rejected: str | None = None,
    like: Mapping[str, str] | None = None,
    engine: Any = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Source:
    """Read a table of mixed columns as a source of raw rows, which `mercer.tables` turns into features.

    Text files are converted in blocks to a temporary Parquet file that is removed with the source. The kind of a column
    (boolean, integer, number, date or text) is inferred from **all** of its values: one 1.5 among a million integers
    makes a column of numbers. Codes such as 007 and integers too long for 64 bits stay text, because their digits
    matter; so do dates whose day and month cannot be distinguished.

    Use it for files and frames of mixed columns, with `TableEncoder` or to look at the schema. Use `read` for numbers
    alone, which needs no inference of types. `mercer.fit(path)` calls it; calling it yourself is for options such as
    `types` and `on_bad_rows`.

    Parameters
    ----------
    data : path, glob, folder, address, "-", frame, dict of columns, array, Dask collection or Source
        CSV, TSV and the like (gzip, zstd and bzip2 too) and Parquet. A glob or a folder reads all files of one schema
        in sorted order; folders such as year=2024 are columns of Parquet files. An address is that of an object store,
        such as s3://bucket/rows.parquet. "-" is standard input. Frames may be of pandas, polars or pyarrow. Dask
        arrays, Dask data frames and lists of delayed blocks are computed chunk by chunk, on the Dask client of this
        process if there is one.
    target, weight : name of a column (or an array, for data in memory), default=None
    delimiter, quote, header, decimal, encoding : default=None
        Of text files: detected from the first quarter of a megabyte unless given. The result is in
        `source.dialect`. ``quote=""`` means that nothing is quoted.
    missing : sequence of str
        Markers of missing values; the default is `mercer.io.MISSING`.
    types : dict of column names to "boolean", "integer", "number", "date" or "text", default=None
        Declared kinds, which are not inferred. A value that contradicts one makes its row a bad row.
    on_bad_rows : {"error", "skip", "null"}, default="error"
        The policy for rows of too few or too many fields, values that contradict `types`, and rows without their
        target or weight: raise an error with file, line and remedy; skip them and write them with reasons to
        `rejected`; or replace bad values by missing ones (rows too long are cut; a target cannot be replaced). Parquet
        files and tables in memory have typed columns: there only rows without their target or weight are bad.
    rejected : path, default=None
        The file to which "skip" writes rejected rows; FILE.rejected.csv in the current folder by default. For tables in
        memory there is no default; `notes` counts the rows in any case.
    like : dict of column names to kinds, default=None
        The schema of the rows that a model was fitted to: its columns of text are read as text, also if a short file
        of new rows suggests another kind.
    engine : "threads", an executor of `concurrent.futures` or a `dask.distributed.Client`, default=None
        Where passes over the rows run, by default on the threads of this process.
    storage_options : dict, default=None
        Arguments of `fsspec.filesystem` for addresses. Without them pyarrow opens s3://, gs:// and abfs://, with the
        credentials of the environment. They are sent to the workers of an engine.

    Returns
    -------
    Source
        Its blocks hold `mercer.source.Columns`. `schema` maps names to kinds, `notes` lists remarks on the data.
        `skipped_rows` and `repaired_rows` are the numbers, from 0, of the rows of the input that were left out or in
        which bad values were replaced; `input_rows(start, stop)` gives the numbers of the rows that are left.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "people.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("name;height;born\\nAda;1,65;10.12.1815\\nBob;NA;31.01.1990\\n")
    >>> source = read_table(path)
    >>> source.schema
    {'name': 'text', 'height': 'number', 'born': 'date'}
    >>> print(source.dialect)
    delimiter ';', quote ", header, decimal ',', utf-8
    """
    if on_bad_rows not in _POLICIES:
        raise ParameterError("on_bad_rows", on_bad_rows, f"must be one of {', '.join(_POLICIES)}")
    target, weight = as_name(target, data), as_name(weight, data)
    if isinstance(target, str) and target == weight:
        raise DataError(f"{target!r} cannot be the target and the weight at once.", parameter="weight", column=target)
    if isinstance(data, Source):
        if target is not None or weight is not None:
            raise MercerError("A Source already knows its target and weights:", remedy="give them where it is made.")
        return data if engine is None else data.on(engine)
    if is_dask(data):
        from mercer.io.dask import dask_source

        return dask_source(data, target, weight, None, engine, numbers=False)
    required = {name: what for name, what in ((target, "target"), (weight, "weight")) if isinstance(name, str)}
    if not isinstance(data, (str, os.PathLike)):
        return _in_memory(data, target, weight, required if on_bad_rows == "skip" else {}, rejected).on(engine)
    form = {"delimiter": delimiter, "quote": quote, "header": header, "decimal": decimal, "encoding": encoding}
    from mercer.io.spool import Spool

    spool = Spool(tuple(missing), dict(types or {}), on_bad_rows, rejected, required, dict(like or {}))
    files = find_files(os.fspath(data), spool.folder, dict(storage_options or {}))
    return _from_files(files, target, weight, spool, form).on(engine)


def as_name(given: Any, data: Any) -> Any:
    """The name of a column as a string (a frame may have numbers for names); arrays as they are."""
    if given is None or isinstance(given, str):
        return given
    names = list(getattr(data, "column_names", getattr(data, "columns", [])))
    if np.ndim(given) == 0 or (isinstance(given, tuple) and given in names):
        return str(given)
    listed = isinstance(given, (list, tuple)) and 0 < len(given) <= len(names) and len(given) != len(data)
    if listed and all(each in names for each in given):
        raise DataError(
            f"{given!r} are names of columns.",
            remedy=f"One is named as {given[0]!r}; of several give the values, as in data[[...]].to_numpy(), and leave "
            "the columns out of the data.",
        )
    return given


def _in_memory(data: Any, target: Any, weight: Any, required: dict[str, str], rejected: str | None) -> MemorySource:
    if isinstance(data, dict) and not is_column_dict(data):  # a Bunch of scikit-learn
        bunch: Any = data
        data, names = bunch.data, bunch.get("feature_names")
        target = bunch.target if target is None else target
        if names is not None and not hasattr(data, "columns"):
            data = {str(name): data[:, j] for j, name in enumerate(names)}
    table = Columns.of(data)
    for name, what in ((target, "target"), (weight, "weight")):
        if isinstance(name, str):
            require_column(name, table.columns, what, "The table")
    if len(table) == 0:
        raise DataError("The table has no rows: there is nothing to learn from.")
    table, notes, skipped = complete_rows(table, required, rejected)
    source = table_in_memory(table, target, weight, notes)
    source.skipped_rows = skipped
    return source


def find_files(path: str, folder: TemporaryFolder, options: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    """(path, displayed name) of each file: one, those of a pattern or a folder, or a copy of standard input."""
    if path == "-":
        if sys.stdin is None:
            raise DataError("Standard input is closed: there is nothing to read.")
        copy = os.path.join(folder.path, "stdin")
        from mercer.io.temporary import temporary_space

        with temporary_space(), open(copy, "wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        return [(copy, "standard input")]
    return [(name, str(name)) for name in found_files(path, options)]


def is_parquet(path: str) -> bool:
    """Whether a file begins like a Parquet file."""
    return first_bytes(path) == b"PAR1"


def _from_files(
    files: list[tuple[str, str]], target: Any, weight: Any, spool: Spool, form: dict[str, Any]
) -> TableSource:
    paths, names = spool_if_text(files, spool, form)
    partitions = partition_columns(files, names, spool)
    names = [*names, *partitions]
    for name, what in ((target, "target"), (weight, "weight")):
        if name is not None and not isinstance(name, str):
            problem = ("A file is read in blocks, so ", Setting(what), " must be the name of one of its columns.")
            raise DataError(*problem, parameter=what, file=files[0][1])
        if name is not None:
            require_column(name, names, what, files[0][1])
    features = _features(paths[0], names, (target, weight), spool)
    source = TableSource(paths, features, target, weight, spool.notes, spool.folder, partitions)
    if source.n_rows == 0:
        raise DataError(f"{files[0][1]} has no rows.", file=files[0][1])
    source.dialect = spool.dialect
    if source.dialect is None and spool.on_bad_rows == "skip" and spool.required:
        skip_incomplete_rows(source, files, spool)
        source.notes = list(spool.notes)
    source.skipped_rows, source.repaired_rows = sorted(spool.bad.rejected), sorted(spool.bad.repaired)
    source.rejected = [spool.bad.rejected[row] for row in source.skipped_rows]
    source.locate_line = spool.locate if source.dialect is not None else None
    return source


def _features(path: str, names: list[str], named: tuple, spool: Spool) -> list[str] | None:
    """The feature columns of a Parquet file, without nested ones; None for text files, which have no others."""
    if spool.dialect is not None:
        return None
    from mercer.io.parquet import nested

    odd = {name: kind for name, kind in nested(path).items() if name not in named}
    spool.notes += [f"Column {name!r} is left out: {kind} is not a number, date or text." for name, kind in odd.items()]
    return [name for name in names if name not in odd and name not in named]


def partition_columns(files: list[tuple[str, str]], names: list[str], spool: Spool) -> dict[str, list[Any]]:
    """The columns of folders such as year=2024, unless the files have them; text files become one file without."""
    found = partitions_of([path for path, _ in files])
    if found and spool.dialect is not None:
        spool.notes.append(f"Folders named {', '.join(found)}=... are columns for Parquet files only: not read.")
        return {}
    return {name: values for name, values in found.items() if name not in names}


def spool_if_text(files: list[tuple[str, str]], spool: Spool, form: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The Parquet files to read, converted from text if needed, and the names of their columns."""
    from mercer.io.checkpoint.converted import converted_once

    return converted_once(spool, lambda: _spooled(files, spool, form))


def _spooled(files: list[tuple[str, str]], spool: Spool, form: dict[str, Any]) -> tuple[list[str], list[str]]:
    kinds = {is_parquet(path) for path, _ in files}
    if len(kinds) == 2:
        problem = "Parquet files and text files cannot be read as one table:"
        raise DataError(problem, remedy="give one pattern for each.")
    if kinds == {True}:
        from mercer.io.parquet import same_schema

        names = same_schema(files)
        return [small_row_groups(path, spool.folder.path, spool.notes) for path, _ in files], names
    from mercer.io.spool import open_text

    files = [(local_text(path, shown, spool.folder.path), shown) for path, shown in files]
    opened = [open_text(path, shown, spool.notes, form) for path, shown in files]
    hint = Message(" Row 1 was taken for values: ", Setting("header", True), " if it names the columns.")
    hint = Message("") if opened[0].dialect.header else hint
    for name, what in spool.required.items():
        require_column(name, opened[0].names, what, opened[0].shown, hint)
    path = spool.run(opened)
    spool.dialect = opened[0].dialect
    return [path], spool.names
