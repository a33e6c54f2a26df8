"""The subset of columns with the least squared error, by branch and bound over normal equations."""

from __future__ import annotations

import numpy as np


def best_subset(A: np.ndarray, w: np.ndarray, k: int, start, bound: float) -> tuple[np.ndarray, int]:
    """The k columns whose fit errs least, if it errs less than `bound` beyond all columns; else `start`. And the nodes.

    A : inverse of the Gram matrix G of d columns; w : weights of the fit on all of them. Leaving out column v raises
    the squared error by w_v^2 / A_vv, after which A and w lose their parts along v. Subsets without v err at least
    that much more (Furnival and Wilson 1974): columns are tried in falling order of their rise, so that the largest
    subtrees are the first to be cut off.
    """
    best: list = [float(bound), np.array(start, dtype=np.int64)]
    nodes = _leave_out(A, w, np.arange(len(w)), np.arange(len(w)), len(w) - k, 0.0, best)
    return np.sort(best[1]), nodes


def _leave_out(A, w, columns, free, need, error, best) -> int:
    """Visit all ways to leave out `need` more of the columns at the places `free`; the nodes visited."""
    if need == 0:
        if error < best[0]:
            best[:] = error, columns
        return 1
    rise = w[free] ** 2 / A[free, free]
    if need == 1:
        least = int(np.argmin(rise))
        if error + rise[least] < best[0]:
            best[:] = error + rise[least], np.delete(columns, free[least])
        return 1
    order = free[np.argsort(-rise, kind="stable")]
    rise = -np.sort(-rise, kind="stable")
    nodes = 1
    for i in range(len(order) - need, -1, -1):
        if error + rise[i] >= best[0]:
            break  # those before it rise more
        v = order[i]
        kept = np.delete(np.arange(len(w)), v)
        part = A[kept, v] / A[v, v]
        rest = order[i + 1 :]
        inner = A[np.ix_(kept, kept)] - np.outer(part, A[v, kept])
        places = rest - (rest > v)
        nodes += _leave_out(inner, w[kept] - part * w[v], columns[kept], places, need - 1, error + rise[i], best)
    return nodes


def enumerated(G: np.ndarray, b: np.ndarray, k: int, least: np.ndarray) -> tuple[np.ndarray, int]:
    """The k columns whose fit explains most, by trying all sets; what depends on columns before it adds nothing.

    Sets grow by columns in rising order, with the parts of all columns that are orthogonal to the set: their squares,
    and their products with the target. The last column of all sets is tried at once. Returns the nodes too.
    """
    best: list = [-1.0, np.arange(k)]
    nodes = _grow(G, G.diagonal().copy(), b, np.empty((0, len(b))), [], k, 0.0, least, best)
    return np.sort(best[1]), nodes


def _grow(G, squares, products, factor, chosen, k, explained, least, best) -> int:
    first = chosen[-1] + 1 if chosen else 0
    live = squares > least
    gains = np.where(live, products**2 / np.where(live, squares, 1.0), 0.0)
    if len(chosen) == k - 1:
        last = first + int(np.argmax(gains[first:]))
        if explained + gains[last] > best[0] * (1 + 1e-10):
            best[:] = explained + gains[last], np.array([*chosen, last])
        return 1
    nodes = 1
    for j in range(first, len(gains) - (k - len(chosen)) + 1):
        at = squares, products, factor
        if live[j]:
            row = (G[j] - factor[:, j] @ factor) / np.sqrt(squares[j])
            at = squares - row**2, products - products[j] / np.sqrt(squares[j]) * row, np.vstack([factor, row])
        nodes += _grow(G, *at, [*chosen, j], k, explained + gains[j], least, best)
    return nodes
