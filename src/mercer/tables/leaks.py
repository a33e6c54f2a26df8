"""Columns that give the target away: equal to it, or enough to predict it alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer import _numeric
from mercer.stats.counts import distinct

_BINS = 64
_FEWEST = 50  # rows
_NEARLY_ALL = 0.98


class Leaks:
    """What is suspicious about the columns of a sample of rows with their targets.

    For each row the target is predicted from the other rows in the same level (for numbers and dates: the same one of
    64 bins of equal size), by majority or mean. A column that removes 98 % of the error is suspected.

    The rows of a level that share a class are all right or all wrong. A quantity t of a level of m rows with the sum of
    squares SS about their mean has the error (m / (m - 1))^2 SS. So levels are looked at, not rows.
    """

    def __init__(self, sample):
        self.sample = sample
        y = sample.y
        self._asked = y is not None and len(y) >= _FEWEST and np.ndim(y) == 1
        if self._asked:
            self._y = np.asarray(y)
            self._removed = _removed_by(self._y)

    def suspicions(self, name: str, kind: str) -> list[str]:
        """What is suspicious about one column; mostly nothing."""
        if not self._asked:
            return []
        if self._equals(name, kind):
            return ["equals the target: it must not be a feature"]
        removed = self._removed(self._codes(name, kind))
        if removed > _NEARLY_ALL:
            return [f"alone it predicts the target ({removed:.1%} of the error gone): would it be known in time?"]
        return []

    def _equals(self, name: str, kind: str) -> bool:
        if (kind == "text") != (self._y.dtype.kind in "OU") or kind == "date":
            return False
        return bool(np.all(self.sample.X.array(name) == self._y))

    def _codes(self, name: str, kind: str) -> np.ndarray:
        """A whole number per row: its level, or its bin; missing values have their own."""
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


def _removed_by(y: np.ndarray) -> Callable[[np.ndarray], float]:
    """A function from the level of each row to the share of the error that is gone where the level is known."""
    if y.dtype.kind in "fiu" and (y.dtype.kind == "f" or len(np.unique(y)) > 20):
        targets = y.astype(np.float64)
        targets -= targets.mean()
        error = _squares
    else:
        targets, error = distinct(y)[1], _wrong
    unknown = error(np.zeros(len(y), dtype=np.int64), targets)
    return lambda codes: 1.0 - error(codes, targets) / unknown if unknown > 0 else 0.0


def _squares(codes: np.ndarray, targets: np.ndarray) -> float:
    """The sum of squares of targets less the mean of the others of their level; of all others where there are none."""
    t = targets
    size, sums, squares = (np.bincount(codes, weights) for weights in (None, t, t * t))
    several = size > 1
    within = np.maximum(squares[several] - sums[several] ** 2 / size[several], 0.0)
    alone = size[codes] == 1
    away = t[alone] - (t.sum() - t[alone]) / max(len(t) - 1, 1)
    return float(np.sum((size[several] / (size[several] - 1)) ** 2 * within) + away @ away)


def _wrong(codes: np.ndarray, targets: np.ndarray) -> float:
    """How many rows have another class than most others of their level, or of all others where there are none."""
    n_classes = int(targets.max()) + 1
    n_levels = int(codes.max()) + 1
    counts = np.bincount(codes * n_classes + targets, minlength=n_levels * n_classes)
    cells = np.flatnonzero(counts)
    rows, (level, label) = counts[cells], np.divmod(cells, n_classes)
    others = counts.reshape(n_levels, n_classes)[level]
    others[others.sum(axis=1) == 1] = np.bincount(targets, minlength=n_classes)
    others[np.arange(len(cells)), label] -= 1
    return float(rows[others.argmax(axis=1) != label].sum())
