"""Detect overflow of sums of squares before they reach a solver."""

from __future__ import annotations

from typing import Any

import numpy as np


def refuse_overflow(squares: Any) -> None:
    """Raise ValueError unless all of these sums of squares are finite."""
    if not np.all(np.isfinite(squares)):
        raise ValueError(
            "The squares of these values overflow, so no linear model can be fitted. Standardize the columns "
            "(mercer.normalize.Standardize), or use float64 where they are float32."
        )
