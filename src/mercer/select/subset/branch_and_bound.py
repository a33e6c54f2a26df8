"""Branch and bound over normal equations for the subset of columns with the smallest squared error."""

from __future__ import annotations

import numpy as np


def best_subset(A: np.ndarray, w: np.ndarray, k: int, start: list[int], bound: float) -> tuple[np.ndarray, int]:
    """Return the best k columns if their error exceeds that of all columns by less than `bound`, else `start`.

    A is the inverse of the Gram matrix G of d columns, w the weights of the fit on all of them. Dropping column v
    raises the squared error by w_v^2 / A_vv; A and w are then deflated along v. Subsets without v have at least that
    much more error (Furnival and Wilson 1974): columns are tried in decreasing order of their increase, so that the
    largest subtrees are pruned first. Also returns the number of nodes visited.
    """
    best: list = [float(bound), np.array(start, dtype=np.int64)]
    nodes = _drop(A, w, np.arange(len(w)), np.arange(len(w)), len(w) - k, 0.0, best)
    return np.sort(best[1]), nodes


def _drop(
    A: np.ndarray, w: np.ndarray, columns: np.ndarray, free: np.ndarray, n_drop: int, error: float, best: list
) -> int:
    """Visit all ways to drop `n_drop` more columns among the indices `free`; return the number of nodes visited."""
    if n_drop == 0:
        if error < best[0]:
            best[:] = error, columns
        return 1
    increase = w[free] ** 2 / A[free, free]
    if n_drop == 1:
        i = int(np.argmin(increase))
        if error + increase[i] < best[0]:
            best[:] = error + increase[i], np.delete(columns, free[i])
        return 1
    order = free[np.argsort(-increase, kind="stable")]
    increase = -np.sort(-increase, kind="stable")
    nodes = 1
    for i in range(len(order) - n_drop, -1, -1):
        if error + increase[i] >= best[0]:
            break  # those before it increase the error more
        v = order[i]
        kept = np.delete(np.arange(len(w)), v)
        part = A[kept, v] / A[v, v]
        rest = order[i + 1 :]
        deflated = A[np.ix_(kept, kept)] - np.outer(part, A[v, kept])
        rest = rest - (rest > v)
        nodes += _drop(deflated, w[kept] - part * w[v], columns[kept], rest, n_drop - 1, error + increase[i], best)
    return nodes


def enumerate_subsets(G: np.ndarray, b: np.ndarray, k: int, min_squares: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the k columns that explain most, by trying all subsets; columns dependent on earlier ones add nothing.

    Subsets grow by columns in increasing order, with the components of all columns orthogonal to the subset: their sums
    of squares, and their products with the target. The last column of all subsets is tried at once. Also returns the
    number of nodes visited.
    """
    best: list = [-1.0, np.arange(k)]
    nodes = _extend(G, G.diagonal().copy(), b, np.empty((0, len(b))), [], k, 0.0, min_squares, best)
    return np.sort(best[1]), nodes


def _extend(
    G: np.ndarray,
    squares: np.ndarray,
    products: np.ndarray,
    factor: np.ndarray,
    selected: list[int],
    k: int,
    explained: float,
    min_squares: np.ndarray,
    best: list,
) -> int:
    first = selected[-1] + 1 if selected else 0
    live = squares > min_squares
    gains = np.where(live, products**2 / np.where(live, squares, 1.0), 0.0)
    if len(selected) == k - 1:
        last = first + int(np.argmax(gains[first:]))
        if explained + gains[last] > best[0] * (1 + 1e-10):
            best[:] = explained + gains[last], np.array([*selected, last])
        return 1
    nodes = 1
    for j in range(first, len(gains) - (k - len(selected)) + 1):
        at = squares, products, factor
        if live[j]:
            row = (G[j] - factor[:, j] @ factor) / np.sqrt(squares[j])
            at = squares - row**2, products - products[j] / np.sqrt(squares[j]) * row, np.vstack([factor, row])
        nodes += _extend(G, *at, [*selected, j], k, explained + gains[j], min_squares, best)
    return nodes
