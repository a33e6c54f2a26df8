"""Drift along the rows: whether the values of a column differ between ten consecutive parts of the table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mercer.tables.overview.statistics import OrderedRows
from mercer.tables.profile import in_batches

_N_PARTS = 10
#: Rows below which nothing is tested, largest p-value of all columns together, smallest fraction of variance.
_MIN_ROWS, _MAX_P, _MIN_EFFECT = 50, 1e-4, 0.05
_MAX_CATEGORIES = 100
#: Numbers that are ranked, and the rows that are ranked whatever the number of columns.
_MAX_ENTRIES, _MIN_ENTRY_ROWS = 2**20, 256


class Drift(NamedTuple):
    """The fraction of the variance (of ranks, or of categories) between the parts, and its p-value, corrected."""

    effect: float
    p_value: float


def drifting(rows: OrderedRows, kinds: dict[str, str], target: str | None = None) -> dict[str, Drift]:
    """The columns of these kinds, and the target under its name, whose values depend on the position of the row.

    Numbers and dates are tested by Kruskal and Wallis (1952) on ranks, text and booleans by Pearson's chi-squared, both
    between ten parts of equal size; p-values are multiplied by the number of tests (Bonferroni).
    """
    wanted = max(_MIN_ENTRY_ROWS, _MAX_ENTRIES // max(len(kinds), 1))  # of a table of thousands of columns, fewer rows
    y = None if rows.y is None else rows.y[:wanted]
    rows = OrderedRows(rows.X[:wanted], y, rows.positions[:wanted], complete=False)
    m = len(rows.positions)
    if m < _MIN_ROWS:
        return {}
    parts = np.empty(m, dtype=np.intp)
    parts[np.argsort(rows.positions)] = np.arange(m) * _N_PARTS // m
    found = _of_numbers(rows, [name for name, kind in kinds.items() if kind not in ("text", "boolean")], parts)
    for name, kind in kinds.items():
        if kind in ("text", "boolean"):
            found[name] = _of_categories(rows.X.codes(name), parts)
    if target is not None and rows.y is not None:
        found[target] = _of_target(rows.y, parts)
    tests = max(len(found), 1)
    corrected = {name: Drift(each.effect, min(1.0, each.p_value * tests)) for name, each in found.items()}
    return {name: each for name, each in corrected.items() if each.p_value < _MAX_P and each.effect >= _MIN_EFFECT}


def is_sorted(rows: OrderedRows) -> bool:
    """Whether the targets ascend or descend along the rows."""
    if rows.y is None or rows.y.dtype.kind not in "fiubOU":
        return False
    y = rows.y[np.argsort(rows.positions)]
    return bool(np.all(y[1:] >= y[:-1]) or np.all(y[1:] <= y[:-1]))


def _of_numbers(rows: OrderedRows, names: list[str], parts: np.ndarray) -> dict[str, Drift]:
    found: dict[str, Drift] = {}
    for some in in_batches(names, len(parts)):
        values = np.stack([_as_numbers(rows.X.array(name)) for name in some])
        found |= dict(zip(some, _of_ranks(values, parts), strict=True))
    return found


def _as_numbers(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "M":
        return np.where(np.isnat(values), np.nan, values.astype("datetime64[us]").astype(np.int64).astype(float))
    return values.astype(np.float64)


def _of_target(y: np.ndarray, parts: np.ndarray) -> Drift:
    if y.dtype.kind in "fiu":
        return _of_ranks(y.astype(np.float64)[None], parts)[0]
    return _of_categories(np.unique(y.astype(str), return_inverse=True)[1], parts)


def _of_ranks(values: np.ndarray, parts: np.ndarray) -> list[Drift]:
    """Kruskal and Wallis for each row of an array: H = (m - 1) times the fraction of the variance between parts.

    Equal values are ranked in the order of the sample, which is random: positions cannot show through ties.
    """
    m = values.shape[1]
    order = np.argsort(values, axis=1, kind="stable")
    ranks, by_part = np.empty(values.shape), np.argsort(parts, kind="stable")
    np.put_along_axis(ranks, order, np.arange(m)[None] - 0.5 * (m - 1), axis=1)
    size = np.bincount(parts, minlength=_N_PARTS)
    between = np.add.reduceat(ranks[:, by_part], np.cumsum(size) - size, axis=1)
    effect = (between**2 / size).sum(axis=1) / (m * (m * m - 1) / 12)
    return [Drift(float(each), _p((m - 1) * each, _N_PARTS - 1)) for each in effect]


def _of_categories(codes: np.ndarray, parts: np.ndarray) -> Drift:
    """Pearson's chi-squared of a table of categories by parts; categories of few rows are one."""
    size = np.bincount(codes)
    rare = size < 5 * _N_PARTS
    frequent = np.flatnonzero(~rare)
    if len(size) > _MAX_CATEGORIES and len(frequent) < 2:
        return Drift(0.0, 1.0)
    new = np.full(len(size), len(frequent))
    new[frequent] = np.arange(len(frequent))
    table = np.zeros((int(new.max()) + 1, _N_PARTS))
    np.add.at(table, (new[codes], parts), 1.0)
    table = table[table.sum(axis=1) > 0]
    if len(table) < 2:
        return Drift(0.0, 1.0)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    chi2 = float(((table - expected) ** 2 / expected).sum())
    freedom = min(len(table), _N_PARTS) - 1
    return Drift(chi2 / len(codes) / freedom, _p(chi2, (len(table) - 1) * (_N_PARTS - 1)))


def _p(chi2: Any, freedom: int) -> float:
    """The probability of a larger chi-squared."""
    from scipy.special import chdtrc

    return float(chdtrc(freedom, chi2))
