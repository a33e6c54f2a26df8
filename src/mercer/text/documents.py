"""Columns of documents in Arrow's layout: contiguous UTF-8 bytes with the offset of each document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


class Documents:
    """Rows of one or more text columns without missing values; sliced and concatenated like a 2-D array."""

    def __init__(self, columns: list[Any]):
        self.columns_of_text = columns

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.columns_of_text[0]), len(self.columns_of_text)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, selection: slice | np.ndarray) -> Documents:
        if isinstance(selection, slice):
            start, stop, _ = selection.indices(len(self))
            return Documents([column.slice(start, max(stop - start, 0)) for column in self.columns_of_text])
        rows = np.asarray(selection)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        return Documents([column.take(rows) for column in self.columns_of_text])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        texts = np.empty(self.shape, dtype=object)
        for j, column in enumerate(self.columns_of_text):
            texts[:, j] = column.to_pylist()
        return texts

    def __array_function__(self, function: Any, types: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Support `numpy.concatenate` of blocks of rows, and no other NumPy function."""
        if function is not np.concatenate or not all(isinstance(part, Documents) for part in args[0]):
            return NotImplemented
        import pyarrow as pa

        parts = zip(*(part.columns_of_text for part in args[0]), strict=True)
        large = pa.large_string()  # 64-bit offsets
        return Documents([pa.concat_arrays([column.cast(large) for column in columns]) for columns in parts])


def as_documents(X: Any, missing: str = "empty", start: int = 0) -> Documents:
    """Convert a list, array, series, frame or Arrow table of strings, in one or several columns."""
    if isinstance(X, Documents):
        return X
    columns = [_refuse_or_fill(_arrow(column, j, start), j, missing, start) for j, column in enumerate(_columns(X))]
    return Documents(columns)


def _columns(X: Any) -> list[Any]:
    if isinstance(X, str | bytes):
        raise ValueError("X is one string, not a list of documents: put it into a list.")
    if hasattr(X, "column_names") and hasattr(X, "columns"):  # an Arrow table
        return list(X.columns)
    if hasattr(X, "columns"):
        if len(X.columns) == 0:
            raise ValueError("The table has no columns. At least one column of text is needed.")
        return [X[name] for name in X.columns]
    if hasattr(X, "tocsr"):
        raise TypeError("X is a sparse matrix of numbers, but TextFeatures needs strings.")
    if hasattr(X, "to_arrow") or hasattr(X, "to_pylist") or hasattr(X, "iloc"):  # a series or an Arrow array
        return [X]
    if not isinstance(X, np.ndarray):
        X = list(X)
        nested = X and isinstance(X[0], list | tuple | np.ndarray)
        if not nested:
            return [X]
        X = np.array(X, dtype=object)
    if X.ndim not in (1, 2):
        raise ValueError(f"X has {X.ndim} dimensions, but documents come in 1 or 2 (several text columns).")
    return [X] if X.ndim == 1 else list(X.T)


def _arrow(column: Any, j: int, start: int) -> Any:
    """Convert one column to an Arrow array of strings."""
    import pyarrow as pa

    if hasattr(column, "to_arrow"):
        column = column.to_arrow()
    elif not isinstance(column, pa.Array | pa.ChunkedArray):
        column = _from_objects(column, j, start)
    kind = column.type
    if not _is_text(kind.value_type if pa.types.is_dictionary(kind) else kind):
        raise ValueError(f"Column {j} holds {kind}, not text. Convert it to strings first.")
    if isinstance(column, pa.ChunkedArray):
        column = column.cast(pa.large_string()).combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return column if pa.types.is_string(column.type) else column.cast(pa.large_string())


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    kinds = pa.types
    known = (kinds.is_string, kinds.is_large_string, kinds.is_string_view, kinds.is_binary, kinds.is_large_binary)
    return kinds.is_null(kind) or any(is_it(kind) for is_it in known)


def _from_objects(column: Any, j: int, start: int) -> Any:
    import pyarrow as pa

    values = column.tolist() if isinstance(column, np.ndarray) else column
    try:
        return pa.array(values, from_pandas=True, type=None if hasattr(values, "iloc") else pa.large_string())
    except UnicodeEncodeError as error:
        raise ValueError(f"Column {j} holds a string that is not Unicode text (a lone surrogate): {error}.") from error
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
        rows = enumerate(list(values), start)
        row, value = next((row, v) for row, v in rows if not (isinstance(v, str | bytes) or v is None or v != v))
        raise ValueError(
            f"Column {j} holds {value!r}, a {type(value).__name__}, at row {row}: a document must be a string. "
            "Convert numbers to strings first, or drop the column."
        ) from error


def _refuse_or_fill(column: Any, j: int, missing: str, start: int) -> Any:
    """Replace missing documents by empty ones, or refuse them."""
    if column.null_count == 0:
        return column
    if missing == "error":
        row = start + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise ValueError(
            f"Column {j} has no document at row {row}. Fill it in, drop the row, or use missing='empty' to treat it "
            "as an empty one."
        )
    return column.fill_null("")


def _buffers(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """The bytes of a column of strings and the offsets of its documents, without copying."""
    import pyarrow as pa

    _, offsets, data = column.buffers()
    kind = np.int32 if pa.types.is_string(column.type) else np.int64
    if len(column) == 0:
        return np.zeros(0, np.uint8), np.zeros(1, kind)
    begins = np.frombuffer(offsets, kind)[column.offset : column.offset + len(column) + 1]
    return np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8), begins


def chunks_of(column: Any, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Split a column into chunks of about `size` bytes, at least one document each."""
    data, offsets = _buffers(column)
    first, n = 0, len(offsets) - 1
    while first < n:
        last = int(np.searchsorted(offsets, int(offsets[first]) + size, side="right")) - 1
        last = min(max(last, first + 1), n)
        yield data, offsets[first : last + 1]
        first = last
