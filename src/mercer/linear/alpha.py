"""The parameter `alpha` of linear models: a number, several, or "path"."""

from __future__ import annotations

import numpy as np

Alpha = str | float | list[float] | tuple[float, ...] | np.ndarray


def check_alpha(alpha: Alpha, zero: bool = False) -> None:
    """Raise ValueError unless alpha is "path" or holds finite positive numbers (or zero, where that is allowed)."""
    if isinstance(alpha, str):
        if alpha != "path":
            raise ValueError(f"alpha must be 'path', a number or a list of numbers, not {alpha!r}.")
        return
    values = np.asarray(alpha)
    if values.size == 0 or not np.all(np.isfinite(values)) or np.any(values < 0 if zero else values <= 0):
        raise ValueError(f"alpha must be finite and {'not negative' if zero else 'positive'}, not {alpha!r}.")
