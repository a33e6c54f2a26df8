"""Checks of objects that come from a model file: a class states in `_check_loaded` what its arrays must satisfy.

Whatever indexes memory, bounds a loop or divides is checked once, when the file is loaded. A violation is a ValueError
that `mercer.load` reports as a damaged file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

#: Learned attributes that predictions and features are computed from: no NaN or infinity among them.
WEIGHTS = frozenset(
    (
        *("_G", "_U", "_W", "_b", "_c", "_coef", "_columns", "_landmarks", "_low", "_means", "_run_factors", "_signs"),
        *("_squares", "X_fit_", "base", "baseline", "centers", "centers_", "coef", "coef_", "coefs", "components_"),
        *("data_max_", "data_min_", "degree_factors", "dictionary_", "dual_coef_", "eigenvectors_", "encodings_"),
        *("frequencies", "frequencies_", "idf_", "intercept", "intercept_", "landmarks_", "matrix", "mean_", "metric_"),
        *("factor", "offset", "quantiles_", "ranks_", "root_", "shift", "shift_", "slope", "support_vectors_"),
        *("target_mean_", "value", "var_", "weights_", "whitening_"),
    )
)
#: Numbers that features are divided by: the range of a column may be too large for float64.
SCALES = frozenset(("_scale", "_shift", "bound_", "scale", "scale_"))
_DIVISORS = ("._scale", ".scale_")


def require(holds: Any, problem: str) -> None:
    """Refuse a loaded object unless the condition holds."""
    if not holds:
        raise ValueError(f"The model is damaged: {problem}.")


def require_applies(model: Any) -> None:
    """Let a loaded model try itself on a row, if its class has a way to: `_check_applies`."""
    check = getattr(model, "_check_applies", None)
    if check is not None:
        check()


def require_finite(name: str, value: Any, infinite: bool = False) -> None:
    """Refuse NaN and, unless `infinite`, infinity in a weight: a number, an array, or a list or dict of them."""
    if isinstance(value, (list, tuple, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            require_finite(name, each, infinite)
        return
    values = value.data if hasattr(value, "tocsr") else value
    if name.endswith(_DIVISORS) and isinstance(values, (int, float, np.ndarray, np.number)):
        require(np.all(np.asarray(values) != 0), f"{name} holds zeros")
    require(not infinite or not isinstance(values, np.ndarray) or values.dtype.kind == "f", f"{name} is not in floats")
    if isinstance(values, (float, np.floating)) or (isinstance(values, np.ndarray) and values.dtype.kind == "f"):
        good = ~np.isnan(values) if infinite and isinstance(values, np.ndarray) else np.isfinite(values)
        require(np.all(good), f"{name} holds NaN or infinity")


def require_vectors(length: int, kind: str, **arrays: Any) -> None:
    """Refuse all but one-dimensional arrays of this length, of one of the kinds of dtype."""
    for name, array in arrays.items():
        good = isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in kind
        require(good and len(array) == length, f"{name} is not a vector of {length} numbers")


def require_indices(name: str, indices: np.ndarray, size: int) -> None:
    """Refuse indices that are not among 0 .. size - 1."""
    inside = len(indices) == 0 or (indices.min() >= 0 and indices.max() < size)
    require(inside, f"{name} is not within 0 .. {size - 1}")


def require_bounds(name: str, bounds: np.ndarray, limit: int) -> None:
    """Refuse bounds that do not rise from 0 to `limit`."""
    rising = len(bounds) > 0 and bounds[0] == 0 and bounds[-1] == limit and np.all(bounds[1:] >= bounds[:-1])
    require(rising, f"{name} do not rise from 0 to {limit}")


def require_increasing(name: str, columns: Iterable[Any]) -> None:
    """Refuse lists of numbers, one for each column, that are empty or do not increase."""
    for values in columns:
        good = isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind == "f" and len(values) > 0
        require(good and np.all(values[1:] > values[:-1]), f"{name} do not increase")
