"""Time from one date of a row to another."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._runtime.errors import ParameterError
from mercer.tables.derived.base import TableTransformer, check_pairs, chosen_pairs
from mercer.tables.values import ArrowValues

_SECOND = 1_000_000  # microseconds
_DAY = 86_400 * _SECOND
_UNITS = {
    "years": 365.2425 * _DAY,
    "weeks": 7.0 * _DAY,
    "days": 1.0 * _DAY,
    "hours": 3600.0 * _SECOND,
    "minutes": 60.0 * _SECOND,
    "seconds": 1.0 * _SECOND,
}


class DateDifferences(TableTransformer):
    """Time between two columns of dates: (end - start) / unit, negative if the end comes first.

    Missing if one of the dates is missing: such values are NaN. Times are exact to a microsecond. A year has 365.2425
    days, the mean of the Gregorian calendar.

    Use it where durations matter and their ends do not: delivery and order, birth and visit. A linear model has
    differences of `TableEncoder`'s linear times already; trees and bins do not. Nothing is learned but the columns.

    Parameters
    ----------
    pairs : sequence of pairs (start, end) of columns, by name or index, default=None
        Columns of dates, or of dates written as text like 2020-12-31. None takes all pairs of columns of dates, in
        their order.
    unit : {"years", "weeks", "days", "hours", "minutes", "seconds"}, default="days"

    Attributes
    ----------
    pairs_ : list of pairs of names

    Examples
    --------
    >>> from mercer.tables import DateDifferences
    >>> stays = {"start": ["2024-02-28", "2024-05-02"], "end": ["2024-03-01", None]}
    >>> differences = DateDifferences([("start", "end")]).fit(stays)
    >>> differences.get_feature_names_out().tolist()
    ['days from start to end']
    >>> differences.transform(stays).ravel().tolist()
    [2.0, nan]
    """

    def __init__(self, pairs: Any = None, unit: str = "days"):
        self.pairs = pairs
        self.unit = unit

    def _check_parameters(self) -> None:
        check_pairs(self.pairs)
        if not isinstance(self.unit, str) or self.unit not in _UNITS:
            raise ParameterError("unit", self.unit, f"must be one of {', '.join(map(repr, _UNITS))}")

    def _finish(self, learned: Any) -> None:
        self.pairs_ = chosen_pairs(self._schema, self.pairs, ("date",))
        self._unit = str(self.unit)

    def _apply(self, X: Any) -> np.ndarray:
        values = ArrowValues(X)
        times = {name: values.times(name) for name in dict.fromkeys(name for pair in self.pairs_ for name in pair)}
        out = np.empty((len(X), len(self.pairs_)))
        for j, (start, end) in enumerate(self.pairs_):
            missing = np.isnat(times[start]) | np.isnat(times[end])
            ticks = (times[end] - times[start]).view(np.int64) / _UNITS[self._unit]
            out[:, j] = np.where(missing, np.nan, ticks)
        return out

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as "days from start to end"."""
        shown = dict(zip(self._schema, self._input_names(input_features), strict=True))
        return np.array([f"{self._unit} from {shown[a]} to {shown[b]}" for a, b in self.pairs_], dtype=object)
