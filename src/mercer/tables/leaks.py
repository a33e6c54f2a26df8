"""Columns that give the target away: equal to it, or enough to predict it alone."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from mercer.stats.counts import distinct
from mercer.tables.facts import in_parts

_BINS = 64
_FEWEST = 50  # rows
_NEARLY_ALL = 0.98


def leak_suspicions(sample, kinds: dict[str, str]) -> dict[str, list[str]]:
    """What is suspicious about columns of these kinds, from a sample of rows with their targets.

    For each row the target is predicted from the other rows in the same level (for numbers and dates: the same one of
    64 bins of equal size), by majority or mean. A column that removes 98 % of the error is suspected.
    """
    if sample.y is None or len(sample.y) < _FEWEST or np.ndim(sample.y) != 1:
        return {name: [] for name in kinds}
    y = np.asarray(sample.y)
    targets, classes = _target(y)
    said: dict[str, list[str]] = {}
    plain = [name for name in kinds if sample.X.table[name].type == pa.float64()]
    for names in in_parts(plain, len(y) * targets.shape[1]):
        values = np.stack([sample.X.array(name) for name in names])
        whole = np.flatnonzero(~np.isnan(values).any(axis=1))
        removed = _removed(_bins(values[whole]), targets, classes)
        same = np.all(values[whole] == y, axis=1) if y.dtype.kind in "ifb" else np.zeros(len(whole), dtype=bool)
        said |= {names[j]: _said(*found) for j, *found in zip(whole, same, removed, strict=True)}
    for name in kinds:
        if name not in said:
            column = sample.X.array(name)
            removed = _removed(_codes(column, kinds[name])[None], targets, classes)
            said[name] = _said(_equal(column, y), removed[0])
    return said


def _said(same: bool, removed: float) -> list[str]:
    if same:
        return ["equals the target: it must not be a feature"]
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


def _bins(values: np.ndarray) -> np.ndarray:
    """The bin of each number of some columns without gaps, which are the rows here."""
    codes = np.empty(values.shape, dtype=np.int64)
    ordered = np.sort(values, axis=1)  # sooner than to look for so many quantiles
    place = np.linspace(0, 1, _BINS + 1)[1:-1] * (values.shape[1] - 1)
    below = np.minimum(place.astype(np.intp), values.shape[1] - 2)
    edges = ordered[:, below] + (place - below) * (ordered[:, below + 1] - ordered[:, below])
    for out, cuts, x in zip(codes, edges, values, strict=True):
        out[:] = np.searchsorted(cuts, x, side="right")
    return codes


def _target(y):
    """The target as an (n, k) array, and whether its columns are indicators of classes."""
    if y.dtype.kind in "fiu" and (y.dtype.kind == "f" or len(np.unique(y)) > 20):
        return y.astype(np.float64)[:, None] - y.astype(np.float64).mean(), False
    levels, codes = distinct(y)
    return np.eye(len(levels))[codes], True


def _removed(codes: np.ndarray, targets: np.ndarray, classes: bool) -> np.ndarray:
    """For each row of codes, the share of the error that is gone when rows are predicted from others of their code."""
    c, n = codes.shape
    places = (codes + (int(codes.max(initial=0)) + 1) * np.arange(c)[:, None]).ravel()
    others = np.bincount(places)[places] - 1
    alone = others == 0  # a level of one row knows nothing
    overall = (targets.sum(axis=0) - targets) / max(n - 1, 1)
    guess = np.empty((targets.shape[1], c * n))
    for out, target, mean in zip(guess, targets.T, overall.T, strict=True):
        target, mean = np.tile(target, c), np.tile(mean, c)
        sums = np.bincount(places, target)[places]
        out[:] = np.where(alone, mean, (sums - target) / np.maximum(others, 1))
    guess = guess.reshape(targets.shape[1], c, n)
    if classes:
        truth = targets.argmax(axis=1)
        wrong, base = np.mean(guess.argmax(axis=0) != truth, axis=1), np.mean(overall.argmax(axis=1) != truth)
    else:
        wrong, base = np.mean((guess - targets.T[:, None]) ** 2, axis=(0, 2)), np.mean((overall - targets) ** 2)
    return 1.0 - wrong / base if base > 0 else np.zeros(c)
