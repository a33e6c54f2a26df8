"""Predictions over the two strongest columns of numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import Boundary, BoundaryPoint
from mercer.auto.diagnostics.sections.grids import ordered_values, role_of
from mercer.auto.diagnostics.sections.outputs import (
    has_one_output,
    is_sparse,
    sampled,
    short_text,
    shown_name,
    shown_predictions,
)
from mercer.auto.rows.encoding import dense
from mercer.source import Columns

_SIZE, _MAX_POINTS = 40, 200
#: Quantiles of the held-out values between which the grid lies.
_LOW, _HIGH = 0.02, 0.98


def section(rows: HeldOutRows, strongest: Sequence[str]) -> Boundary | None:
    """Predictions on a grid of the two strongest columns of numbers, the others at the mean encoded row.

    Of several classes: the probability of the class that varies most over the grid. None if there are no two columns
    of numbers.
    """
    if is_sparse(rows) or not has_one_output(rows):
        return None
    axes = [(name, axis) for name in strongest for axis in [_axis(rows, name)] if axis is not None][:2]
    if len(axes) < 2:
        return None
    (one, x), (other, y) = axes
    X = np.empty((len(y), len(x), len(rows.baseline)))
    X[...] = rows.baseline
    X[..., rows.groups[one]] = _encoded(rows, one, x)
    X[..., rows.groups[other]] = _encoded(rows, other, y)[:, None]
    each = shown_predictions(rows, X.reshape(-1, X.shape[-1]))
    output = int(np.argmax(np.std(each, axis=0)))
    return {
        "x_title": one,
        "y_title": other,
        "output": shown_name(rows, output),
        "x": x.tolist(),
        "y": y.tolist(),
        "values": each[:, output].reshape(len(y), len(x)).tolist(),
        "points": _points(rows, (one, x), (other, y)),
    }


def _axis(rows: HeldOutRows, name: str) -> np.ndarray | None:
    """Evenly spaced values of a column of numbers, whole ones of integers; None for others and for a single value."""
    if role_of(rows, name) != "number" or rows.table.schema[name] == "boolean":
        return None
    x = ordered_values(rows, name)
    x = x[np.isfinite(x)]
    if len(x) < 2:
        return None
    low, high = np.quantile(x, [_LOW, _HIGH])
    values = np.linspace(low, high, _SIZE)
    values = np.unique(np.rint(values) if rows.table.schema[name] == "integer" else values)
    return values if len(values) > 1 else None


def _encoded(rows: HeldOutRows, name: str, values: np.ndarray) -> np.ndarray:
    """The encoded columns of values of a column."""
    import pyarrow as pa

    table = rows.table[np.zeros(len(values), dtype=np.int64)].table
    column = table.schema.get_field_index(name)
    kind = table.schema.field(name).type
    changed = table.set_column(column, name, pa.array(values).cast(kind))
    return dense(rows.encoder.transform(Columns(changed)))[:, rows.groups[name]]


def _points(rows: HeldOutRows, x: tuple[str, np.ndarray], y: tuple[str, np.ndarray]) -> list[BoundaryPoint]:
    """Held-out rows within the grid, with their targets."""
    values = [ordered_values(rows, name) for name, _ in (x, y)]
    inside = np.ones(len(rows.y), dtype=bool)
    for each, (_, axis) in zip(values, (x, y), strict=True):
        inside &= (each >= axis[0]) & (each <= axis[-1])
    index = np.flatnonzero(inside)
    index = index[sampled(len(index), _MAX_POINTS)]
    labels = np.asarray(rows.y)[index].tolist()
    return [
        {"x": float(values[0][k]), "y": float(values[1][k]), "label": short_text(label)}
        for k, label in zip(index, labels, strict=True)
    ]
