"""Inputs of kernels, read lazily as numbers or as objects."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from mercer._numeric.linalg.distances import is_sparse


class KernelInput:
    """The rows of X: an array, a CSR matrix, a data frame of numbers, or any sequence of objects.

    Values are read and validated on first use and cached, so that a sum of kernels validates its
    input once.
    """

    def __init__(self, raw: Any, name: str = "X", is_column: bool = False) -> None:
        self.raw = raw
        self.name = name
        self.is_column = is_column  # one column of a table: a sequence of its cells

    def __len__(self) -> int:
        return self.raw.shape[0] if hasattr(self.raw, "shape") else len(self.raw)

    @cached_property
    def numbers(self) -> Any:
        """A finite 2-D float32 or float64 array, or a canonical CSR array of the same."""
        return _sparse_numbers(self) if is_sparse(self.raw) else _dense_numbers(self)

    @cached_property
    def items(self) -> list[Any]:
        """The rows as a list of single objects."""
        if is_sparse(self.raw):
            return [self.raw[[i]] for i in range(len(self))]
        if _names(self.raw) is not None:  # iterating over a data frame gives its columns
            return list(np.asarray(self.raw))
        return list(self.raw)

    @property
    def dtype(self) -> np.dtype:
        """float32 for rows of float32 numbers, float64 for everything else."""
        found = getattr(self.raw, "dtype", None)
        if found is None and hasattr(self.raw, "dtypes"):
            kinds = {str(kind).lower() for kind in self.raw.dtypes}
            found = kinds.pop() if len(kinds) == 1 else None
        return np.dtype(np.float32 if found == "float32" else np.float64)

    def select(self, columns: Any) -> KernelInput:
        """The rows restricted to some columns: numbers, names, a slice or a mask."""
        names = _names(self.raw)
        chosen = column_positions(columns, _width(self), names)
        if self.is_column:
            return self
        single = isinstance(chosen, int)
        if names is not None:
            wanted = names[chosen] if single else [names[j] for j in chosen]
            raw = self.raw.select(wanted) if hasattr(self.raw, "select") and not single else self.raw[wanted]
        elif is_sparse(self.raw):
            raw, single = self.raw.tocsr()[:, [chosen] if single else chosen], False
        elif isinstance(self.raw, np.ndarray):
            raw = self.raw[:, chosen]
        else:
            raw = [row[chosen] if single else [row[j] for j in chosen] for row in self.raw]
        return KernelInput(raw, self.name, is_column=single)


def input_pair(X: Any, Y: Any) -> tuple[KernelInput, KernelInput]:
    """Inputs of X and of Y; the same object twice when Y is None or X itself."""
    first = KernelInput(X, "X")
    return first, (first if Y is None or Y is X else KernelInput(Y, "Y"))


def matching_numbers(X: KernelInput, Y: KernelInput) -> tuple[Any, Any]:
    """The numbers of both in one precision, after checking that they have the same columns."""
    A, B = X.numbers, Y.numbers
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"X has {A.shape[1]} columns and Y has {B.shape[1]}: a kernel compares rows with the same columns"
        )
    dtype = np.result_type(A.dtype, B.dtype)
    return A.astype(dtype, copy=False), (A if X is Y else B).astype(dtype, copy=False)


def column_positions(columns: Any, width: int, names: list[Any] | None = None) -> Any:
    """A position, or a list of positions, from a column number or name, a list of them, a slice or a mask."""
    if isinstance(columns, slice):
        return list(range(width))[columns]
    if isinstance(columns, str | int | np.integer) and not isinstance(columns, bool):
        return _position(columns, width, names)
    columns = list(columns)
    if columns and all(isinstance(c, bool | np.bool_) for c in columns):
        if len(columns) != width:
            raise ValueError(f"the mask of columns has {len(columns)} entries for {width} columns")
        return [j for j, keep in enumerate(columns) if keep]
    return [_position(c, width, names) for c in columns]


def _position(column: Any, width: int, names: list[Any] | None) -> int:
    if isinstance(column, int | np.integer):
        if not -width <= column < width:
            raise ValueError(f"column {column} does not exist: there are only {width} columns")
        return int(column) % width
    if names is None:
        raise ValueError(f"column {column!r} is given by name, but the rows are not a data frame")
    if column not in names:
        raise ValueError(f"there is no column {column!r}; the columns are {', '.join(map(str, names))}")
    return names.index(column)


def _names(raw: Any) -> list[Any] | None:
    """The column names of a data frame (pandas, polars, Arrow), None for anything else."""
    names = getattr(raw, "column_names", None)
    if names is None:
        names = getattr(raw, "columns", None)
    return None if names is None else list(names)


def _width(rows: KernelInput) -> int:
    """How many columns a table has."""
    if rows.is_column:
        return 1
    shape = getattr(rows.raw, "shape", None)
    if shape is None:
        first = rows.raw[0] if len(rows.raw) else ()
        if isinstance(first, list | tuple | np.ndarray):
            return len(first)
    elif len(shape) == 2:
        return shape[1]
    raise ValueError(f"{rows.name} has no columns to choose from: a table (rows, columns) is needed")


def _dense_numbers(rows: KernelInput) -> np.ndarray:
    array = np.asarray(rows.raw)
    if rows.is_column and array.ndim == 1:
        array = array[:, None]
    if array.ndim == 1:
        raise ValueError(
            f"{rows.name} must be 2-D (rows, columns), got {array.shape[0]} values in 1-D: "
            "use reshape(-1, 1) if they are one column, reshape(1, -1) if they are one row"
        )
    if array.ndim != 2:
        raise ValueError(f"{rows.name} must be 2-D (rows, columns), got {array.ndim} dimensions")
    if array.shape[1] == 0:
        raise ValueError(f"{rows.name} has no columns")
    array = _as_float(array, rows)
    with np.errstate(all="ignore"):
        if not np.isfinite(array.sum()) and not np.isfinite(array).all():
            row, column = np.argwhere(~np.isfinite(array))[0]
            _refuse(array[row, column], row, column, rows)
    return array


def _as_float(array: np.ndarray, rows: KernelInput) -> np.ndarray:
    if array.dtype in (np.float32, np.float64):
        return array
    if array.dtype.kind == "c":
        raise ValueError(f"{rows.name} holds complex numbers; use their real and imaginary parts as columns")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        row, column, value = _first_non_number(array)
        raise ValueError(
            f"{rows.name} must hold numbers, found {value!r} in {_location(row, column, rows)}: "
            "encode it as numbers first, or restrict the kernel to the numeric columns with .on(columns)"
        ) from None


def _first_non_number(array: np.ndarray) -> tuple[int, int, Any]:
    for (row, column), value in np.ndenumerate(array):
        try:
            float(value)
        except (TypeError, ValueError):
            return row, column, value
    return 0, 0, array.dtype


def _sparse_numbers(rows: KernelInput) -> Any:
    from scipy.sparse import csr_array

    matrix = csr_array(rows.raw)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    bad = ~np.isfinite(matrix.data)
    if bad.any():
        at = int(np.argmax(bad))
        row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        _refuse(matrix.data[at], row, int(matrix.indices[at]), rows)
    return matrix


def _refuse(value: Any, row: int, column: int, rows: KernelInput) -> NoReturn:
    what = "NaN (a missing value)" if np.isnan(value) else "an infinite value"
    raise ValueError(
        f"{rows.name} has {what} in {_location(row, column, rows)}: impute, clip or drop such values first"
    )


def _location(row: int, column: int, rows: KernelInput) -> str:
    names = _names(rows.raw)
    return f"column {column if names is None else repr(names[column])}, first in row {row}"
