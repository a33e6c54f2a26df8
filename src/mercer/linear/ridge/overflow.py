"""Squares of large values overflow: say so before a solver meets an infinity."""

from __future__ import annotations

import numpy as np


def refuse_overflow(squares) -> None:
    """Raise ValueError unless all of these sums of squares are finite."""
    if not np.all(np.isfinite(squares)):
        raise ValueError(
            "The squares of these values overflow: no linear fit can weigh them. Standardize the columns "
            "(mercer.normalize.Standardize), or use float64 where they are float32."
        )
