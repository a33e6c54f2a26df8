"""Values whose squares overflow or underflow: detected before they reach a solver, or scaled by a power of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._runtime.errors import DataError
from mercer.stats.gram import GramPerFold

#: Sums of squares below are of values whose squares underflow.
_MIN_SQUARES = 1e-300
#: Values with exponents of two within these need no scaling.
_MAX_EXPONENT = 300


def refuse_overflow(squares: Any, names: Sequence[str] | None = None) -> None:
    """Raise DataError unless all of these sums of squares are finite; of a Gram matrix, name the column."""
    squares = np.asarray(squares)
    if np.all(np.isfinite(squares)):
        return
    column = None
    if names is not None and squares.ndim == 2:
        wrong = ~np.isfinite(squares.diagonal()) if not np.all(np.isfinite(squares.diagonal())) else None
        wrong = ~np.isfinite(squares).all(axis=0) if wrong is None else wrong
        column = names[int(np.flatnonzero(wrong)[0])]
    where = "" if column is None else f" (column {column!r})"
    raise DataError(
        f"The squares of these values overflow{where}, so no linear model can be fitted.",
        remedy="Standardize the columns (mercer.normalize.Standardize), or use float64 where they are float32.",
        column=column,
    )


def refuse_large(X: Any, names: Sequence[str], margin: float = 1.0) -> None:
    """Refuse columns whose sums of squares times `margin` overflow; names the first."""
    with np.errstate(over="ignore"):
        squares = margin * np.asarray((X.multiply(X) if hasattr(X, "tocsr") else np.square(X)).sum(axis=0)).ravel()
    if not np.all(np.isfinite(squares)):
        first = int(np.flatnonzero(~np.isfinite(squares))[0])
        refuse_overflow(squares[[first], None], [names[first]])


def refuse_extremes(learned: GramPerFold, names: Sequence[str], margin: float = 1.0) -> None:
    """Refuse columns and targets whose squares overflow, or are lost because they underflow; names the column.

    A column of lost squares among others counts as constant; it is refused if no other column varies.
    A solver that multiplies sums of squares by one another needs a `margin` to both ends of the range of float64.
    """
    total = learned.total
    with np.errstate(over="ignore"):
        refuse_overflow(margin * total.G, names)
        targets = margin * total.Y.diagonal()
    if not np.all(np.isfinite(targets)):
        remedy = "Divide it by a constant, or leave out the rows with such values."
        raise DataError("The squares of the target overflow, so no linear model can be fitted.", remedy=remedy)
    lost = _is_lost(total.G.diagonal() / margin, learned.z_origin, total.z)
    if np.any(lost) and not np.any(total.G.diagonal()[~lost] > 0):
        column = names[int(np.flatnonzero(lost)[0])]
        problem = f"The values of column {column!r} are so small that their squares underflow:"
        raise DataError(problem, remedy="standardize the columns (mercer.normalize.Standardize).", column=column)
    if np.any(_is_lost(total.Y.diagonal() / margin, learned.y_origin, total.y)):
        problem = "The values of the target are so small that their squares underflow:"
        raise DataError(problem, remedy="multiply it by a constant.")


def _is_lost(squares: np.ndarray, origin: Any, sums: np.ndarray) -> np.ndarray:
    """Whether sums of squares about an origin are too small for values that are not all zero."""
    return (squares < _MIN_SQUARES) & ((np.abs(origin) < 1e-140) & ((np.asarray(origin) != 0) | (sums != 0)))


def scaled_to_one(values: Any) -> Any:
    """The values times a power of two if the largest is beyond 2^300 or below 2^-300, else as they are."""
    entries = values.data if hasattr(values, "tocsr") else np.asarray(values)
    if entries.dtype.kind not in "fiu" or entries.size == 0:
        return values
    largest = max(float(entries.max()), -float(entries.min()))
    exponent = int(np.frexp(largest)[1]) if largest > 0 else 0
    if abs(exponent) <= _MAX_EXPONENT:
        return values
    half = -exponent // 2  # two steps: 2^-exponent itself may overflow
    factor = entries.dtype.type(2.0)
    return values * factor**half * factor ** (-exponent - half)
