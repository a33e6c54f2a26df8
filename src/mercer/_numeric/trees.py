"""Regression trees on binned columns, grown leaf by leaf from histograms.

A cut of a leaf into "bin <= b" and the rest lowers the squared error by |S_l|^2 / W_l + |S_r|^2 / W_r - |S|^2 / W,
with the sums S of gradients and W of weights on either side. Histograms of (W, S) over bins hold all cuts of all
columns, and those of a leaf are those of its parent less those of its sibling.

Friedman, "Greedy function approximation", 2001; Ke et al., "LightGBM", 2017.
"""

from __future__ import annotations

import numpy as np

__all__ = ["grow_tree", "tree_leaves"]


def grow_tree(bins, gradient, weight, max_leaves, min_weight):
    """Grow one tree, always cutting the leaf that gains most; of equal cuts the first (column, then bin) is taken.

    bins : (n, d) uint8; gradient : (n, c) float64, weights included; weight : (n,). No leaf has less than `min_weight`.
    Returns the column (-1 in leaves), bin (rows up to it go left), left and right child of each node, and the node of
    each row, all int32. Children follow their parents.
    """
    if len(gradient) != len(bins) or len(weight) != len(bins):
        raise ValueError("bins, gradient and weight must have as many rows.")
    if bins.size == 0 or max_leaves < 1:
        raise ValueError("a tree needs rows, columns and a leaf.")
    terms = np.column_stack([weight, gradient])
    n_bins = int(bins.max()) + 1
    nodes = [[-1, 0, -1, -1]]
    place = np.zeros(len(bins), dtype=np.int32)
    leaves = [(0, _best_cut(bins, terms, n_bins, min_weight))]
    while len(leaves) < max_leaves:
        best = max(range(len(leaves)), key=lambda k: leaves[k][1][0])
        node, (gain, column, cut) = leaves[best]
        if not gain > 0:
            break
        children = len(nodes), len(nodes) + 1
        nodes[node] = [column, cut, *children]
        nodes += [[-1, 0, -1, -1], [-1, 0, -1, -1]]
        inside = place == node
        place[inside] = np.where(bins[inside, column] <= cut, *children)
        found = []
        for child in children:
            rows = place == child
            found.append((child, _best_cut(bins[rows], terms[rows], n_bins, min_weight)))
        leaves[best] = found[0]
        leaves.append(found[1])
    return (*np.array(nodes, dtype=np.int32).T.copy(), place)


def _best_cut(bins, terms, n_bins, min_weight):
    """The gain, column and bin of the best cut; a gain of 0 if there is none."""
    total = terms.sum(axis=0)
    base = np.sum(total[1:] ** 2) / total[0] if total[0] > 0 else 0.0
    best = (0.0, -1, 0)
    least = base * (1 + 1e-12) + 1e-300
    for column in range(bins.shape[1]):
        sums = np.stack([np.bincount(bins[:, column], term, minlength=n_bins) for term in terms.T], axis=1)
        below = np.cumsum(sums, axis=0)[:-1]
        above = total - below
        allowed = (sums[:-1, 0] > 0) & (below[:, 0] >= min_weight) & (above[:, 0] >= min_weight) & (above[:, 0] > 0)
        if allowed.any():
            with np.errstate(divide="ignore", invalid="ignore"):
                value = (
                    np.sum(below[:, 1:] ** 2, axis=1) / below[:, 0] + np.sum(above[:, 1:] ** 2, axis=1) / above[:, 0]
                )
            value = np.where(allowed, value, -np.inf)
            cut = int(np.argmax(value))
            if value[cut] > least:
                least = value[cut]
                best = (float(value[cut] - base), column, cut)
    return best


def tree_leaves(bins, feature, threshold, left, right, roots):
    """The leaf in which each row (down) ends from each root (across), int32; nodes as `grow_tree` gives them."""
    place = np.tile(np.asarray(roots, dtype=np.int32), (len(bins), 1))
    rows = np.arange(len(bins))[:, None]
    while (inner := feature[place] >= 0).any():
        goes_left = bins[rows, np.maximum(feature[place], 0)] <= threshold[place]
        place = np.where(inner, np.where(goes_left, left[place], right[place]), place).astype(np.int32)
    return place
