"""Target leakage: columns that equal the target or predict it alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer import _numeric
from mercer.stats.counts import distinct

_BINS = 64
_MIN_ROWS = 50
MAX_REMOVED = 0.98  # fraction of the error

#: Counts of classes that are compared at a time.
_MAX_ENTRIES = 1 << 22


class LeakageCheck:
    """Looks for target leakage in a sample of rows with their targets.

    The target of each row is predicted from the other rows of the same category (for numbers and dates: the same one
    of 64 quantile bins), by majority vote or mean. A column that removes more than 98 % of the error is suspicious.

    All rows of one category and class are right or all are wrong. For a continuous target, m rows of a category with
    the sum of squares SS about their mean have the leave-one-out error (m / (m - 1))^2 SS. So the work is done per
    category, not per row.
    """

    def __init__(self, sample: Any, task: str | None = None):
        self.sample = sample
        y = sample.y
        #: Whether there is one target, of enough rows.
        self.applies = y is not None and len(y) >= _MIN_ROWS and np.ndim(y) == 1
        self._known: dict[str, float] = {}
        if self.applies:
            self._y = np.asarray(y)
            #: Whether the error is that of classes.
            self.classify = not _is_continuous(self._y) if task is None else task == "classification"
            self._removed = _removed_by(self._y, self.classify)

    def suspicions(self, name: str, kind: str) -> list[str]:
        """The reasons to suspect one column, usually none."""
        if not self.applies:
            return []
        if self.equals_target(name, kind):
            return ["equals the target: it must not be a feature"]
        removed = self.removed(name, kind)
        if removed > MAX_REMOVED:
            return [f"alone it predicts the target ({removed:.1%} of the error gone): would it be known in time?"]
        return []

    def removed(self, name: str, kind: str) -> float:
        """The fraction of the error that knowing this column alone removes, out of sample; below 0 if it adds error."""
        if name not in self._known:
            self._known[name] = self._removed(self._codes(name, kind))
        return self._known[name]

    def equals_target(self, name: str, kind: str) -> bool:
        """Whether the column and the target are equal in all rows of the sample."""
        if not self.applies or (kind == "text") != (self._y.dtype.kind in "OU") or kind == "date":
            return False
        return bool(np.all(self.sample.X.array(name) == self._y))

    def _codes(self, name: str, kind: str) -> np.ndarray:
        """The code of the category or bin of each row; missing values have a code of their own."""
        if kind in ("text", "boolean"):
            return self.sample.X.codes(name)
        column = self.sample.X.array(name)
        values = column.astype("datetime64[us]").astype(np.int64) if kind == "date" else column
        values = np.asarray(values, dtype=np.float64)
        missing = np.isnan(values)
        present = np.sort(values[~missing] if missing.any() else values)
        edges = np.unique(present[np.arange(1, _BINS) * len(present) // _BINS]) if len(present) else present
        bins = _numeric.column_bins(values[:, None], edges, np.array([len(edges)]), right=True)[:, 0]
        return np.where(missing, _BINS + 1, bins)


def _is_continuous(y: np.ndarray) -> bool:
    return y.dtype.kind in "fiu" and (y.dtype.kind == "f" or len(np.unique(y)) > 20)


def _removed_by(y: np.ndarray, classify: bool) -> Callable[[np.ndarray], float]:
    """A function from the category of each row to the fraction of the error that knowing the category removes."""
    if not classify:
        targets = y.astype(np.float64)
        targets -= targets.mean()
        error = _squared_error
    else:
        targets, error = distinct(y)[1], _misclassified
    unknown = error(np.zeros(len(y), dtype=np.int64), targets)
    return lambda codes: 1.0 - error(codes, targets) / unknown if unknown > 0 else 0.0


def _squared_error(codes: np.ndarray, targets: np.ndarray) -> float:
    """Sum of squared differences of each target from the mean of the others of its category, or of all others."""
    t = targets
    size, sums, squares = (np.bincount(codes, weights) for weights in (None, t, t * t))
    several = size > 1
    within = np.maximum(squares[several] - sums[several] ** 2 / size[several], 0.0)
    alone = size[codes] == 1
    away = t[alone] - (t.sum() - t[alone]) / max(len(t) - 1, 1)
    return float(np.sum((size[several] / (size[several] - 1)) ** 2 * within) + away @ away)


def _misclassified(codes: np.ndarray, targets: np.ndarray) -> float:
    """Number of rows whose class is not the most frequent among the others of their category, or among all others."""
    n_classes = int(targets.max()) + 1
    n_categories = int(codes.max()) + 1
    counts = np.bincount(codes.astype(np.intp) * n_classes + targets, minlength=n_categories * n_classes)
    cells, every = np.flatnonzero(counts), np.bincount(targets, minlength=n_classes)
    rows, (category, label) = counts[cells], np.divmod(cells, n_classes)
    wrong, step = 0.0, max(1, _MAX_ENTRIES // n_classes)  # thousands of classes would take gigabytes
    for part in (slice(start, start + step) for start in range(0, len(cells), step)):
        others = counts.reshape(n_categories, n_classes)[category[part]]
        others[others.sum(axis=1) == 1] = every
        others[np.arange(len(others)), label[part]] -= 1
        wrong += float(rows[part][others.argmax(axis=1) != label[part]].sum())
    return wrong
