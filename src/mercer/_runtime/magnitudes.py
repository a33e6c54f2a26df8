"""Numbers too large or too small for a computation: an error that names the column, instead of infinity or NaN.

While a public method runs, NumPy records overflow, division by zero and invalid operations on all threads of the pool.
If any occurred, the result cannot be trusted: the column (or target) of the most extreme unit is named in a
`DataError`. If all columns are of ordinary size, the warning of NumPy is passed on.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np

from mercer._runtime.errors import DataError, MercerError

_Method = TypeVar("_Method", bound=Callable[..., Any])

#: Largest values between 2^-30 and 2^30 (about 1e-9 and 1e9) are of ordinary size.
_MAX_EXPONENT = 30
#: Whether an outer method records already: it knows the columns as the caller does.
_is_recording: ContextVar[bool] = ContextVar("is_recording", default=False)


class Magnitude(NamedTuple):
    """The largest absolute value of a column, or of the target if there is no name."""

    name: str | None
    largest: float

    @property
    def exponent(self) -> int:
        return int(np.frexp(self.largest)[1])


def refuse_extreme_results(method: _Method) -> _Method:
    """Decorate a method of rows X and perhaps a target y: what overflows raises a DataError that names the column."""

    @wraps(method)
    def recorded(self: Any, *args: Any, **options: Any) -> Any:
        if _is_recording.get():
            return method(self, *args, **options)
        events: list[str] = []
        token = _is_recording.set(True)
        try:
            with np.errstate(over="call", invalid="call", divide="call", call=lambda kind, _: events.append(kind)):
                result = method(self, *args, **options)
        except (ValueError, ArithmeticError) as error:
            if events and not (isinstance(error, MercerError) and _is_specific(error)):
                _explain(self, method.__name__, args, options, error)
            raise
        finally:
            _is_recording.reset(token)
        if events:
            _explain(self, method.__name__, args, options, None)
            _refuse_infinite(result, _title(self, method.__name__))
            warnings.warn(f"{events[0]} in {_title(self, method.__name__)}", RuntimeWarning, stacklevel=2)
        return result

    return recorded  # type: ignore[return-value]


def _is_specific(error: MercerError) -> bool:
    """Whether an error names the column, the parameter or the target already."""
    return getattr(error, "column", None) is not None or error.parameter is not None or "target" in str(error)


def _explain(owner: Any, verb: str, args: tuple, options: dict[str, Any], cause: Exception | None) -> None:
    """Raise a DataError for the most extreme column or target, if there is one."""
    X = args[0] if args else options.get("X")
    y = args[1] if len(args) > 1 else options.get("y")
    try:
        found = [each for each in _magnitudes(owner, X, y) if 0 < each.largest < np.inf]
    except Exception:  # rows that are no numbers have no magnitudes: what was found stands
        found = []
    worst = max(found, key=lambda each: abs(each.exponent), default=None)
    if worst is None or abs(worst.exponent) <= _MAX_EXPONENT:
        return
    size = "large" if worst.exponent > 0 else "small"
    what = "the target" if worst.name is None else f"column {worst.name!r}"
    remedy = "Divide it by a constant." if worst.name is None else "Standardize it (mercer.normalize.Standardize)."
    raise DataError(
        f"The values of {what} are too {size} for {_title(owner, verb)}: products or quotients of numbers like "
        f"{worst.largest:.3g} exceed the range of floating-point numbers.",
        remedy=remedy,
        column=worst.name,
    ) from cause


def _refuse_infinite(result: Any, title: str) -> None:
    """Refuse results of ordinary rows that overflow: an extreme target, or sums over many rows, have led to them."""
    if isinstance(result, np.ndarray) and result.dtype.kind == "f" and np.isinf(result).any():
        raise DataError(
            f"Results of {title} exceed the range of {result.dtype}.",
            remedy="Divide the target of fit by a constant, or use float64 where the rows are float32.",
        )


def _title(owner: Any, verb: str) -> str:
    name = type(owner).__name__
    return name if verb.startswith("__") else f"{name}.{verb}"


def _magnitudes(owner: Any, X: Any, y: Any) -> Iterator[Magnitude]:
    """The magnitudes of all columns and of the target: of arrays, CSR matrices, frames or a source of blocks."""
    if hasattr(X, "blocks"):
        largest: dict[str | None, float] = {}
        for block in X.blocks():
            for each in _magnitudes(owner, block.X, block.y):
                largest[each.name] = max(each.largest, largest.get(each.name, 0.0))
        yield from (Magnitude(name, value) for name, value in largest.items())
        return
    if y is not None and np.asarray(y).dtype.kind in "fiu":
        yield Magnitude(None, _largest(np.asarray(y, dtype=np.float64)))
    if X is None:
        return
    names = getattr(X, "columns", getattr(owner, "feature_names_in_", None))
    X = X.tocsc() if hasattr(X, "tocsc") else np.asarray(X)
    if X.ndim == 1:
        X = X[:, None]
    for j in range(X.shape[1]):
        values = X.data[X.indptr[j] : X.indptr[j + 1]] if hasattr(X, "indptr") else X[:, j]
        if values.dtype.kind in "fiu" or values.dtype == object:
            yield Magnitude(f"x{j}" if names is None else str(names[j]), _largest(values.astype(np.float64)))


def _largest(values: np.ndarray) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if finite.size else 0.0
