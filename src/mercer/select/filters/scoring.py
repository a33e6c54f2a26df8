"""Scores that need more than moments: ranks of rows, or bins and then counts."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from mercer._numeric.block import Block
from mercer.linear.classes import at_least_two, classes_of, coded
from mercer.select.filters.association import Association, from_table, likelihood_ratio
from mercer.select.filters.cross_moments import is_labels
from mercer.select.filters.histograms import Histogram, JointHistogram, column_edges, common_levels, quantile_edges
from mercer.select.filters.minimum_loss import hinge_minimum, logistic_minimum
from mercer.select.filters.mutual_information import table_information
from mercer.select.filters.pair_information import InCompany, pair_information
from mercer.select.filters.rank_correlation import rank_association, rank_ratio
from mercer.source import MemorySource, Source
from mercer.stats import Counts, Sample
from mercer.stats.counts import MOST_LEVELS

#: Columns fitted at once.
_TOGETHER = 64


def has_labels(source: Source, by_class: bool) -> bool:
    """Whether the target is one of classes."""
    if by_class:
        return True
    first = next(block for block in (task.read() for task in source.tasks()) if len(block))
    return is_labels(np.asarray(first.y))


def by_ranks(source: Source, categorical, by_class: bool) -> Association:
    """Rank correlations over all rows in memory, else over the sample."""
    labels = has_labels(source, by_class)
    if labels:
        source = coded(source, classes_of(source))
    if isinstance(source, MemorySource):
        X, y, weight = source.X, source.y, source.weight
    else:
        rows = source.map(_known_by_target).fold(Sample()).finish()
        X, y, weight = rows.X, rows.y, rows.weight
        weight = None if np.all(weight == 1) else weight
    found = rank_association(X, y, weight, labels)
    score, pvalue, signed = (np.array(part) for part in found)
    for j in categorical:
        column = _column(X, j)
        alone = from_table(_table(column, y, weight)) if labels else rank_ratio(column, y, weight)
        score[j], pvalue[j], signed[j] = alone.score[0], alone.pvalue[0], alone.signed[0]
    return Association(score, pvalue, signed)


def by_histogram(source: Source, kind: str, categorical, by_class: bool, n_bins: int | None) -> Association:
    """Mutual information or the least losses, from the joint histogram of bins and target."""
    binned = _binned(source, kind, categorical, by_class, n_bins)
    counted = binned.source.fold(JointHistogram(binned.edges, binned.n_classes)).finish()
    if kind == "mutual_information":
        pairs = np.array([table_information(table) for table in counted.counts]).reshape(-1, 2)
        return Association(pairs[:, 0], pairs[:, 1], pairs[:, 0])
    return least_losses(counted, kind, set(categorical))


def by_pairs(source: Source, categorical, by_class: bool, n_bins: int | None) -> InCompany:
    """The information of each column alone or beside another, from the tables of all pairs of binned columns."""
    return pair_information(*_binned(source, "pair_information", categorical, by_class, n_bins))


class _Binned(NamedTuple):
    """A source whose target is codes 0, 1, ..., the bins of its columns, and the number of codes."""

    source: Source
    edges: list
    n_classes: int


def _binned(source, kind, categorical, by_class, n_bins):
    labels = has_labels(source, by_class)
    if labels:
        classes = classes_of(source)
        if kind in ("logistic", "hinge"):
            at_least_two(classes, "FilterSelector")
        source = coded(source, classes)
    sample = source.map(_known_by_target).fold(Sample()).finish()
    if n_bins is None:
        n_bins = _DEFAULT_BINS[kind](sample.weight.sum(), len(classes) if labels else None)
    edges = column_edges(sample.X, sample.weight, n_bins)
    most = n_bins if kind == "pair_information" else MOST_LEVELS
    for j, levels in zip(categorical, _levels(source, categorical), strict=True):
        edges[j] = common_levels(np.asarray(levels.levels, dtype=np.float64), levels.counts, most)
    if labels:
        return _Binned(source, edges, len(classes))
    y_edges = quantile_edges(np.asarray(sample.y, dtype=np.float64), sample.weight, n_bins)
    source = source.map(lambda block: replace(block, y=y_edges.codes(np.asarray(block.y)), raw=block.raw))
    return _Binned(source, edges, len(y_edges.values) + 1)


def _bins(n, classes=None) -> int:
    """At most 16, and so few that a cell of the table may expect five rows."""
    room = n / 5 / classes if classes else np.sqrt(n / 5)
    return int(np.clip(room, 2, 16))


def _pair_bins(n, classes=None) -> int:
    """At most 4, and so few that a cell of the table of two columns and the target may expect ten rows."""
    room = np.sqrt(n / 10 / classes) if classes else np.cbrt(n / 10)
    return int(np.clip(room, 2, 4))


_DEFAULT_BINS = {
    "mutual_information": _bins,
    "pair_information": _pair_bins,
    "logistic": lambda n, classes: 256,
    "hinge": lambda n, classes: 256,
}


def least_losses(counted: Histogram, kind: str, categorical) -> Association:
    """1 - least loss / loss of a constant, per column; p-values by the likelihood ratio for the logistic loss."""
    totals = counted.counts[0].sum(axis=0)
    classes = range(1, 2) if len(totals) == 2 else range(len(totals))
    base = np.array([_constant_loss(kind, totals[c], totals.sum() - totals[c]) for c in classes]).sum()
    least = np.zeros(len(counted.counts))
    for c in classes:
        for first in range(0, len(least), _TOGETHER):
            part = slice(first, first + _TOGETHER)
            least[part] += _least(kind, counted.counts[part], counted.means[part], c)
    freedom = np.full(len(least), float(len(classes)))
    for j in categorical:
        table = counted.counts[j]
        least[j] = sum(_least_by_level(kind, table[:, c], table.sum(axis=1) - table[:, c]) for c in classes)
        freedom[j] = len(classes) * (np.count_nonzero(table.sum(axis=1)) - 1)
    gain = np.maximum(base - least, 0.0)
    score = gain / base if base > 0 else np.zeros(len(least))
    return Association(score, likelihood_ratio(gain, freedom), score)


def _least(kind, tables, means, c):
    bins = max(len(table) for table in tables)
    x, pos, neg = (np.zeros((len(tables), bins)) for _ in range(3))
    for row, (table, mean) in enumerate(zip(tables, means, strict=True)):
        x[row, : len(table)], pos[row, : len(table)] = mean, table[:, c]
        neg[row, : len(table)] = table.sum(axis=1) - table[:, c]
    return (logistic_minimum if kind == "logistic" else hinge_minimum)(x, pos, neg)


def _constant_loss(kind, pos, neg):
    return _least_by_level(kind, np.array([pos]), np.array([neg]))


def _least_by_level(kind, pos, neg):
    """The least loss where every level may have a value of its own: n H(y | v), or twice the minority."""
    if kind == "hinge":
        return 2.0 * np.sum(np.minimum(pos, neg))
    n = np.maximum(pos + neg, 1e-300)
    return -sum(np.sum(part * np.log(np.maximum(part / n, 1e-300))) for part in (pos, neg))


def _levels(source, categorical):
    """The distinct values of each categorical column, in order, with their weights."""
    if not categorical:
        return []
    thin = source.map(lambda block: Block(_columns(block.X, categorical), weight=block.weight, start=block.start))
    return thin.fold(Counts()).finish()


def _known_by_target(block: Block) -> Block:
    """The block with its target in the identity of its rows: equal rows of different targets are different."""
    y = np.asarray(block.y, dtype=np.float64)[:, None]
    raw = sparse.hstack([block.X, sparse.csr_array(y)], format="csr") if hasattr(block.X, "tocsr") else None
    return replace(block, raw=np.column_stack([block.X, y]) if raw is None else raw)


def _columns(X, places):
    part = X[:, places]
    return part.toarray() if hasattr(part, "tocsr") else part


def _column(X, j):
    return np.asarray(_columns(X, [j])[:, 0], dtype=np.float64)


def _table(column, y, weight):
    levels, codes = np.unique(column, return_inverse=True)
    width = int(y.max()) + 1
    return np.bincount(codes * width + y, weight, minlength=len(levels) * width).reshape(len(levels), width)
