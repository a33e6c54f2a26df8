"""Grids of the values of a column, and mean predictions on them.

Grid values are values of held-out rows. Each column of a table is encoded without regard to the others, so the encoded
form of a grid value is that of the row it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import Histogram
from mercer.auto.diagnostics.sections.outputs import histogram, n_features, sampled, short_text, shown_predictions
from mercer.tables.values import numbers, times_of

CATEGORIES = ("category", "high-cardinality")
#: Quantiles between which grid values lie.
_LOW, _HIGH = 0.01, 0.99
_N_BINS = 20
_DAY = 86_400_000_000  # microseconds
#: Numbers that are computed for the mean predictions on one grid, about; and the rows of the background.
_ENTRIES, _MIN_BACKGROUND, _MAX_BACKGROUND = 2_500_000, 20, 100


@dataclass(frozen=True)
class Grid:
    """Values of a column.

    role : the role of the column
    index : for each value a row that holds it
    values : the values as a report shows them
    cells : for each row the nearest value, -1 where it is missing or none of the categories
    density : the distribution of the rows
    """

    column: str
    role: str
    index: np.ndarray
    values: list[Any]
    cells: np.ndarray
    density: Histogram

    def __len__(self) -> int:
        return len(self.index)

    def frequencies(self) -> np.ndarray:
        """The fraction of the rows at each value, of those that are at any."""
        counts = np.bincount(self.cells[self.cells >= 0], minlength=len(self)).astype(float)
        return counts / max(counts.sum(), 1.0)


def role_of(rows: HeldOutRows, name: str) -> str:
    """The role of a column."""
    return rows.encoder.roles_[name].role


def ordered_values(rows: HeldOutRows, name: str) -> np.ndarray:
    """A column of numbers, or of dates in microseconds since 1970, as float64 with NaN where missing."""
    if role_of(rows, name) != "date":
        return np.asarray(numbers(rows.table, name), dtype=np.float64)
    times = times_of(rows.table, name)
    return np.where(np.isnat(times), np.nan, times.view(np.int64).astype(np.float64))


def grid_of(rows: HeldOutRows, name: str, max_values: int, max_categories: int) -> Grid | None:
    """Quantiles of numbers and dates, or the most frequent categories; None for texts, or for a single value."""
    role = role_of(rows, name)
    if role in CATEGORIES:
        return _category_grid(rows, name, max_categories)
    return _ordered_grid(rows, name, max_values) if role in ("number", "date") else None


def _ordered_grid(rows: HeldOutRows, name: str, max_values: int) -> Grid | None:
    x = ordered_values(rows, name)
    present = np.flatnonzero(np.isfinite(x))
    order = present[np.argsort(x[present], kind="stable")]
    _, first = np.unique(x[order], return_index=True)
    if len(first) > max_values:
        quantiles = np.rint(np.linspace(_LOW, _HIGH, max_values) * (len(order) - 1)).astype(np.intp)
        _, chosen = np.unique(x[order[quantiles]], return_index=True)
        first = quantiles[chosen]
    if len(first) < 2:
        return None
    index = order[first]
    values = x[index]
    cells = np.where(np.isfinite(x), np.searchsorted((values[1:] + values[:-1]) / 2, np.nan_to_num(x)), -1)
    counts, edges = histogram(x[present], _N_BINS, values[0], values[-1])
    density: Histogram = {"edges": shown_values(rows, name, edges, False), "counts": counts.tolist()}
    return Grid(name, role_of(rows, name), index, shown_values(rows, name, values), cells, density)


def shown_values(rows: HeldOutRows, name: str, values: np.ndarray, exact: bool = True) -> list[Any]:
    """Numbers, or ISO dates; integers where a column of integers has exactly these values."""
    if role_of(rows, name) == "date":
        days = bool(np.all(values % _DAY == 0)) or values[-1] - values[0] > 100 * _DAY
        times = values.astype(np.int64).view("M8[us]")
        return np.datetime_as_string(times, unit="D" if days else "s").tolist()
    whole = exact and rows.table.schema[name] == "integer"
    return [int(value) if whole else float(value) for value in values]


def _category_grid(rows: HeldOutRows, name: str, max_values: int) -> Grid | None:
    codes = rows.table.codes(name)
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    values = rows.table[first].table[name].to_pylist()
    known = np.flatnonzero([value is not None for value in values])
    chosen = known[np.argsort(-counts[known], kind="stable")][:max_values]
    if len(chosen) < 2:
        return None
    position = np.full(len(first), -1)
    position[chosen] = np.arange(len(chosen))
    labels = [short_text(values[k]) for k in chosen]
    density: Histogram = {"labels": labels, "counts": counts[chosen].tolist()}
    return Grid(name, role_of(rows, name), first[chosen], labels, position[codes], density)


def predictions_on(rows: HeldOutRows, grids: Sequence[Grid], n_background: int = _MAX_BACKGROUND) -> np.ndarray:
    """Predictions of background rows whose columns take all combinations of grid values: (..., rows, outputs).

    The predictions are those of `shown_predictions`.
    """
    shape = tuple(len(grid) for grid in grids)
    size = _ENTRIES // (int(np.prod(shape)) * n_features(rows.predictor.features, rows.X))
    background = rows.X[sampled(len(rows.y), min(n_background, max(_MIN_BACKGROUND, size)))]
    X = np.empty((*shape, *background.shape))
    X[...] = background
    for axis, grid in enumerate(grids):
        columns = rows.groups[grid.column]
        values = rows.X[np.ix_(grid.index, columns)]
        others = [1] * (len(grids) - 1 - axis)
        X[..., columns] = values.reshape(*[1] * axis, len(grid), *others, 1, len(columns))
    return shown_predictions(rows, X.reshape(-1, X.shape[-1])).reshape(*shape, len(background), -1)
