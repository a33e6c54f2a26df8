"""Encoding of numbers that keeps their order to the last bit, for monotone columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.tables.columns import SmoothClipped


@dataclass(frozen=True)
class MonotoneClipped(SmoothClipped):
    """`SmoothClipped` as sign(z) 3 / sqrt(1 + 9 / z^2): rounding of each operation keeps the order of numbers.

    A quotient of two numbers that both grow, as in z / sqrt(1 + (z/3)^2), may fall by its rounding error.
    """

    @staticmethod
    def squash(z: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            return np.copysign(3.0 / np.sqrt(1.0 + 9.0 / (z * z)), z)

    @classmethod
    def like(cls, part: SmoothClipped) -> MonotoneClipped:
        """The same center and scale."""
        return cls(part.column, part.center, part.scale)
