"""Regression trees on binned columns: one grown leaf by leaf from histograms, the leaves of rows, the sums of many.

A cut of a leaf into "bin <= b" and the rest gains |g_l|^2 / (h_l + l2) + |g_r|^2 / (h_r + l2) - |g|^2 / (h + l2), with
the sums g of gradients (one for each output) and h of hessians of the rows on either side. Histograms of (h, g) over
bins hold all cuts of all columns, and those of a leaf are those of its parent less those of its sibling.

Friedman, "Greedy function approximation", 2001; Chen and Guestrin, "XGBoost", 2016; Ke et al., "LightGBM", 2017.
"""

from __future__ import annotations

import numpy as np

__all__ = ["add_trees", "grow_tree", "tree_leaves"]

#: A cut must gain this share of |g|^2 / (h + l2).
_LEAST_GAIN = 1e-12

#: Sums of 31 bits will do for one output and this many rows, if the hessians of half the rows and the gradients of half
#: the rows are this many units: else too many would be lost beside the largest.
_MOST_SHORT_ROWS, _LEAST_UNITS = 65536, 64


def grow_tree(bins, gradient, hessian, rows, columns, widths, max_leaves, least_hessian, l2, short=False):
    """Grow one tree, always cutting the leaf that gains most; of equal cuts the first (column, then bin) is taken.

    bins : (n, d) uint8; gradient : (n, c) float64; hessian : (n,), that of all outputs; rows : those to learn from,
    increasing; columns : those to cut; widths : the number of bins of each column. No leaf has a hessian of less than
    `least_hessian`. Gradients and hessians are rounded to a grid on which all sums are exact: neither the order of rows
    nor the way to add them matters, and cuts that part the rows alike are equal. Sums have 52 bits; where `short` and
    they will do, 31: faster, as a hessian and a gradient are then added at once, in one word.

    Returns column (-1 in leaves), bin (rows up to it go left), left and right child (int32), value -g / (h + l2)
    (nodes, c) and gain of each node, and the leaf of each of the n rows (int64). Children follow their parents.
    """
    _check(bins, gradient, hessian, rows, columns, max_leaves)
    place = np.zeros(len(bins), dtype=np.int64)
    terms = _on_grids(hessian[rows], gradient[rows], short)
    n_bins = int(np.max(np.asarray(widths)[columns]))
    cells = bins[rows][:, columns] + n_bins * np.arange(len(columns))
    task = (cells, terms, columns, n_bins, least_hessian, l2)
    leaves = [_leaf(0, place[rows], *task)]
    nodes = list(leaves)
    while len(leaves) < max_leaves:
        best = max(range(len(leaves)), key=lambda k: leaves[k]["gain"])
        parent = leaves[best]
        if not parent["gain"] > 0:
            break
        parent["left"], parent["right"] = children = len(nodes), len(nodes) + 1
        inside = place == parent["node"]
        place[inside] = np.where(bins[inside, parent["column"]] <= parent["bin"], *children)
        pair = [_leaf(child, place[rows], *task) for child in children]
        nodes += pair
        leaves[best] = pair[0]
        leaves.append(pair[1])
    inner = [node["left"] >= 0 for node in nodes]
    links = [np.where(inner, [node[name] for node in nodes], -1) for name in ("column", "bin", "left", "right")]
    gains = np.where(inner, [node["gain"] for node in nodes], 0.0)
    values = np.array([node["value"] for node in nodes])
    return (*(link.astype(np.int32) for link in links), values, gains, place)


def _check(bins, gradient, hessian, rows, columns, max_leaves):
    if len(gradient) != len(bins) or len(hessian) != len(bins):
        raise ValueError("bins, gradient and hessian must have as many rows.")
    if len(rows) == 0 or len(columns) == 0 or gradient.shape[1] == 0 or max_leaves < 1:
        raise ValueError("a tree needs rows, columns, an output and a leaf.")
    if np.any(np.diff(rows) <= 0):
        raise ValueError("rows must be increasing.")
    if np.any(hessian[rows] < 0):
        raise ValueError("hessians must be finite and not negative.")


def _on_grids(hessian, gradient, short):
    """Hessians beside gradients, on the grids of short sums where these are asked for and do."""
    terms = (hessian, gradient)
    few = gradient.shape[1] == 1 and len(gradient) <= _MOST_SHORT_ROWS
    shares = [np.mean(np.abs(each) >= _LEAST_UNITS * grid_unit(each, bits=31)) for each in terms]
    bits = 31 if short and few and min(shares) >= 0.5 else 52
    return np.column_stack([on_grid(each, bits=bits) for each in terms])


def on_grid(values, digits=30, bits=52):
    """The nearest whole multiples of `grid_unit`."""
    unit = grid_unit(values, digits, bits)
    return np.rint(values / unit) * unit


def grid_unit(values, digits=30, bits=52):
    """The power of two of which no value has more than 2^digits, and all of them together fewer than 2^bits."""
    if not np.all(np.isfinite(values)):
        raise ValueError("gradients and hessians must be finite.")
    largest = np.abs(values).max(initial=0.0)
    if not largest > 0:
        return 1.0
    digits = min(digits, bits - int(np.frexp(float(len(values)))[1]))
    return np.ldexp(1.0, max(int(np.frexp(largest)[1]), -900) - digits)


def _leaf(node, place, cells, terms, columns, n_bins, least, l2):
    """A node as a leaf: its value and its best cut, with a gain of 0 if there is none.

    cells : (rows, columns), numbers of bins over all columns, `n_bins` for each; terms : hessian and gradients of rows
    """
    cells, terms = cells[place == node], terms[place == node]
    total = terms.sum(axis=0)
    weight = total[0] + l2
    value = -total[1:] / weight if weight > 0 else np.zeros(len(total) - 1)
    leaf = {"node": node, "value": value, "gain": 0.0, "column": -1, "bin": -1, "left": -1, "right": -1}
    if not total[0] > 0:
        return leaf
    base = np.sum(total[1:] ** 2) / weight
    size = len(columns) * n_bins
    sums = [np.bincount(cells.ravel(), np.repeat(term, len(columns)), minlength=size) for term in terms.T]
    worth = _worth(np.cumsum(np.reshape(sums, (-1, len(columns), n_bins)), axis=2), total, least, l2)
    best = int(np.argmax(worth))
    if worth.flat[best] > base * (1 + _LEAST_GAIN):
        leaf.update(gain=float(worth.flat[best] - base), column=int(columns[best // n_bins]), bin=best % n_bins)
    return leaf


def _worth(below, total, least, l2):
    """|g|^2 / (h + l2) of both sides of each cut, added; -inf where a side has too little."""
    above = total[:, None, None] - below
    allowed = np.minimum(below[0], above[0]) >= max(least, np.finfo(np.float64).tiny)
    low, high = (np.where(allowed, side[0] + l2, 1.0) for side in (below, above))
    square, other = (np.sum(side[1:] ** 2, axis=0) for side in (below, above))
    return np.where(allowed, (square * high + other * low) / (low * high), -np.inf)


def tree_leaves(bins, feature, threshold, left, right, roots):
    """The leaf in which each row (down) ends from each root (across), int32; nodes as `grow_tree` gives them."""
    place = np.tile(np.asarray(roots, dtype=np.int32), (len(bins), 1))
    rows = np.arange(len(bins))[:, None]
    while (inner := feature[place] >= 0).any():
        goes_left = bins[rows, np.maximum(feature[place], 0)] <= threshold[place]
        place = np.where(inner, np.where(goes_left, left[place], right[place]), place).astype(np.int32)
    return place


def add_trees(X, roots, column, threshold, left, right, value, output, out) -> None:
    """out[i, output[t]] += the value of the leaf that row i of X reaches in tree t; x <= threshold goes left."""
    everyone = np.arange(len(X))
    for root, place in zip(roots, output, strict=True):
        node = np.full(len(X), root)
        while np.any(inner := column[node] >= 0):
            at = node[inner]
            low = X[everyone[inner], column[at]] <= threshold[at]
            node[inner] = np.where(low, left[at], right[at])
        out[:, place] += value[node]
