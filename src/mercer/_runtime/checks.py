"""Argument checks whose errors say what was wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import numpy as np


def refuse_missing(X: Any, names: Sequence[str] | None = None, start: int = 0, allow_nan: bool = False) -> None:
    """Raise ValueError naming the column and the first row of an infinity or (unless allowed) NaN in X.

    X is dense or CSR; `start` is the index of its first row in the data set.
    """
    values = X.data if hasattr(X, "tocsr") else X
    if values.dtype.kind != "f" or _all_finite(values) or (allow_nan and not np.isinf(values).any()):
        return
    row, column, value = _first_bad(X, np.isinf if allow_nan else _not_finite)
    kind = "NaN" if np.isnan(value) else "infinity"
    name = f"{column}" if names is None else f"{column} ({names[column]!r})"
    remedy = "Impute missing values first (mercer.normalize.Impute) or drop the row."
    raise ValueError(
        f"Input X contains {kind}: column {name}, first at row {start + row}. "
        + (remedy if kind == "NaN" else "Replace it (inf is not a number a linear model can use) or drop the row.")
    )


def check_whole(name: str, value: Any, minimum: int = 1) -> None:
    """Raise ValueError unless the value is a whole number of at least `minimum`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}, not {value!r}.")


def check_weight(weight: Any, n: int) -> np.ndarray | None:
    """Return sample weights as a float64 vector of n finite, non-negative entries, or None."""
    if weight is None:
        return None
    weight = np.asarray(weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D array.")
    if len(weight) != n:
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n,)}: one weight per row.")
    bad = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
    if len(bad):
        raise ValueError(f"Weights must be finite and not negative; row {bad[0]} has {weight[bad[0]]}.")
    return weight


def _all_finite(values: np.ndarray) -> bool:
    # A finite sum proves that all entries are finite, in one pass without a mask; overflow proves nothing.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())


def _not_finite(values: np.ndarray) -> np.ndarray:
    return ~np.isfinite(values)


def _first_bad(X: Any, bad: Callable[[np.ndarray], np.ndarray]) -> tuple[int, int, float]:
    """Row, column and value of the first entry for which `bad` holds."""
    if hasattr(X, "tocsr"):
        entry = int(np.flatnonzero(bad(X.data))[0])
        return int(np.searchsorted(X.indptr, entry, side="right") - 1), int(X.indices[entry]), X.data[entry]
    row, column = np.argwhere(bad(X))[0]
    return int(row), int(column), X[row, column]
