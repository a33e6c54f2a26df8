"""Arrays as JSON: rounded lists, and bytes for images."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np


def rounded(values: Any, digits: int = 7) -> Any:
    """Return numbers as nested lists with so many significant digits; what is not finite becomes null."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0:
        return float(f"{float(array):.{digits}g}") if np.isfinite(array) else None
    finite = np.isfinite(array)
    size = np.abs(array, where=finite, out=np.ones_like(array))
    size[size == 0] = 1.0
    scale = 10.0 ** (digits - 1 - np.floor(np.log10(size)))
    usable = finite & np.isfinite(scale) & (np.abs(array) * np.minimum(scale, 1e300) < 1e15)
    out = np.where(usable, np.round(array * np.where(usable, scale, 1.0)) / np.where(usable, scale, 1.0), array)
    if finite.all():
        return out.tolist()
    listed = out.astype(object)
    listed[~finite] = None
    return listed.tolist()


def shown(value: float) -> str:
    """Return a number as text with three digits; what is only rounding is 0."""
    return "0" if abs(value) < 1e-12 else f"{value:.3g}"


def as_bytes(values: np.ndarray, low: float, high: float) -> str:
    """Return values on the scale from low to high as base64 of one byte each."""
    span = high - low if high > low else 1.0
    levels = np.clip((values - low) / span * 255, 0, 255).round().astype(np.uint8)
    return b64encode(levels.tobytes()).decode("ascii")


def as_floats(values: np.ndarray) -> str:
    """Return values as base64 of little-endian float32; what exceeds its range is cut, and signs are kept."""
    largest, smallest = float(np.finfo(np.float32).max), float(np.finfo(np.float32).tiny)
    clipped = np.clip(np.nan_to_num(values, nan=0.0), -largest, largest)
    # A score of 1e-50 still decides the class.
    clipped = np.where((clipped != 0) & (np.abs(clipped) < smallest), np.sign(clipped) * smallest, clipped)
    return b64encode(np.ascontiguousarray(clipped, dtype="<f4").tobytes()).decode("ascii")
