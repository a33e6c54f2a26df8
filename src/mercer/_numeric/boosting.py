"""Trees for boosting: one grown leaf by leaf on binned columns, and the sums of many."""

from __future__ import annotations

import numpy as np

__all__ = ["add_boosted_trees", "grow_boosted_tree"]


def grow_boosted_tree(bins, gradient, hessian, columns, rows, widths, max_leaves, least_hessian, l2):
    """Grow a tree by always splitting the leaf that gains most: (column, bin, left, right, value, gain) of each node,
    and the leaf that each of `rows` reached.

    A split gains g_l^2/(h_l + l2) + g_r^2/(h_r + l2) - g^2/(h + l2), g and h the sums of gradients and hessians of the
    rows of a node; the value of a node is -g/(h + l2) (Friedman 2001; Chen and Guestrin 2016). The histogram of the
    larger child is its parent's less that of the smaller one (Ke et al. 2017).

    bins : (n, p) uint8; columns, rows : those to use; widths : number of bins of each column. Rows whose bin is at most
    `bin` go left. Leaves have column -1; children come after their parent.
    """
    nodes, leaves = [], [_leaf(np.asarray(rows), bins, gradient, hessian, columns, widths)]
    _settle(leaves[0], nodes, columns, least_hessian, l2)
    while len(leaves) < max_leaves:
        gains = [leaf["split"][0] for leaf in leaves]
        place = int(np.argmax(gains))
        if gains[place] <= 0:
            break
        parent = leaves[place]
        _, column, cut = parent["split"]
        low = bins[parent["rows"], column] <= cut
        parts = [parent["rows"][low], parent["rows"][~low]]
        less = 0 if len(parts[0]) <= len(parts[1]) else 1
        pair: list = [None, None]
        pair[less] = _leaf(parts[less], bins, gradient, hessian, columns, widths)
        pair[1 - less] = {
            "rows": parts[1 - less],
            "cells": [a - b for a, b in zip(parent["cells"], pair[less]["cells"], strict=True)],
            "sums": parent["sums"] - pair[less]["sums"],
        }
        for leaf in pair:
            _settle(leaf, nodes, columns, least_hessian, l2)
        nodes[parent["node"]][:4] = [column, cut, pair[0]["node"], pair[1]["node"]]
        nodes[parent["node"]][5] = parent["split"][0]
        leaves[place] = pair[0]
        leaves.append(pair[1])
    *links, value, gain = zip(*nodes, strict=True)
    reached = np.empty(len(bins), dtype=np.int64)
    for leaf in leaves:
        reached[leaf["rows"]] = leaf["node"]
    return (*(np.array(link, dtype=np.int64) for link in links), np.array(value), np.array(gain), reached[rows])


def _leaf(rows, bins, gradient, hessian, columns, widths):
    """Histograms of gradients and hessians, one array (2, bins) per column, and their totals."""
    pair = (gradient[rows], hessian[rows])
    cells = [np.array([np.bincount(bins[rows, c], weights=w, minlength=widths[c]) for w in pair]) for c in columns]
    return {"rows": rows, "cells": cells, "sums": cells[0].sum(axis=1)}


def _settle(leaf, nodes, columns, least, l2):
    """Give the leaf its node and find its best split."""
    g, h = leaf["sums"]
    leaf["node"], leaf["split"] = len(nodes), (0.0, -1, -1)
    nodes.append([-1, -1, -1, -1, -g / (h + l2), 0.0])
    if h < 2 * least:
        return
    for column, cells in zip(columns, leaf["cells"], strict=True):
        gl, hl = np.cumsum(cells, axis=1)[:, :-1]
        allowed = (hl >= least) & (h - hl >= least)
        if not allowed.any():
            continue
        gain = gl**2 / (hl + l2) + (g - gl) ** 2 / (h - hl + l2) - g * g / (h + l2)
        best = int(np.argmax(np.where(allowed, gain, -np.inf)))
        if gain[best] > leaf["split"][0]:
            leaf["split"] = (gain[best], int(column), best)


def add_boosted_trees(X, roots, column, threshold, left, right, value, output, out) -> None:
    """out[i, output[t]] += the value of the leaf that row i of X reaches in tree t; x <= threshold goes left."""
    everyone = np.arange(len(X))
    for root, place in zip(roots, output, strict=True):
        node = np.full(len(X), root)
        while np.any(inner := column[node] >= 0):
            at = node[inner]
            low = X[everyone[inner], column[at]] <= threshold[at]
            node[inner] = np.where(low, left[at], right[at])
        out[:, place] += value[node]
