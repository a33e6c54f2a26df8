"""How much of a search fits into memory: its rows, and the Gram matrices of its features.

A search of n rows of p encoded columns and dictionaries of up to D features takes about

    fixed  +  n (8 copies p + told)  +  8 matrices D^2  +  block D    bytes.

Copies are those of the encoded rows, as they were read, encoded, binned once for each ensemble and learned from again;
`told` is what the watched rows of an ensemble were told. Matrices are those of the folds, their total and what is left
of them outside each fold, beside those of the dictionary that was kept. A block is the features of 8192 rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer.auto.budget.effort import Effort
from mercer.source.accumulator import BLOCK_ROWS

#: Columns that a column of the table becomes, by its kind and by experience.
_WIDENING = {"integer": 1, "number": 1, "boolean": 2, "date": 7, "text": 8}
#: Copies of encoded rows; each number takes 8 bytes.
_COPIES = 8
#: Bytes per row and output for what ensembles tell the rows they are watched on, and features of classes in float32.
_TOLD, _CLASSES = 1000, 8
_MATRICES = 24
#: Bytes for each feature of a row in a block, in the forms that it takes.
_FORMS = 16
#: Bytes for trees and whatever is loaded on the way, and forms of a row group of a file while a thread reads it.
_FIXED, _READING = 8e7, 2
#: The most that what is fixed is counted for, as a share of all, and the most of the others that features may take.
_FIXED_SHARE, _FEATURES = 0.5, 0.5
#: Gigabytes from which on there is room for all the features that a search tries beside its rows.
AMPLE = 4.0
_FEWEST, _ALONE = 64, 128


def encoded_columns(schema: dict[str, str]) -> int:
    """About the number of columns that a table of these kinds of columns becomes."""
    return max(1, sum(_WIDENING[kind] for kind in schema.values()))


def bytes_per_row(n_columns: int, n_outputs: int = 1, width: int = 0) -> int:
    """About the memory that a row takes while it is searched with; `width` is that of the features kept for classes."""
    return 8 * _COPIES * n_columns + _TOLD * n_outputs + _CLASSES * width


def bytes_of_features(width: int) -> float:
    """About the memory that a dictionary of so many features takes, whatever the rows."""
    return 8.0 * _MATRICES * width**2 + _FORMS * BLOCK_ROWS * width


def bytes_of_reading(source, n_threads: int) -> float:
    """About the memory that reading a file takes: each thread, and the first one, keeps a row group."""
    if source.bounds is None or len(source.bounds) < 2:
        return 0.0
    return 8.0 * _READING * (n_threads + 1) * float(np.max(np.diff(source.bounds))) * (1 + len(source.names))


def usable(memory: float, reading: float = 0.0) -> float:
    """What so many gigabytes leave for rows and features, in bytes."""
    return memory * 1e9 - min(_FIXED + reading, _FIXED_SHARE * memory * 1e9)


def most_features(room: float) -> int:
    """The features whose matrices take no more than their share of so many bytes."""
    room, linear = _FEATURES * room, _FORMS * BLOCK_ROWS
    return max(_FEWEST, int((np.sqrt(linear**2 + 32.0 * _MATRICES * room) - linear) / (16.0 * _MATRICES)))


def narrower(effort: Effort, room: float) -> Effort:
    """The effort with no more features than so many bytes hold, and fewer waves at a time."""
    most = most_features(room)
    return replace(
        effort,
        widest=min(effort.widest, most),
        most_waves=max(_FEWEST, min(effort.most_waves, most)),
        search_waves=max(_FEWEST // 2, min(effort.search_waves, most // 6)),
        metric_waves=max(_FEWEST // 2, min(effort.metric_waves, most // 3)),
    )


def reached(n_columns: int, effort: Effort) -> int:
    """About the most features that a search ends with."""
    pieces = min(max(1200, 2 * n_columns), effort.n_bins * n_columns, effort.widest // 2) if effort.n_bins > 1 else 0
    return max(n_columns, min(n_columns + pieces + effort.most_products + effort.most_waves, effort.widest))


def rows_in(room: float, schema: dict[str, str], effort: Effort, n_classes: int = 0) -> float:
    """How many rows of a table a search can keep in so many bytes beside its features."""
    effort = narrower(effort, room)
    n_columns = encoded_columns(schema)
    width = reached(n_columns, effort)
    left = max(room - bytes_of_features(width), room / 3)
    return left / bytes_per_row(n_columns, max(n_classes, 1), width if n_classes else 0)


def rows_alone(memory: float, n_columns: int, effort: Effort) -> float:
    """The same where there is ample memory: features are what they are, and rows take what they take alone."""
    return memory * 1e9 / (_ALONE * max(n_columns, 1) + 4 * min(effort.most_waves, effort.most_features))
