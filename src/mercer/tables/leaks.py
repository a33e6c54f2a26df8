"""Columns that give the target away: equal to it, or enough to predict it alone."""

from __future__ import annotations

import numpy as np

from mercer.stats.counts import distinct

_BINS = 64
_FEWEST = 50  # rows
_NEARLY_ALL = 0.98


def leak_suspicions(sample, name: str, kind: str) -> list[str]:
    """What is suspicious about a column, from a sample of rows with their targets.

    For each row the target is predicted from the other rows in the same level (for numbers and dates: the same one of
    64 bins of equal size), by majority or mean. A column that removes 98 % of the error is suspected.
    """
    if sample.y is None or len(sample.y) < _FEWEST or np.ndim(sample.y) != 1:
        return []
    column, y = sample.X.array(name), np.asarray(sample.y)
    if _equal(column, y):
        return ["equals the target: it must not be a feature"]
    codes = _codes(column, kind)
    removed = _removed(codes, *_target(y))
    if removed > _NEARLY_ALL:
        return [f"alone it predicts the target ({removed:.1%} of the error gone): would it be known in time?"]
    return []


def _equal(column, y) -> bool:
    if column.dtype.kind in "ifb" and y.dtype.kind in "ifb":
        return bool(np.all(column == y))
    return column.dtype.kind == "O" and y.dtype.kind in "OU" and bool(np.all(column == y))


def _codes(column, kind) -> np.ndarray:
    """A whole number per row: its level, or its bin; missing values have their own."""
    if kind in ("text", "boolean"):
        return distinct(column.astype(object))[1]
    values = column.astype("datetime64[us]").astype(np.int64) if kind == "date" else column
    values = np.asarray(values, dtype=np.float64)
    present = values[~np.isnan(values)]
    edges = np.unique(np.quantile(present, np.linspace(0, 1, _BINS + 1)[1:-1])) if len(present) else present
    return np.where(np.isnan(values), _BINS + 1, np.searchsorted(edges, values, side="right"))


def _target(y):
    """The target as an (n, k) array, and whether its columns are indicators of classes."""
    if y.dtype.kind in "fiu" and (y.dtype.kind == "f" or len(np.unique(y)) > 20):
        return y.astype(np.float64)[:, None] - y.astype(np.float64).mean(), False
    levels, codes = distinct(y)
    return np.eye(len(levels))[codes], True


def _removed(codes, targets, classes: bool) -> float:
    """The share of the error that is gone when each row is predicted from the others of its code."""
    n = len(codes)
    size = np.bincount(codes)
    sums = np.stack([np.bincount(codes, column) for column in targets.T], axis=1)
    others = size[codes] - 1
    rest, total = sums[codes] - targets, targets.sum(axis=0)
    alone = others == 0  # a level of one row knows nothing
    overall = (total - targets) / max(n - 1, 1)
    guess = np.where(alone[:, None], overall, rest / np.maximum(others, 1)[:, None])
    if classes:
        truth = targets.argmax(axis=1)
        wrong, base = np.mean(guess.argmax(axis=1) != truth), np.mean(overall.argmax(axis=1) != truth)
    else:
        wrong, base = np.mean((guess - targets) ** 2), np.mean((overall - targets) ** 2)
    return 1.0 - float(wrong / base) if base > 0 else 0.0
