"""One-pass statistics: second moments of every column with the target, and tables of categorical columns against it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from mercer._numeric.block import Block
from mercer.select.base import dense, row_weights
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

_MAX_EXPONENT, _ZEROS = 400, -4000


def is_class_target(y: np.ndarray) -> bool:
    """Whether a checked target holds class labels; numbers come as floats."""
    return y.dtype.kind != "f"


@dataclass(frozen=True)
class CenteredMoments:
    """Result of `CrossMoments`: centered sums of squares of columns and targets, and their cross products.

    `class_weights` are the weights of the classes, None for a continuous target. A constant column has xx = 0.
    """

    weight: float
    class_weights: np.ndarray | None
    xx: np.ndarray
    tt: np.ndarray
    xt: np.ndarray

    def association(self, explained: bool = False) -> Association:
        """Score by Pearson's correlation, for classes by the correlation ratio.

        With `explained` the score is the fraction of the squared loss that an affine predictor removes.
        """
        xx, tt, xt = self.xx, self.tt, self.xt
        safe = np.where(xx > 0, xx, 1.0)
        if self.class_weights is None:
            norm = np.where((xx > 0) & (tt[0] > 0), np.sqrt(safe) * np.sqrt(tt[0] or 1.0), np.inf)
            found = from_correlations(xt[:, 0] / norm, self.weight)
            return found._replace(score=found.score**2) if explained else found
        n_classes = len(self.class_weights)
        eta2 = np.where(xx > 0, np.sum(xt**2 / self.class_weights, axis=1) / safe, 0.0)
        found = from_ratios(eta2, np.full(len(xx), float(n_classes)), self.weight)
        if n_classes == 2:
            found = found._replace(signed=np.sign(xt[:, 1]) * found.score)
        if not explained:
            return found
        gained = np.where(xx > 0, np.sum(xt**2, axis=1) / safe, 0.0)
        return found._replace(score=gained / tt.sum() if tt.sum() > 0 else np.zeros(len(xx)))


@dataclass(frozen=True)
class CrossMoments(Statistic):
    """Sums of w, w z, w z^2, w t, w t^2 and w z t' over rows z and targets t, about the means of the first block.

    Class labels become 0/1 indicators, in sorted order of the labels seen so far. Columns of very large or small values
    are in units of powers of two, 2^`z_exponent` and 2^`t_exponent`, so that their squares neither overflow nor
    underflow: what is computed from the sums does not depend on units.
    """

    classification: bool = False
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
    z_exponent: Any = 0
    t_exponent: int = 0

    def of(self, block: Block) -> CrossMoments:
        if len(block) == 0:
            return CrossMoments(self.classification)
        weight = row_weights(block)
        labels, T = self._targets(np.asarray(block.y))
        total = float(weight.sum())
        z_exponent, t_exponent = _exponents(block.X), 0 if labels is not None else int(_exponents(T).max())
        X, T = _in_units(block.X, z_exponent), _in_units(T, np.full(T.shape[1], t_exponent))
        t_origin = np.zeros(T.shape[1]) if labels is not None else weight @ T / total
        T = T - t_origin
        z_origin, z, zz, zt = _column_sums(X, weight, weight[:, None] * T, total)
        sums = (z, zz, weight @ T, weight @ T**2, zt, z_exponent, t_exponent)
        return CrossMoments(self.classification, len(block), z_origin, t_origin, labels, total, *sums)

    def _targets(self, y: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
        if not self.classification and not is_class_target(y):
            return None, y[:, None]
        labels, codes = np.unique(y, return_inverse=True)
        return labels, np.eye(len(labels))[codes.ravel()]

    def _in_units(self, z_exponent: np.ndarray, t_exponent: int) -> Self:
        """The same sums in other units."""
        z, t = self.z_exponent - z_exponent, self.t_exponent - t_exponent
        if t == 0 and not np.any(z):
            return self
        return replace(
            self,
            z_exponent=z_exponent,
            t_exponent=t_exponent,
            z_origin=np.ldexp(self.z_origin, z),
            t_origin=np.ldexp(self.t_origin, t),
            z=np.ldexp(self.z, z),
            zz=np.ldexp(self.zz, 2 * z),
            t=np.ldexp(self.t, t),
            tt=np.ldexp(self.tt, 2 * t),
            zt=np.ldexp(self.zt, (z + t)[:, None]),
        )

    def _merge(self, other: Self) -> Self:
        mine, theirs = _with_common_labels(self, other)
        units = np.maximum(mine.z_exponent, theirs.z_exponent), max(mine.t_exponent, theirs.t_exponent)
        mine, theirs = mine._in_units(*units), theirs._in_units(*units)
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

    def finish(self) -> CenteredMoments:
        if self.n == 0:
            raise ValueError("No rows: correlations need at least one.")
        xx = self.zz - self.z**2 / self.weight
        tt = self.tt - self.t**2 / self.weight
        xt = self.zt - np.outer(self.z, self.t) / self.weight
        x_mean = self.z_origin + self.z / self.weight
        t_mean = self.t_origin + self.t / self.weight
        xx = np.where(xx > CONSTANT * self.weight * x_mean**2, xx, 0.0)
        tt = np.where(tt > CONSTANT * self.weight * t_mean**2, tt, 0.0)
        return CenteredMoments(self.weight, None if self.labels is None else self.t, xx, tt, xt)


def _exponents(X: Any) -> np.ndarray:
    """For each column the exponent of two of its largest value, if that is beyond 2^400 or below 2^-400, else 0.

    A column of zeros has the smallest one: it takes the units of other blocks.
    """
    if hasattr(X, "tocsr"):
        low, high = (np.asarray(end.todense()).ravel() for end in (X.tocsc().min(axis=0), X.tocsc().max(axis=0)))
    else:
        low, high = X.min(axis=0), X.max(axis=0)
    found = np.frexp(np.maximum(high.astype(np.float64), -low.astype(np.float64)))[1]
    found = np.where(np.abs(found) > _MAX_EXPONENT, found, 0)
    return np.where((low == 0) & (high == 0), _ZEROS, found)


def _in_units(X: Any, exponent: np.ndarray) -> Any:
    """The columns of X divided by two to these powers."""
    exponent = np.where(exponent == _ZEROS, 0, exponent)
    if not np.any(exponent):
        return X
    if hasattr(X, "tocsr"):
        X = X.tocsr().astype(np.float64)
        return sparse.csr_array((np.ldexp(X.data, -exponent[X.indices]), X.indices, X.indptr), shape=X.shape)
    return np.ldexp(np.asarray(X, dtype=np.float64), -exponent)


def _column_sums(X: Any, weight: np.ndarray, WT: np.ndarray, total: float) -> tuple[np.ndarray, ...]:
    if hasattr(X, "tocsr"):
        X = X.tocsr().astype(np.float64)
        return np.zeros(X.shape[1]), X.T @ weight, X.power(2).T @ weight, np.asarray(X.T @ WT)
    X = np.asarray(X, dtype=np.float64)
    origin = weight @ X / total
    Z = X - origin
    return origin, weight @ Z, weight @ Z**2, Z.T @ WT


def _with_common_labels(a: CrossMoments, b: CrossMoments) -> tuple[Any, Any]:
    if (a.labels is None) != (b.labels is None):
        raise ValueError("The target holds numbers in one part of the data and labels in another: convert it first.")
    if a.labels is None or np.array_equal(a.labels, b.labels):
        return a, b
    labels = np.union1d(a.labels, b.labels)
    return _relabeled(a, labels), _relabeled(b, labels)


def _relabeled(stat: CrossMoments, labels: np.ndarray) -> CrossMoments:
    index = np.searchsorted(labels, stat.labels)
    t, tt, zt = np.zeros(len(labels)), np.zeros(len(labels)), np.zeros((len(stat.z), len(labels)))
    t[index], tt[index], zt[:, index] = stat.t, stat.tt, stat.zt
    return replace(stat, labels=labels, t_origin=np.zeros(len(labels)), t=t, tt=tt, zt=zt)


@dataclass(frozen=True)
class ContingencyTables(Statistic):
    """Tables of categorical columns: {(category, label): weight}, or {category: sums of w, w t, w t^2}."""

    columns: tuple[int, ...] = ()
    classification: bool = False
    n: int = 0
    labeled: bool = False
    tables: tuple[dict, ...] = field(default_factory=tuple)

    def of(self, block: Block) -> ContingencyTables:
        if len(block) == 0:
            return ContingencyTables(self.columns, self.classification)
        y, weight = np.asarray(block.y), row_weights(block)
        labeled = self.classification or is_class_target(y)
        count = _label_counts if labeled else _target_sums
        tables = tuple(count(dense(block.X[:, [j]])[:, 0], y, weight) for j in self.columns)
        return ContingencyTables(self.columns, self.classification, len(block), labeled, tables)

    def _merge(self, other: Self) -> Self:
        merged = []
        for mine, theirs in zip(self.tables, other.tables, strict=True):
            total = dict(mine)
            for key, value in theirs.items():
                total[key] = total[key] + value if key in total else value
            merged.append(total)
        return replace(self, n=self.n + other.n, tables=tuple(merged))

    def finish(self) -> ContingencyTables:
        return self

    def association(self, index: int, explained: bool = False) -> Association:
        """Score the categorical column `columns[index]`; with `explained` by the squared loss removed."""
        table = self.tables[index]
        if not self.labeled:
            sums = np.array([table[category] for category in sorted(table)])
            found = from_group_sums(*sums.T)
            return found._replace(score=found.score**2) if explained else found
        counts = _as_array(table)
        found = from_table(counts)
        return found._replace(score=np.array([goodman_kruskal_tau(counts)])) if explained else found


def goodman_kruskal_tau(table: np.ndarray) -> float:
    """Return 1 - (min squared loss given the row) / (min squared loss of a constant), targets being indicators."""
    n, rows, columns = table.sum(), table.sum(axis=1), table.sum(axis=0)
    total = n - np.sum(columns**2) / n
    within = n - np.sum(table**2 / rows[:, None])
    return float(1.0 - within / total) if total > 0 else 0.0


def _label_counts(column: np.ndarray, y: np.ndarray, weight: np.ndarray) -> dict:
    categories, category = distinct(column)
    labels, label = distinct(y)
    counts = np.bincount(category * len(labels) + label, weight, minlength=len(categories) * len(labels))
    return {(categories[i // len(labels)], labels[i % len(labels)]): counts[i] for i in np.flatnonzero(counts)}


def _target_sums(column: np.ndarray, y: np.ndarray, weight: np.ndarray) -> dict:
    categories, code = distinct(column)
    sums = np.stack([np.bincount(code, weight * y**p, minlength=len(categories)) for p in range(3)], axis=1)
    return dict(zip(categories, sums, strict=True))


def _as_array(table: dict) -> np.ndarray:
    """Return a table of counts as an array, categories by labels."""
    categories = sorted({category for category, _ in table}, key=lambda v: (is_missing(v), v))
    labels = list(dict.fromkeys(label for _, label in table))
    rows, columns = ({v: i for i, v in enumerate(values)} for values in (categories, labels))
    counts = np.zeros((len(categories), len(labels)))
    for (category, label), weight in table.items():
        counts[rows[category], columns[label]] += weight
    return counts
