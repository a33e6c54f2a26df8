"""`read`: tables of numbers as a `Source`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from mercer._runtime.errors import DataError, MercerError, Setting
from mercer.io.frames import frame_source
from mercer.io.parquet import parquet_source
from mercer.io.table import find_files, is_parquet, partition_columns, spool_if_text
from mercer.source import MemorySource, Source
from mercer.source.delayed import is_dask

_SUPPORTED = (
    "NumPy arrays, SciPy sparse matrices, pandas / polars / pyarrow frames, paths of CSV and Parquet files "
    "and the Bunch objects of sklearn.datasets"
)


def read(
    data: Any,
    target: Any = None,
    weight: Any = None,
    columns: Any = None,
    *,
    engine: Any = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Source:
    """Read a table of numbers as a source, which any Mercer estimator can be fitted to.

    Use it for tables of numbers, in memory or in files, before an estimator of this library. For text, categories and
    dates use `read_table` and `TableEncoder`; `mercer.fit` takes paths and frames itself. Arrays that fit into memory
    can be passed to estimators directly.

    Parameters
    ----------
    data : array, sparse matrix, data frame, path of CSV or Parquet files, Bunch, Dask collection or Source
        A frame may be of pandas, polars or pyarrow; its feature columns must be numbers (missing ones become NaN).
        A Parquet file is not loaded: its row groups are read as they are needed. A text file is first converted to a
        temporary Parquet file. Columns of text and dates: see `mercer.io.read_table`. Dask arrays, Dask data frames
        and lists of delayed blocks are computed chunk by chunk, on the Dask client of this process if there is one.
    target, weight : column name, or array with an entry per row, default=None
        The values to predict and the weights of the rows. A Bunch has its own target. Those of a file are columns of
        it.
    columns : list of names (of positions, for an array), default=None
        The feature columns; None takes every column but target and weight.
    engine : "threads", an executor of `concurrent.futures` or a `dask.distributed.Client`, default=None
        Where estimators process the rows, by default on the threads of this process. What they learn has the same bits
        on every engine.
    storage_options : dict, default=None
        Arguments of `fsspec.filesystem` for addresses such as s3://bucket/rows.parquet, see `mercer.io.read_table`.

    Returns
    -------
    Source

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> source = mercer.read(np.eye(3), target=[1.0, 2.0, 3.0])
    >>> source.n_rows
    3
    """
    if is_dask(data):
        from mercer.io.dask import dask_source

        return dask_source(data, target, weight, columns, engine, numbers=True)
    if isinstance(data, (str, os.PathLike)):
        source: Source = _from_path(data, target, weight, columns, dict(storage_options or {}))
    else:
        source = _opened(data, target, weight, columns)
    return source if engine is None else source.on(engine)


def _opened(data: Any, target: Any, weight: Any, columns: Any) -> Source:
    if isinstance(data, Source):
        return _as_it_is(data, target, weight, columns)
    if _is_bunch(data):
        return _from_bunch(data, target, weight, columns)
    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise DataError("This frame has not been computed yet:", remedy="call .collect() on it first.")
    if isinstance(frame, nw.DataFrame):
        return frame_source(frame, target, weight, columns)
    return _from_array(data, target, weight, columns)


def _as_it_is(source: Source, target: Any, weight: Any, columns: Any) -> Source:
    if target is not None or weight is not None or columns is not None:
        problem = "A Source already knows its target, weights and columns:"
        raise MercerError(problem, remedy="give them where it is made.")
    return source


def _from_path(
    path: str | os.PathLike, target: Any, weight: Any, columns: Any, storage_options: dict[str, Any]
) -> Source:
    """Parquet as it is, text through a temporary Parquet file; names and types are checked before reading rows."""
    from mercer.io.spool import Spool

    required = {name: what for name, what in ((target, "target"), (weight, "weight")) if isinstance(name, str)}
    spool = Spool(required=required)
    files = find_files(os.fspath(path), spool.folder, storage_options)
    text = not is_parquet(files[0][0])
    paths, names = spool_if_text(files, spool, {})
    found = (
        [(at, files[0][1]) for at in paths] if text else list(zip(paths, [shown for _, shown in files], strict=True))
    )
    source = parquet_source(found, target, weight, columns, partition_columns(files, names, spool))
    source.keep_alive, source.notes = spool.folder, spool.notes
    return source


def _is_bunch(data: Any) -> bool:
    return isinstance(data, dict) and hasattr(data, "data") and hasattr(data, "target")


def _from_bunch(bunch: Any, target: Any, weight: Any, columns: Any) -> Source:
    table, names = bunch.data, bunch.get("feature_names")
    if target is None or (isinstance(target, str) and not _has_column(table, target)):
        if isinstance(target, str) and target != getattr(bunch.target, "name", None):
            problem = "This Bunch brings its own target:"
            raise DataError(
                problem, remedy=f"leave target out instead of {target!r}.", parameter="target", value=target
            )
        target = bunch.target
    if isinstance(table, np.ndarray) and names is not None and len(names) == table.shape[1]:
        return _from_array(table, target, weight, columns, [str(name) for name in names])
    return read(table, target, weight, columns)


def _has_column(table: Any, name: str) -> bool:
    return name in getattr(table, "columns", ())


def _from_array(data: Any, target: Any, weight: Any, columns: Any, names: list[str] | None = None) -> MemorySource:
    X = data.tocsr() if hasattr(data, "tocsr") else _numbers(data)
    if X.ndim != 2:
        remedy = "One column of n rows has shape (n, 1): use data.reshape(-1, 1)."
        raise DataError(f"The rows must form a table of two dimensions, got shape {X.shape}.", remedy=remedy)
    if columns is not None:
        at = _positions(columns, names, X.shape[1])
        X, names = X[:, at], None if names is None else [names[j] for j in at]
    if 0 in X.shape:
        raise DataError(f"There is nothing to read: the table has {X.shape[0]} rows and {X.shape[1]} columns.")
    return MemorySource(X, _vector(target, "target"), _vector(weight, "weight"), names)


def _numbers(data: Any) -> np.ndarray:
    try:
        X = np.asarray(data)
    except ValueError as error:
        raise TypeError(f"The rows do not form a table ({error}). Supported: {_SUPPORTED}.") from error
    if X.dtype.kind not in "fiub":
        raise TypeError(
            f"{type(data).__name__} of {X.dtype} is not a table of numbers. Supported: {_SUPPORTED}. "
            "A table of mixed columns goes in as a data frame."
        )
    return X


def _positions(columns: Any, names: list[str] | None, width: int) -> list[int]:
    at = [names.index(c) if names is not None and c in names else c for c in columns]
    wrong = [c for c in at if not isinstance(c, (int, np.integer)) or not -width <= c < width]
    if wrong:
        problem = f"No column {wrong[0]!r}: an array of {width} columns is addressed by 0 to {width - 1}."
        raise DataError(problem, parameter="columns", value=wrong[0])
    return at


def _vector(values: Any, what: str) -> np.ndarray | None:
    if values is None:
        return None
    if isinstance(values, str):
        problem = ("An array has no column names, so ", Setting(what, values), " means nothing:")
        raise DataError(*problem, remedy=f"give {what} as an array.", parameter=what, value=values)
    return np.asarray(values)
