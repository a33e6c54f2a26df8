"""Memory of a search: its rows, and the Gram matrices of its features.

A search of n rows of p encoded columns with up to D features takes about

    fixed  +  n (8 copies p + per output)  +  8 matrices D^2  +  block D    bytes.

Copies are those of the encoded rows as they are read, encoded, binned once for each ensemble and used in the refit.
Per output are the out-of-fold scores of an ensemble. Matrices are those of the folds, of their total and of the rows
outside each fold, beside those of the features that were kept. A block is the features of 8192 rows.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from mercer._runtime.errors import ParameterError
from mercer.auto.budget.effort import Effort
from mercer.auto.constants import MAX_TREE_CLASSES
from mercer.source import Source
from mercer.source.accumulator import BLOCK_ROWS

#: Encoded columns of a column of the table by its kind, about.
_COLUMNS_PER_KIND = {"integer": 1, "number": 1, "boolean": 2, "date": 7, "text": 8}
#: Copies of encoded rows, at 8 bytes a number.
_COPIES = 8
#: Bytes per row and output for out-of-fold scores, and per row and feature of classes in float32.
_BYTES_PER_OUTPUT, _BYTES_PER_FEATURE = 1000, 8
#: Bytes per row and class where there are so many that no trees are grown.
BYTES_PER_CLASS = 64
_MATRICES = 24
#: The same of normal equations without folds, and of equations in the space of the rows.
_MATRICES_OF_ONE_FOLD, _MATRICES_OF_ROWS = 5, 12
#: Bytes for each feature of a row in a block.
_BYTES_PER_ENTRY = 16
#: Bytes for each pair of rows of a kernel matrix: half of them in float32, and as much for its factors and vectors.
_KERNEL_BYTES = 4.0
#: Bytes for trees and imported modules, and copies of a row group of a file while a thread reads it.
_FIXED, _COPIES_READ = 8e7, 2
#: Fixed bytes as a fraction of all, at most, and the fraction of the others that features may take.
_MAX_FIXED_FRACTION, _FEATURE_FRACTION = 0.5, 0.5
#: Gigabytes from which on memory does not limit the number of features.
AMPLE = 4.0
_MIN_FEATURES, _BYTES_PER_VALUE = 64, 128
#: Bytes of a unit of memory; a bare number counts gigabytes.
_UNITS = {"": 1e9, "b": 1.0}
_UNITS |= {f"{prefix}{i}b": (1024.0 if i else 1000.0) ** n for n, prefix in enumerate("kmgt", 1) for i in ("", "i")}


def gigabytes(memory: Any) -> Any:
    """Gigabytes from a number of them, or from a text with a unit; other values as they are.

    >>> gigabytes("500 MB"), gigabytes("1GB"), gigabytes(2.0), gigabytes("1GiB"), gigabytes(None)
    (0.5, 1.0, 2.0, 1.073741824, None)
    """
    if not isinstance(memory, str):
        return memory
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*", memory.lower())
    unit = None if found is None else _UNITS.get(found[2])
    if found is None or unit is None:
        remedy = "Units are kB, MB, GB and TB, or KiB, MiB, GiB and TiB; a bare number counts gigabytes."
        raise ParameterError("memory", memory, "must be a size such as '1GB' or '500MB'", remedy=remedy)
    return float(found[1]) * unit / 1e9


def encoded_columns(schema: dict[str, str]) -> int:
    """About the number of encoded columns of a table with these kinds of columns."""
    return max(1, sum(_COLUMNS_PER_KIND[kind] for kind in schema.values()))


def bytes_per_row(n_columns: int, n_outputs: int = 1, width: int = 0) -> int:
    """About the bytes of a row during the search; `width` is the number of features kept for classes."""
    return 8 * _COPIES * n_columns + bytes_of_outputs(n_outputs) + _BYTES_PER_FEATURE * width


def bytes_of_outputs(n_outputs: int) -> int:
    """About the bytes of a row for its outputs.

    >>> bytes_of_outputs(50), bytes_of_outputs(1000)
    (50000, 64000)
    """
    return n_outputs * (_BYTES_PER_OUTPUT if n_outputs <= MAX_TREE_CLASSES else BYTES_PER_CLASS)


def bytes_of_features(width: int) -> float:
    """About the bytes of `width` features, whatever the rows."""
    return 8.0 * _MATRICES * width**2 + _BYTES_PER_ENTRY * BLOCK_ROWS * width


def bytes_of_equations(n_rows: int, width: int, n_folds: int = 1) -> float:
    """About the bytes of ridge equations of streamed rows: of matrices of features, or of rows where these are fewer.

    >>> round(bytes_of_equations(10**6, 1000) / 1e9, 2), round(bytes_of_equations(2000, 100_000) / 1e9, 2)
    (0.17, 1.98)
    """
    if n_rows <= width:
        return 8.0 * n_rows * width + 8.0 * _MATRICES_OF_ROWS * n_rows**2
    matrices = _MATRICES_OF_ONE_FOLD if n_folds == 1 else _MATRICES
    return 8.0 * matrices * width**2 + _BYTES_PER_ENTRY * BLOCK_ROWS * width


def bytes_of_reading(source: Source, n_threads: int) -> float:
    """About the bytes of reading a file: each thread, and the first one, keeps a row group."""
    if source.bounds is None or len(source.bounds) < 2:
        return 0.0
    return 8.0 * _COPIES_READ * (n_threads + 1) * float(np.max(np.diff(source.bounds))) * (1 + len(source.names or ()))


def usable(memory: float, reading: float = 0.0) -> float:
    """Bytes for rows and features in a number of gigabytes."""
    return memory * 1e9 - min(_FIXED + reading, _MAX_FIXED_FRACTION * memory * 1e9)


def most_features(room: float) -> int:
    """The number of features whose matrices fit into their fraction of the bytes."""
    room, linear = _FEATURE_FRACTION * room, _BYTES_PER_ENTRY * BLOCK_ROWS
    return max(_MIN_FEATURES, int((np.sqrt(linear**2 + 32.0 * _MATRICES * room) - linear) / (16.0 * _MATRICES)))


def narrower(effort: Effort, room: float, most: int = 1_000_000) -> Effort:
    """The effort with no more features than fit into the bytes, or than `most`, and fewer random features at a time."""
    most = min(most, most_features(room))
    return replace(
        effort,
        max_width=min(effort.max_width, most),
        max_fourier=max(_MIN_FEATURES, min(effort.max_fourier, most)),
        max_landmarks=min(effort.max_landmarks, most),
        max_kernel_rows=min(effort.max_kernel_rows, int(np.sqrt(_FEATURE_FRACTION * max(room, 0.0) / _KERNEL_BYTES))),
        search_features=max(_MIN_FEATURES // 2, min(effort.search_features, most // 6)),
        metric_features=max(_MIN_FEATURES // 2, min(effort.metric_features, most // 3)),
    )


def reached(n_columns: int, effort: Effort) -> int:
    """About the largest number of features of a search."""
    bins = min(max(1200, 2 * n_columns), effort.n_bins * n_columns, effort.max_width // 2) if effort.n_bins > 1 else 0
    kernel = max(effort.max_fourier, effort.max_landmarks)
    return max(n_columns, min(n_columns + bins + effort.max_products + kernel, effort.max_width))


def rows_in(room: float, schema: dict[str, str], effort: Effort, n_classes: int = 0) -> float:
    """Rows of a table that fit into the bytes beside the features of the search."""
    effort = narrower(effort, room)
    n_columns = encoded_columns(schema)
    width = reached(n_columns, effort)
    left = max(room - bytes_of_features(width), room / 3)
    return left / bytes_per_row(n_columns, max(n_classes, 1), width if n_classes else 0)


def rows_alone(memory: float, n_columns: int, effort: Effort) -> float:
    """Rows that fit where memory does not limit the number of features."""
    return memory * 1e9 / (_BYTES_PER_VALUE * max(n_columns, 1) + 4 * min(effort.max_fourier, effort.max_features))
