"""Filter scores that need more than second moments: ranks of rows, or bins from a sample and then counts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mercer._numeric.block import Block
from mercer.linear.classes import at_least_two, classes_of, coded
from mercer.select.base import dense
from mercer.select.filters.association import Association, from_table, likelihood_ratio
from mercer.select.filters.cross_moments import is_class_target
from mercer.select.filters.histograms import (
    Bins,
    ColumnHistograms,
    JointHistogram,
    category_bins,
    column_edges,
    quantile_edges,
)
from mercer.select.filters.minimum_loss import hinge_minimum, logistic_minimum
from mercer.select.filters.mutual_information import table_information
from mercer.select.filters.pair_information import PairInformation, pair_information
from mercer.select.filters.rank_correlation import rank_association, rank_ratio
from mercer.source import MemorySource, Source
from mercer.stats import Counts, Sample
from mercer.stats.counts import MOST_LEVELS

#: Columns fitted at once.
_BATCH_COLUMNS = 64


def is_classification(source: Source, classification: bool) -> bool:
    """Whether the target holds classes: by request, or by the labels of the first block."""
    if classification:
        return True
    first = next(block for block in (task.read() for task in source.tasks()) if len(block))
    return is_class_target(np.asarray(first.y))


def score_by_ranks(source: Source, categorical: Sequence[int], classification: bool) -> Association:
    """Score by rank correlations over all rows if they are in memory, else over a sample."""
    classification = is_classification(source, classification)
    if classification:
        source = coded(source, classes_of(source))
    if isinstance(source, MemorySource):
        X, y, weight = source.X, source.y, source.weight
    else:
        rows = source.map(_identified_with_target).fold(Sample()).finish()
        X, y, weight = rows.X, rows.y, rows.weight
        weight = None if np.all(weight == 1) else weight
    found = rank_association(X, y, weight, classification)
    score, pvalue, signed = (np.array(part) for part in found)
    for j in categorical:
        column = dense(X[:, [j]])[:, 0]
        one = from_table(_table(column, y, weight)) if classification else rank_ratio(column, y, weight)
        score[j], pvalue[j], signed[j] = one.score[0], one.pvalue[0], one.signed[0]
    return Association(score, pvalue, signed)


def score_by_histograms(
    source: Source, kind: str, categorical: Sequence[int], classification: bool, n_bins: int | None
) -> Association:
    """Score by mutual information or minimum losses, from joint histograms of bins and target."""
    binned = _binned(source, kind, categorical, classification, n_bins)
    counted = binned.source.fold(JointHistogram(binned.edges, binned.n_classes)).finish()
    if kind == "mutual_information":
        pairs = np.array([table_information(table) for table in counted.counts]).reshape(-1, 2)
        return Association(pairs[:, 0], pairs[:, 1], pairs[:, 0])
    return score_by_losses(counted, kind, set(categorical))


def score_by_pairs(
    source: Source, categorical: Sequence[int], classification: bool, n_bins: int | None
) -> PairInformation:
    """Score by (conditional) mutual information, from tables of all pairs of binned columns."""
    return pair_information(*_binned(source, "pair_information", categorical, classification, n_bins))


class _Binned(NamedTuple):
    """A source whose target is codes 0, 1, ..., the bins of its columns, and the number of codes."""

    source: Source
    edges: list[Bins]
    n_classes: int


def _binned(source: Source, kind: str, categorical: Sequence[int], classification: bool, n_bins: int | None) -> _Binned:
    classification = is_classification(source, classification)
    if classification:
        classes = classes_of(source)
        if kind in ("logistic", "hinge"):
            at_least_two(classes, "FilterSelector")
        source = coded(source, classes)
    sample = source.map(_identified_with_target).fold(Sample()).finish()
    if n_bins is None:
        n_bins = _DEFAULT_BINS[kind](sample.weight.sum(), len(classes) if classification else None)
    edges = column_edges(sample.X, sample.weight, n_bins)
    max_bins = n_bins if kind == "pair_information" else MOST_LEVELS
    for j, found in zip(categorical, _categories(source, categorical), strict=True):
        edges[j] = category_bins(np.asarray(found.levels, dtype=np.float64), found.counts, max_bins)
    if classification:
        return _Binned(source, edges, len(classes))
    y_edges = quantile_edges(np.asarray(sample.y, dtype=np.float64), sample.weight, n_bins)
    source = source.map(lambda block: replace(block, y=y_edges.codes(np.asarray(block.y)), raw=block.raw))
    return _Binned(source, edges, len(y_edges.values) + 1)


def _table_bins(n: float, n_classes: int | None) -> int:
    """Return at most 16 bins, fewer where a cell of the table would expect less than five rows."""
    room = n / 5 / n_classes if n_classes else np.sqrt(n / 5)
    return int(np.clip(room, 2, 16))


def _pair_bins(n: float, n_classes: int | None) -> int:
    """Return at most 4 bins, fewer where a cell of the table of two columns would expect less than ten rows."""
    room = np.sqrt(n / 10 / n_classes) if n_classes else np.cbrt(n / 10)
    return int(np.clip(room, 2, 4))


def _loss_bins(n: float, n_classes: int | None) -> int:
    return 256


_DEFAULT_BINS = {
    "mutual_information": _table_bins,
    "pair_information": _pair_bins,
    "logistic": _loss_bins,
    "hinge": _loss_bins,
}


def score_by_losses(counted: ColumnHistograms, kind: str, categorical: Collection[int]) -> Association:
    """Score by 1 - minimum loss / loss of a constant; the logistic loss has p-values by the likelihood ratio."""
    totals = counted.counts[0].sum(axis=0)
    classes = range(1, 2) if len(totals) == 2 else range(len(totals))
    base = np.array([_constant_loss(kind, totals[c], totals.sum() - totals[c]) for c in classes]).sum()
    loss = np.zeros(len(counted.counts))
    for c in classes:
        for first in range(0, len(loss), _BATCH_COLUMNS):
            part = slice(first, first + _BATCH_COLUMNS)
            loss[part] += _minimum_losses(kind, counted.counts[part], counted.means[part], c)
    freedom = np.full(len(loss), float(len(classes)))
    for j in categorical:
        table = counted.counts[j]
        loss[j] = sum(_loss_by_category(kind, table[:, c], table.sum(axis=1) - table[:, c]) for c in classes)
        freedom[j] = len(classes) * (np.count_nonzero(table.sum(axis=1)) - 1)
    gain = np.maximum(base - loss, 0.0)
    score = gain / base if base > 0 else np.zeros(len(loss))
    return Association(score, likelihood_ratio(gain, freedom), score)


def _minimum_losses(kind: str, tables: list[np.ndarray], means: list[np.ndarray], c: int) -> np.ndarray:
    bins = max(len(table) for table in tables)
    x, pos, neg = (np.zeros((len(tables), bins)) for _ in range(3))
    for row, (table, mean) in enumerate(zip(tables, means, strict=True)):
        x[row, : len(table)], pos[row, : len(table)] = mean, table[:, c]
        neg[row, : len(table)] = table.sum(axis=1) - table[:, c]
    return (logistic_minimum if kind == "logistic" else hinge_minimum)(x, pos, neg)


def _constant_loss(kind: str, pos: float, neg: float) -> float:
    return _loss_by_category(kind, np.array([pos]), np.array([neg]))


def _loss_by_category(kind: str, pos: np.ndarray, neg: np.ndarray) -> float:
    """Return the minimum loss with one value per category: n H(y | v), or twice the weight of the minorities."""
    if kind == "hinge":
        return 2.0 * np.sum(np.minimum(pos, neg))
    n = np.maximum(pos + neg, 1e-300)
    return -sum(np.sum(part * np.log(np.maximum(part / n, 1e-300))) for part in (pos, neg))


def _categories(source: Source, categorical: Sequence[int]) -> list[Any]:
    """Return the distinct values of each categorical column, in order, with their weights."""
    if not categorical:
        return []
    reduced = source.map(lambda block: Block(_take(block.X, categorical), weight=block.weight, start=block.start))
    return reduced.fold(Counts()).finish()


def _identified_with_target(block: Block) -> Block:
    """Include the target in the identity of the rows: equal rows with different targets then differ."""
    y = np.asarray(block.y, dtype=np.float64)[:, None]
    raw = sparse.hstack([block.X, sparse.csr_array(y)], format="csr") if hasattr(block.X, "tocsr") else None
    return replace(block, raw=np.column_stack([block.X, y]) if raw is None else raw)


def _take(X: Any, columns: Sequence[int]) -> np.ndarray:
    part = X[:, columns]
    return part.toarray() if hasattr(part, "tocsr") else part


def _table(column: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    categories, codes = np.unique(column, return_inverse=True)
    width = int(y.max()) + 1
    shape = len(categories), width
    return np.bincount(codes * width + y, weight, minlength=shape[0] * width).reshape(shape)
