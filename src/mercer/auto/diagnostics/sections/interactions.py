"""Pairs of columns that act together: two-way partial dependence less the effects of each column."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import Interaction
from mercer.auto.diagnostics.sections.grids import CATEGORIES, Grid, grid_of, predictions_on, role_of
from mercer.auto.diagnostics.sections.outputs import has_one_output, is_sparse, sampled, shown_name, shown_predictions

_MAX_COLUMNS, _MAX_PAIRS, _MAX_VALUES = 6, 3, 12
#: Values per column, and background rows, of the first comparison of all pairs; background rows of the strongest.
_FEW_VALUES, _FEW_ROWS, _N_ROWS = 5, 20, 40
#: Interactions below this fraction of the standard deviation of predictions are left out.
_MIN_STRENGTH = 0.01


def section(rows: HeldOutRows, strongest: Sequence[str]) -> list[Interaction] | None:
    """The strongest pairs of the strongest columns of numbers or categories; None if there are fewer than two."""
    if is_sparse(rows) or not has_one_output(rows):
        return None
    names = [name for name in strongest if role_of(rows, name) in ("number", *CATEGORIES)]
    few = {name: grid_of(rows, name, _FEW_VALUES, _FEW_VALUES) for name in names[:_MAX_COLUMNS]}
    pairs = list(combinations([grid for grid in few.values() if grid is not None], 2))
    if not pairs:
        return None
    ranked = sorted(pairs, key=lambda pair: -_strongest(rows, pair[0], pair[1], _FEW_ROWS)[0])[:_MAX_PAIRS]
    some = shown_predictions(rows, rows.X[sampled(len(rows.y), 500)])
    least = _MIN_STRENGTH * float(np.max(np.std(some, axis=0)))
    made = (interaction(rows, one.column, other.column) for one, other in ranked)
    found = [each for each in made if each is not None and each["strength"] > least]
    return sorted(found, key=lambda each: -each["strength"])


def interaction(rows: HeldOutRows, one: str, other: str) -> Interaction | None:
    """The interaction of two columns; of several classes that of the class where it is strongest.

    None if a column has no grid.
    """
    x, y = (grid_of(rows, name, _MAX_VALUES, _MAX_VALUES) for name in (one, other))
    if x is None or y is None:
        return None
    strength, output, remainder = _strongest(rows, x, y, _N_ROWS)
    return {
        "columns": [one, other],
        "strength": strength,
        "output": shown_name(rows, output),
        "x": x.values,
        "y": y.values,
        "remainder": remainder.T.tolist(),
    }


def _strongest(rows: HeldOutRows, x: Grid, y: Grid, n_background: int) -> tuple[float, int, np.ndarray]:
    """The strength of the interaction, the output where it is strongest, and the remainder there, x by y."""
    surfaces = predictions_on(rows, [x, y], n_background).mean(axis=2)
    p, q = x.frequencies(), y.frequencies()
    inside = (x.cells >= 0) & (y.cells >= 0)
    parts = [doubly_centered(surfaces[..., k], p, q) for k in range(surfaces.shape[-1])]
    strengths = [float(np.std(part[x.cells[inside], y.cells[inside]])) if inside.any() else 0.0 for part in parts]
    best = int(np.argmax(strengths))
    return strengths[best], best, parts[best]


def doubly_centered(surface: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """F(x, y) less its means over y and over x, plus the overall mean, at frequencies p of x and q of y.

    >>> doubly_centered(np.add.outer([1.0, 2.0], [0.0, 5.0]), np.array([0.5, 0.5]), np.array([0.9, 0.1]))
    array([[0., 0.],
           [0., 0.]])
    """
    of_x, of_y = surface @ q, p @ surface
    return surface - of_x[:, None] - of_y + p @ of_x
