"""How much of the holdout can be evaluated."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.auto.budget.clock import Clock
from mercer.auto.budget.probe import predicting_seconds, some_of
from mercer.source import Source

#: The fewest rows to evaluate.
_MIN_ROWS = 500


def held_out_in_time(
    held_out: Source, model: Any, n_rows: float, clock: Clock, fraction: float, seed: int
) -> tuple[Source, float, list[str]]:
    """The part of about `n_rows` held-out rows that a fraction of the time allows, its rows, and a note on it."""
    if clock.budget is None:
        return held_out, n_rows, []
    seconds = predicting_seconds(held_out, model, n_rows, clock)
    allowed = max(clock.part(fraction).left(), 0.1 * clock.left())
    if seconds <= allowed:
        return held_out, n_rows, []
    part = float(np.clip(allowed / seconds, min(_MIN_ROWS / n_rows, 0.999), 0.999))
    note = f"The time budget was short: about {part:.2%} of the holdout were evaluated."
    return some_of(held_out, part, seed), part * n_rows, [note]
