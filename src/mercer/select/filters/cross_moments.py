"""One pass: second moments of every column with the target, and tables of categorical columns against it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from mercer._numeric.block import Block
from mercer.select.filters.association import (
    CONSTANT,
    Association,
    from_correlations,
    from_group_sums,
    from_ratios,
    from_table,
)
from mercer.stats import Statistic
from mercer.stats.counts import distinct, is_missing


def is_labels(y: np.ndarray) -> bool:
    """Whether a checked target is one of labels; numbers come as floats."""
    return y.dtype.kind != "f"


@dataclass(frozen=True)
class Crossed:
    """What `CrossMoments` says: sums of squares of columns and targets, and their products, about the means.

    `sizes` are the weights of the classes, None for a target of numbers. A constant column has xx = 0.
    """

    weight: float
    sizes: np.ndarray | None
    xx: np.ndarray
    tt: np.ndarray
    xt: np.ndarray

    def association(self, share: bool = False) -> Association:
        """Pearson's correlation, or for classes the correlation ratio; with `share` the least squared loss removed."""
        xx, tt, xt = self.xx, self.tt, self.xt
        safe = np.where(xx > 0, xx, 1.0)
        if self.sizes is None:
            size = np.where((xx > 0) & (tt[0] > 0), np.sqrt(safe) * np.sqrt(tt[0] or 1.0), np.inf)
            found = from_correlations(xt[:, 0] / size, self.weight)
            return found._replace(score=found.score**2) if share else found
        eta2 = np.where(xx > 0, np.sum(xt**2 / self.sizes, axis=1) / safe, 0.0)
        found = from_ratios(eta2, np.full(len(xx), float(len(self.sizes))), self.weight)
        if len(self.sizes) == 2:
            found = found._replace(signed=np.sign(xt[:, 1]) * found.score)
        if not share:
            return found
        gained = np.where(xx > 0, np.sum(xt**2, axis=1) / safe, 0.0)
        return found._replace(score=gained / tt.sum() if tt.sum() > 0 else np.zeros(len(xx)))


@dataclass(frozen=True)
class CrossMoments(Statistic):
    """Sums of w, w z, w z^2, w t, w t^2 and w z t' over rows z and targets t, measured from the first block's means.

    A target of labels becomes its 0/1 indicators, in sorted order of the labels met so far.
    """

    by_class: bool = False
    n: int = 0
    z_origin: Any = None
    t_origin: Any = None
    labels: Any = None
    weight: float = 0.0
    z: Any = None
    zz: Any = None
    t: Any = None
    tt: Any = None
    zt: Any = None

    def of(self, block: Block):
        if len(block) == 0:
            return CrossMoments(self.by_class)
        weight = np.ones(len(block)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        labels, T = self._targets(np.asarray(block.y))
        total = float(weight.sum())
        t_origin = np.zeros(T.shape[1]) if labels is not None else weight @ T / total
        T = T - t_origin
        z_origin, z, zz, zt = _products(block.X, weight, weight[:, None] * T, total)
        sums = (z, zz, weight @ T, weight @ T**2, zt)
        return CrossMoments(self.by_class, len(block), z_origin, t_origin, labels, total, *sums)

    def _targets(self, y):
        if not self.by_class and not is_labels(y):
            return None, y[:, None]
        labels, codes = np.unique(y, return_inverse=True)
        return labels, np.eye(len(labels))[codes.ravel()]

    def _merge(self, other: Self) -> Self:
        mine, theirs = _with_the_same_labels(self, other)
        a, b = theirs.z_origin - mine.z_origin, theirs.t_origin - mine.t_origin
        w, z, t = theirs.weight, theirs.z, theirs.t
        return replace(
            mine,
            n=mine.n + theirs.n,
            weight=mine.weight + w,
            z=mine.z + (z + w * a),
            zz=mine.zz + (theirs.zz + 2 * a * z + w * a**2),
            t=mine.t + (t + w * b),
            tt=mine.tt + (theirs.tt + 2 * b * t + w * b**2),
            zt=mine.zt + (theirs.zt + np.outer(a, t) + np.outer(z + w * a, b)),
        )

    def finish(self) -> Crossed:
        if self.n == 0:
            raise ValueError("No rows: there is nothing to correlate.")
        xx = self.zz - self.z**2 / self.weight
        tt = self.tt - self.t**2 / self.weight
        xt = self.zt - np.outer(self.z, self.t) / self.weight
        x_mean = self.z_origin + self.z / self.weight
        t_mean = self.t_origin + self.t / self.weight
        xx = np.where(xx > CONSTANT * self.weight * x_mean**2, xx, 0.0)
        tt = np.where(tt > CONSTANT * self.weight * t_mean**2, tt, 0.0)
        return Crossed(self.weight, None if self.labels is None else self.t, xx, tt, xt)


def _products(X, weight, WT, total):
    if hasattr(X, "tocsr"):
        X = X.tocsr().astype(np.float64)
        return np.zeros(X.shape[1]), X.T @ weight, X.power(2).T @ weight, np.asarray(X.T @ WT)
    X = np.asarray(X, dtype=np.float64)
    origin = weight @ X / total
    Z = X - origin
    return origin, weight @ Z, weight @ Z**2, Z.T @ WT


def _with_the_same_labels(a: CrossMoments, b: CrossMoments):
    if (a.labels is None) != (b.labels is None):
        raise ValueError("The target was numbers in one part of the data and labels in another: convert it first.")
    if a.labels is None or np.array_equal(a.labels, b.labels):
        return a, b
    labels = np.union1d(a.labels, b.labels)
    return _relabeled(a, labels), _relabeled(b, labels)


def _relabeled(stat: CrossMoments, labels) -> CrossMoments:
    place = np.searchsorted(labels, stat.labels)
    t, tt, zt = np.zeros(len(labels)), np.zeros(len(labels)), np.zeros((len(stat.z), len(labels)))
    t[place], tt[place], zt[:, place] = stat.t, stat.tt, stat.zt
    return replace(stat, labels=labels, t_origin=np.zeros(len(labels)), t=t, tt=tt, zt=zt)


@dataclass(frozen=True)
class LevelTables(Statistic):
    """Per categorical column {(level, label): weight}, or {level: (weight, sum of t, sum of t^2)} for numbers."""

    columns: tuple[int, ...] = ()
    by_class: bool = False
    n: int = 0
    labeled: bool = False
    tables: tuple[dict, ...] = field(default_factory=tuple)

    def of(self, block: Block):
        if len(block) == 0:
            return LevelTables(self.columns, self.by_class)
        y = np.asarray(block.y)
        weight = np.ones(len(block)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        labeled = self.by_class or is_labels(y)
        count = _labeled_counts if labeled else _numeric_sums
        tables = tuple(count(_column(block.X, j), y, weight) for j in self.columns)
        return LevelTables(self.columns, self.by_class, len(block), labeled, tables)

    def _merge(self, other: Self) -> Self:
        merged = []
        for mine, theirs in zip(self.tables, other.tables, strict=True):
            total = dict(mine)
            for key, value in theirs.items():
                total[key] = total[key] + value if key in total else value
            merged.append(total)
        return replace(self, n=self.n + other.n, tables=tuple(merged))

    def finish(self) -> LevelTables:
        return self

    def association(self, place: int, share: bool = False) -> Association:
        """What a column of this place among the categorical ones says about the target."""
        table = self.tables[place]
        if not self.labeled:
            sums = np.array([table[level] for level in sorted(table)])
            found = from_group_sums(*sums.T)
            return found._replace(score=found.score**2) if share else found
        counts = _crossed(table)
        found = from_table(counts)
        return found._replace(score=np.array([squared_loss_removed(counts)])) if share else found


def squared_loss_removed(table) -> float:
    """1 - (least squared loss given the row) / (least squared loss of a constant), targets being indicators."""
    n, rows, columns = table.sum(), table.sum(axis=1), table.sum(axis=0)
    total = n - np.sum(columns**2) / n
    inside = n - np.sum(table**2 / rows[:, None])
    return float(1.0 - inside / total) if total > 0 else 0.0


def _column(X, j):
    column = X[:, [j]].toarray().ravel() if hasattr(X, "tocsr") else X[:, j]
    return np.asarray(column, dtype=np.float64)


def _labeled_counts(column, y, weight):
    levels, level = distinct(column)
    labels, label = distinct(y)
    counts = np.bincount(level * len(labels) + label, weight, minlength=len(levels) * len(labels))
    return {(levels[i // len(labels)], labels[i % len(labels)]): counts[i] for i in np.flatnonzero(counts)}


def _numeric_sums(column, y, weight):
    levels, code = distinct(column)
    sums = np.stack([np.bincount(code, weight * y**p, minlength=len(levels)) for p in range(3)], axis=1)
    return dict(zip(levels, sums, strict=True))


def _crossed(table: dict) -> np.ndarray:
    """The table of counts, levels by labels."""
    levels = sorted({level for level, _ in table}, key=lambda v: (is_missing(v), v))
    labels = list(dict.fromkeys(label for _, label in table))
    rows, columns = ({v: i for i, v in enumerate(values)} for values in (levels, labels))
    counts = np.zeros((len(levels), len(labels)))
    for (level, label), weight in table.items():
        counts[rows[level], columns[label]] += weight
    return counts
