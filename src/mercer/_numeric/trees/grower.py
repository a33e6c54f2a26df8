"""A regression tree on binned columns, grown best-first from histograms.

Splitting a leaf into "bin <= b" and the rest gains |g_l|^2 / (h_l + l2) + |g_r|^2 / (h_r + l2) - |g|^2 / (h + l2), with
the sums g of the gradients (one per output) and h of the hessians of the rows on either side. Histograms of (h, g) over
bins give the gains of all splits; the histogram of a leaf is that of its parent minus that of its sibling.

Friedman, "Greedy function approximation", 2001; Chen and Guestrin, "XGBoost", 2016; Ke et al., "LightGBM", 2017.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["grow_tree"]

#: Smallest gain of a split, as a fraction of |g|^2 / (h + l2).
MIN_GAIN = 1e-12

#: Sums of 31 bits suffice for one output and up to MAX_SHORT_ROWS rows if at least half of the gradients and half of
#: the hessians are MIN_UNITS grid units or more; otherwise too many would be rounded to zero.
MAX_SHORT_ROWS, MIN_UNITS = 65536, 64


def grow_tree(
    bins: np.ndarray,
    gradient: np.ndarray,
    hessian: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    widths: np.ndarray,
    max_leaf_nodes: int,
    min_hessian: float,
    l2: float,
    short_sums: bool = False,
    signs: np.ndarray | None = None,
) -> tuple[np.ndarray, ...]:
    """Grow one tree, always splitting the leaf of the largest gain; ties go to the first column, then the first bin.

    bins : (n, d) uint8; gradient : (n, c) float64; hessian : (n,), shared by all outputs; rows : training rows,
    increasing; columns : candidate columns; widths : number of bins of each column. Every leaf has a hessian of at
    least `min_hessian`. Gradients and hessians are rounded to a grid on which all sums are exact, so the result does
    not depend on the order of rows, and splits that partition the rows alike tie exactly. Sums have 52 bits or, with
    `short_sums` and where these suffice, 31: faster, since one word then holds a hessian and a gradient.

    signs : +1 for columns along which the value must not fall, -1 along which it must not rise, 0 for others; for one
    output. Where a split of such a column cuts a leaf, the middle of the values of both sides bounds all leaves below
    either side (the basic method of LightGBM).

    Returns column (-1 in leaves), bin (rows up to it go left), left and right child (int32), value -g / (h + l2)
    (nodes, c) and gain of each node, and the leaf of each of the n rows (int64). Children follow their parents.
    """
    _check(bins, gradient, hessian, rows, columns, max_leaf_nodes)
    node_of = np.zeros(len(bins), dtype=np.int64)
    terms = _rounded_terms(hessian[rows], gradient[rows], short_sums)
    n_bins = int(np.max(np.asarray(widths)[columns]))
    cells = bins[rows][:, columns] + n_bins * np.arange(len(columns))
    task = (cells, terms, columns, n_bins, min_hessian, l2, signs)
    leaves = [_leaf(0, node_of[rows], *task)]
    nodes = list(leaves)
    while len(leaves) < max_leaf_nodes:
        best = max(range(len(leaves)), key=lambda k: leaves[k]["gain"])
        parent = leaves[best]
        if not parent["gain"] > 0:
            break
        parent["left"], parent["right"] = children = len(nodes), len(nodes) + 1
        inside = node_of == parent["node"]
        node_of[inside] = np.where(bins[inside, parent["column"]] <= parent["bin"], *children)
        bounds = _child_bounds(parent, node_of[rows], terms, l2, signs)
        pair = [_leaf(child, node_of[rows], *task, each) for child, each in zip(children, bounds, strict=True)]
        nodes += pair
        leaves[best] = pair[0]
        leaves.append(pair[1])
    inner = [node["left"] >= 0 for node in nodes]
    links = [np.where(inner, [node[name] for node in nodes], -1) for name in ("column", "bin", "left", "right")]
    gains = np.where(inner, [node["gain"] for node in nodes], 0.0)
    values = np.array([node["value"] for node in nodes])
    return (*(link.astype(np.int32) for link in links), values, gains, node_of)


def _check(
    bins: np.ndarray,
    gradient: np.ndarray,
    hessian: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    max_leaf_nodes: int,
) -> None:
    if len(gradient) != len(bins) or len(hessian) != len(bins):
        raise ValueError("bins, gradient and hessian must have as many rows.")
    if len(rows) == 0 or len(columns) == 0 or gradient.shape[1] == 0 or max_leaf_nodes < 1:
        raise ValueError("a tree needs rows, columns, an output and a leaf.")
    if np.any(np.diff(rows) <= 0):
        raise ValueError("rows must be increasing.")
    if np.any(hessian[rows] < 0):
        raise ValueError("hessians must be finite and not negative.")


def _rounded_terms(hessian: np.ndarray, gradient: np.ndarray, short_sums: bool) -> np.ndarray:
    """Hessians and gradients as columns, on the grids of short sums where these are allowed and suffice."""
    terms = (hessian, gradient)
    fits = gradient.shape[1] == 1 and len(gradient) <= MAX_SHORT_ROWS
    fractions = [np.mean(np.abs(each) >= MIN_UNITS * grid_unit(each, bits=31)) for each in terms]
    bits = 31 if short_sums and fits and min(fractions) >= 0.5 else 52
    return np.column_stack([on_grid(each, bits=bits) for each in terms])


def on_grid(values: np.ndarray, digits: int = 30, bits: int = 52) -> np.ndarray:
    """Round values to the nearest multiples of `grid_unit`."""
    unit = grid_unit(values, digits, bits)
    return np.rint(values / unit) * unit


def grid_unit(values: np.ndarray, digits: int = 30, bits: int = 52) -> float:
    """Power of two such that no value exceeds 2^digits units and the sum of their sizes stays below 2^bits units."""
    if not np.all(np.isfinite(values)):
        raise ValueError("gradients and hessians must be finite.")
    return np.ldexp(1.0, -grid_exponent(float(np.abs(values).max(initial=0.0)), len(values), digits, bits))


def grid_exponent(largest: float, count: int, digits: int = 30, bits: int = 52) -> int:
    """Exponent e of the grid of multiples of 2^-e for `count` values up to `largest`: see `grid_unit`."""
    if not largest > 0:
        return 0
    digits = min(digits, bits - int(np.frexp(float(count))[1]))
    return digits - max(int(np.frexp(largest)[1]), -900)


def _leaf(
    node: int,
    node_of: np.ndarray,
    cells: np.ndarray,
    terms: np.ndarray,
    columns: np.ndarray,
    n_bins: int,
    min_hessian: float,
    l2: float,
    signs: np.ndarray | None = None,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> dict[str, Any]:
    """A node as a leaf: its value and its best split, of gain 0 if there is none.

    cells : (rows, columns), histogram cells, `n_bins` for each column; terms : hessian and gradients of rows
    """
    cells, terms = cells[node_of == node], terms[node_of == node]
    total = terms.sum(axis=0)
    weight = total[0] + l2
    value = -total[1:] / weight if weight > 0 else np.zeros(len(total) - 1)
    value = np.clip(value, *bounds)
    leaf = {"node": node, "value": value, "gain": 0.0, "column": -1, "bin": -1, "left": -1, "right": -1}
    leaf["bounds"] = bounds
    if not total[0] > 0:
        return leaf
    base = np.sum(total[1:] ** 2) / weight
    size = len(columns) * n_bins
    sums = [np.bincount(cells.ravel(), np.repeat(term, len(columns)), minlength=size) for term in terms.T]
    below = np.cumsum(np.reshape(sums, (-1, len(columns), n_bins)), axis=2)
    if signs is not None:
        gains = _monotone_gains(below, total, min_hessian, l2, np.asarray(signs)[columns], bounds)
        best = int(np.argmax(gains))
        if gains.flat[best] > MIN_GAIN * abs(_score(total[1], weight, value[0])):
            leaf.update(gain=float(gains.flat[best]), column=int(columns[best // n_bins]), bin=best % n_bins)
        return leaf
    scores = split_scores(below, total, min_hessian, l2)
    best = int(np.argmax(scores))
    if scores.flat[best] > base * (1 + MIN_GAIN):
        leaf.update(gain=float(scores.flat[best] - base), column=int(columns[best // n_bins]), bin=best % n_bins)
    return leaf


def split_scores(below: np.ndarray, total: np.ndarray, min_hessian: float, l2: float) -> np.ndarray:
    """Sum of |g|^2 / (h + l2) of both sides of each split; -inf where the hessian of a side is too small."""
    above = total[:, None, None] - below
    allowed = np.minimum(below[0], above[0]) >= max(min_hessian, np.finfo(np.float64).tiny)
    low, high = (np.where(allowed, side[0] + l2, 1.0) for side in (below, above))
    square, other = (np.sum(side[1:] ** 2, axis=0) for side in (below, above))
    return np.where(allowed, (square * high + other * low) / (low * high), -np.inf)


def _score(g: Any, h: Any, value: Any) -> Any:
    """How much a leaf of the sums g and h and of this value lowers the loss, doubled."""
    return -(2.0 * g + h * value) * value


def _monotone_gains(
    below: np.ndarray, total: np.ndarray, min_hessian: float, l2: float, signs: np.ndarray, bounds: tuple[float, float]
) -> np.ndarray:
    """The gain of each split with values within bounds; -inf where these run against the sign of the column."""
    above = total[:, None, None] - below
    allowed = np.minimum(below[0], above[0]) >= max(min_hessian, np.finfo(np.float64).tiny)
    low, high = (np.where(allowed, side[0] + l2, 1.0) for side in (below, above))
    left, right = np.clip(-below[1] / low, *bounds), np.clip(-above[1] / high, *bounds)
    allowed &= signs[:, None] * (right - left) >= 0
    base = _score(total[1], total[0] + l2, np.clip(-total[1] / (total[0] + l2), *bounds))
    return np.where(allowed, (_score(below[1], low, left) + _score(above[1], high, right)) - base, -np.inf)


def _child_bounds(
    parent: dict[str, Any], node_of: np.ndarray, terms: np.ndarray, l2: float, signs: np.ndarray | None
) -> list[tuple[float, float]]:
    """Bounds on the values of both children of a split."""
    lower, upper = bounds = parent["bounds"]
    sign = 0 if signs is None else signs[parent["column"]]
    if sign == 0:
        return [bounds, bounds]
    sums = [terms[node_of == parent[side]].sum(axis=0) for side in ("left", "right")]
    left, right = (float(np.clip(-each[1] / (each[0] + l2), *bounds)) for each in sums)
    middle = 0.5 * left + 0.5 * right
    return [(lower, middle), (middle, upper)] if sign > 0 else [(middle, upper), (lower, middle)]
