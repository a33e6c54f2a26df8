"""Histograms of gradients and hessians for several nodes of a tree, and the best split of each.

Terms are whole numbers, gradients and hessians in units of a grid (see `grid_unit`), so sums of histograms are exact
and do not depend on their order.
"""

from __future__ import annotations

import numpy as np

from mercer._numeric.trees.grower import MIN_GAIN, split_scores

__all__ = ["add_histograms", "best_splits"]


def add_histograms(
    bins: np.ndarray, terms: np.ndarray, nodes: np.ndarray, columns: np.ndarray, widths: np.ndarray, out: np.ndarray
) -> None:
    """Add the terms of the rows of each node to its histogram: out (nodes, sum of widths, 2), in place.

    bins : (n, d) uint8; terms : (n, 2), hessian and gradient of each row; nodes : (n,) int32, -1 for rows that are left
    out; columns : candidate columns; widths : their numbers of bins
    """
    if terms.shape != (len(bins), 2) or len(nodes) != len(bins):
        raise ValueError("bins, terms and nodes must have as many rows, terms two columns.")
    _check_columns(bins, columns, widths)
    size = int(np.sum(widths))
    if out.shape[1:] != (size, 2):
        raise ValueError("histograms must have a hessian and a gradient for each bin of the columns.")
    if len(nodes) and nodes.max() >= len(out):
        raise ValueError("no such node.")
    used = np.flatnonzero(nodes >= 0)
    found = bins[used][:, columns]
    if np.any(found >= np.asarray(widths)):
        raise ValueError("a bin is beyond the width of its column.")
    cells = (nodes[used].astype(np.int64) * size)[:, None] + (np.cumsum(widths) - widths) + found
    for term, sums in zip(terms[used].T, np.moveaxis(out, 2, 0), strict=True):
        total = np.bincount(cells.ravel(), np.repeat(term, len(columns)), minlength=len(out) * size)
        sums += total.reshape(len(out), size)


def best_splits(
    cells: np.ndarray, widths: np.ndarray, min_hessian: np.ndarray, l2: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Find the best split of each node: index of its column among the candidates, bin, gain; and the totals of nodes.

    cells : (nodes, sum of widths, 2) of `add_histograms`; min_hessian, l2 : of each node, in units of its hessians.
    Column and bin are -1 and the gain is 0 where no split gains. Ties go to the first column, then the first bin.
    """
    n_nodes, columns = len(cells), np.repeat(np.arange(len(widths)), widths)
    if len(widths) == 0 or cells.shape[1:] != (len(columns), 2):
        raise ValueError("histograms must have a hessian and a gradient for each bin of the columns.")
    if len(min_hessian) != n_nodes or len(l2) != n_nodes:
        raise ValueError("each node needs min_hessian and l2.")
    ends = np.cumsum(widths)
    column, cut = np.full((2, n_nodes), -1, dtype=np.int64)
    gain, totals = np.zeros(n_nodes), cells[:, : widths[0]].sum(axis=1)
    for k, total in enumerate(totals):
        if not total[0] >= 2 * min_hessian[k]:
            continue
        below = np.concatenate([np.cumsum(part, axis=0) for part in np.split(cells[k], ends[:-1])])
        scores = split_scores(below.T[:, None], total, min_hessian[k], l2[k])[0]
        best = int(np.argmax(scores))
        base = total[1] ** 2 / (total[0] + l2[k])
        if scores[best] > base * (1 + MIN_GAIN):
            column[k], gain[k] = columns[best], scores[best] - base
            cut[k] = best - (ends - widths)[columns[best]]
    return column, cut, gain, totals


def _check_columns(bins: np.ndarray, columns: np.ndarray, widths: np.ndarray) -> None:
    if len(widths) != len(columns):
        raise ValueError("there must be a width for each column.")
    if np.any(np.asarray(columns) < 0) or np.any(np.asarray(columns) >= bins.shape[1]):
        raise ValueError("no such column.")
    if np.any(np.asarray(widths) < 1) or np.any(np.asarray(widths) > 256):
        raise ValueError("a column has 1 to 256 bins.")
