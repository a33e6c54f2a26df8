"""Partial dependence of the prediction on single columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import Effect
from mercer.auto.diagnostics.sections.grids import grid_of, predictions_on
from mercer.auto.diagnostics.sections.outputs import has_one_output, is_sparse, shown_name

_MAX_EFFECTS, _MAX_VALUES, _MAX_CATEGORIES = 8, 30, 12


def section(rows: HeldOutRows, strongest: Sequence[str]) -> list[Effect] | None:
    """The effect curves of the first columns of `strongest` that have any; None for texts alone."""
    if is_sparse(rows) or not has_one_output(rows):
        return None
    found: list[Effect] = []
    for name in strongest:
        made = effect(rows, name)
        if made is not None:
            found.append(made)
        if len(found) == _MAX_EFFECTS:
            break
    return found or None


def effect(rows: HeldOutRows, name: str) -> Effect | None:
    """The mean over background rows of the prediction with the column at each value of a grid.

    Of several classes it is that of the class whose curve varies most.
    """
    grid = grid_of(rows, name, _MAX_VALUES, _MAX_CATEGORIES)
    if grid is None:
        return None
    each = predictions_on(rows, [grid])  # values, rows, outputs
    output = int(np.argmax(np.std(each.mean(axis=1), axis=0)))
    curves = each[..., output]
    mean = curves.mean(axis=1)
    changes = curves - curves.mean(axis=0)
    low, high = mean.mean() + np.quantile(changes, [0.25, 0.75], axis=1)
    return {
        "column": name,
        "role": grid.role,
        "output": shown_name(rows, output),
        "x": grid.values,
        "mean": mean.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "density": grid.density,
    }
