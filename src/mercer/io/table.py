"""`read_table`: files and frames of mixed columns as a source of raw rows."""

from __future__ import annotations

import glob
import os
import shutil
import sys
from typing import Any

import numpy as np

from mercer.io.columns import require_column
from mercer.io.dialect import MISSING
from mercer.io.needed import complete, leave_out
from mercer.source import Columns, MemorySource, Source, TableSource
from mercer.source.table import is_column_dict, table_in_memory

_POLICIES = ("error", "skip", "null")


def read_table(
    data,
    target=None,
    weight=None,
    *,
    delimiter=None,
    quote=None,
    header=None,
    decimal=None,
    encoding=None,
    missing=MISSING,
    types=None,
    on_bad_rows="error",
    rejected=None,
    like=None,
) -> Source:
    """A source of raw rows: numbers, dates and text as they are, for `mercer.tables` to turn into features.

    Text files are read once, in blocks, into a temporary Parquet file that goes away with the source. The kind of a
    column (boolean, integer, number, date or text) is decided over **all** of its values: one 1.5 among a million whole
    numbers makes a column of numbers. Codes such as 007, and whole numbers too long for their type, stay text, for
    their digits mean something; so do days and months that cannot be told apart.

    Parameters
    ----------
    data : path, glob, "-", frame, dict of columns, array or Source
        CSV, TSV and the like (gzip too) and Parquet; a glob reads all files of one schema in sorted order; "-" is
        standard input. Frames may be of pandas, polars or pyarrow.
    target, weight : name of a column (or an array, for data in memory), default=None
    delimiter, quote, header, decimal, encoding : default=None
        Of text files: sniffed from the first quarter of a megabyte unless given. The findings are in
        `source.dialect`. ``quote=""`` says that nothing is quoted.
    missing : sequence of str
        What stands for a missing value; the default is `mercer.io.MISSING`.
    types : dict of column names to "boolean", "integer", "number", "date" or "text", default=None
        Kinds that are not to be guessed. A value that contradicts one makes its row a bad row.
    on_bad_rows : {"error", "skip", "null"}, default="error"
        What to do with rows of too few or too many fields, values that contradict `types`, and rows without their
        target or weight: stop with file, line and remedy; leave them out and write them with reasons to
        `rejected`; or put missing values in their place (rows too long are cut; a target cannot be mended). Parquet
        and tables in memory hold their kinds already: there only rows without their target or weight are bad.
    rejected : path, default=None
        Where "skip" writes rejected rows; FILE.rejected.csv in the current folder unless given. Of tables in memory
        only if given; `notes` counts them in any case.
    like : dict of column names to kinds, default=None
        The schema of the rows that a model was fitted to: its columns of text are read as text, whatever a short file
        of new rows may suggest.

    Returns
    -------
    Source
        Its blocks hold `mercer.source.Columns`. `schema` maps names to kinds, `notes` lists what was noticed.

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
        raise ValueError(f"on_bad_rows must be one of {', '.join(_POLICIES)}, not {on_bad_rows!r}.")
    target, weight = as_name(target, data), as_name(weight, data)
    if isinstance(target, str) and target == weight:
        raise ValueError(f"{target!r} cannot be the target and the weight at once.")
    if isinstance(data, Source):
        if target is not None or weight is not None:
            raise ValueError("A Source already knows its target and weights: give them where it is made.")
        return data
    needed = {name: what for name, what in ((target, "target"), (weight, "weight")) if isinstance(name, str)}
    if not isinstance(data, (str, os.PathLike)):
        return _in_memory(data, target, weight, needed if on_bad_rows == "skip" else {}, rejected)
    form = {"delimiter": delimiter, "quote": quote, "header": header, "decimal": decimal, "encoding": encoding}
    from mercer.io.spool import Spool

    spool = Spool(tuple(missing), dict(types or {}), on_bad_rows, rejected, needed, dict(like or {}))
    return _from_files(find_files(os.fspath(data), spool), target, weight, spool, form)


def as_name(given, data):
    """The name of a column as text, as a table has it (a frame may have numbers for names); arrays as they are."""
    if given is None or isinstance(given, str):
        return given
    names = list(getattr(data, "column_names", getattr(data, "columns", [])))
    if np.ndim(given) == 0 or (isinstance(given, tuple) and given in names):
        return str(given)
    listed = isinstance(given, (list, tuple)) and 0 < len(given) <= len(names) and len(given) != len(data)
    if listed and all(each in names for each in given):
        raise ValueError(
            f"{given!r} are names of columns. One is named as {given[0]!r}; of several give the values, as in "
            "data[[...]].to_numpy(), and leave the columns out of the data."
        )
    return given


def _in_memory(data, target, weight, needed, rejected) -> MemorySource:
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
        raise ValueError("The table has no rows: there is nothing to learn from.")
    table, notes = complete(table, needed, rejected)
    return table_in_memory(table, target, weight, notes)


def find_files(path: str, spool) -> list[tuple[str, str]]:
    """(path, what to call it) of each file: one, those of a glob in sorted order, or what standard input brings."""
    if path == "-":
        if sys.stdin is None:
            raise ValueError("Standard input is closed: there is nothing to read.")
        copy = os.path.join(spool.folder.path, "stdin")
        with open(copy, "wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        return [(copy, "standard input")]
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder: give a file, or a pattern such as {os.path.join(path, '*.csv')}.")
    if os.path.exists(path):
        return [(path, path)]
    found = sorted(name for name in glob.glob(path, recursive=True) if os.path.isfile(name))
    if not found:
        where = f"looked from {os.getcwd()}"
        what = "no file matches this pattern" if glob.has_magic(path) else "there is no such file"
        raise FileNotFoundError(f"{path}: {what} ({where}).")
    return [(name, name) for name in found]


def is_parquet(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1"


def _from_files(files, target, weight, spool, form) -> TableSource:
    paths, names = spool_if_text(files, spool, form)
    for name, what in ((target, "target"), (weight, "weight")):
        if name is not None and not isinstance(name, str):
            raise ValueError(f"A file is read in blocks, so {what} must be the name of one of its columns.")
        if name is not None:
            require_column(name, names, what, files[0][1])
    features = _features(paths[0], names, (target, weight), spool)
    source: Any = TableSource(paths, features, target, weight, spool.notes, spool.folder)
    if source.n_rows == 0:
        raise ValueError(f"{files[0][1]} has no rows.")
    source.dialect = spool.dialect
    if source.dialect is None and spool.on_bad_rows == "skip" and spool.needed:
        leave_out(source, spool.needed, files, spool)
        source.notes = list(spool.notes)
    source.locate_line = spool.locate if source.dialect is not None else None
    return source


def _features(path, names, named, spool) -> list[str] | None:
    """The feature columns of a Parquet file, without those that are no numbers, dates or text; None for all others."""
    if spool.dialect is not None:
        return None
    from mercer.io.parquet import nested

    odd = {name: kind for name, kind in nested(path).items() if name not in named}
    spool.notes += [f"Column {name!r} is left out: {kind} is no number, date or text." for name, kind in odd.items()]
    return [name for name in names if name not in odd and name not in named]


def spool_if_text(files, spool, form) -> tuple[list[str], list[str]]:
    """The Parquet files to read, and the names of their columns."""
    kinds = {is_parquet(path) for path, _ in files}
    if len(kinds) == 2:
        raise ValueError("Parquet files and text files cannot be read as one table: give one pattern for each.")
    if kinds == {True}:
        from mercer.io.parquet import same_schema

        return [path for path, _ in files], same_schema(files)
    from mercer.io.spool import open_text

    opened = [open_text(path, shown, spool.notes, form) for path, shown in files]
    hint = "" if opened[0].dialect.header else " Row 1 was taken for values: header=True if it names the columns."
    for name, what in spool.needed.items():
        require_column(name, opened[0].names, what, opened[0].shown, hint)
    path = spool.run(opened)
    spool.dialect = opened[0].dialect
    return [path], spool.names
