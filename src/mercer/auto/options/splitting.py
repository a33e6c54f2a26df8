"""The splits of a fit: by hashes of rows, by groups, by time, or those of a scikit-learn splitter."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._runtime.errors import MercerError, Message, ParameterError, Setting

#: Units of durations such as "7d", in microseconds.
_UNITS = {"s": 1e6, "min": 6e7, "h": 3.6e9, "d": 8.64e10, "w": 6.048e11}


@dataclass(frozen=True)
class Splitting:
    """Options `groups`, `time`, `gap` and `cv` of `mercer.fit`."""

    groups: Any = None
    time: Any = None
    gap: Any = None
    cv: Any = None

    def __post_init__(self) -> None:
        if self.gap is not None:
            if self.time is None:
                problem = (Setting("gap", self.gap), " is the distance in time of training and test rows:")
                raise MercerError(*problem, remedy=Message("name the column of times with ", Setting("time"), "."))
            self.gap_rows_or_duration()
        if self.cv is not None:
            self._check_cv()
        for name in ("groups", "time"):
            given = getattr(self, name)
            if given is not None and not isinstance(given, str) and np.ndim(given) != 1:
                raise ParameterError(name, type(given).__name__, "must be the name of a column or one value per row")

    def _check_cv(self) -> None:
        number = isinstance(self.cv, (int, np.integer)) and not isinstance(self.cv, bool) and self.cv >= 2
        splits = not isinstance(self.cv, (str, bytes)) and isinstance(self.cv, Iterable)
        if not (number or splits or (hasattr(self.cv, "split") and hasattr(self.cv, "get_n_splits"))):
            raise ParameterError("cv", self.cv, "must be a splitter of scikit-learn, such as GroupKFold(), or a number")

    @property
    def plain(self) -> bool:
        """Whether rows are taken as independent: the hash of a row decides."""
        return self.groups is None and self.time is None and self.cv is None

    @property
    def columns(self) -> list[str]:
        """Names of the columns that decide on splits."""
        return [name for name in (self.groups, self.time) if isinstance(name, str)]

    def gap_rows_or_duration(self) -> tuple[int, float]:
        """The gap as a number of rows and as a duration in microseconds, one of which is zero."""
        if self.gap is None:
            return 0, 0.0
        if isinstance(self.gap, (int, np.integer)) and not isinstance(self.gap, bool) and self.gap >= 0:
            return int(self.gap), 0.0
        if hasattr(self.gap, "total_seconds") and self.gap.total_seconds() >= 0:
            return 0, 1e6 * self.gap.total_seconds()
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|min|h|d|w)\s*", self.gap) if isinstance(self.gap, str) else None
        if found is None:
            raise ParameterError("gap", self.gap, "must be a number of rows or a duration such as '12h', '7d' or '2w'")
        return 0, float(found[1]) * _UNITS[found[2]]
