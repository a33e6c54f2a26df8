"""Products of two columns: which pairs forward selection finds in what the other features leave, and if they help."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from mercer.auto.features.blocks import Dictionary, Products
from mercer.auto.rows.training import Rows
from mercer.select.greedy.forward import forward_selection
from mercer.select.greedy.inner_products import RowInnerProducts
from mercer.select.greedy.product_candidates import ProductCandidates, factors

if TYPE_CHECKING:
    from mercer.auto.search.search import Search

#: Columns that pairs are made of, at most: those that trees gained most from.
_COLUMNS = 64
#: Rows that a product must be spread over.
_SPREAD = 50
#: Rows that products are looked for in, at least.
_FEWEST = 100


def with_products(search: Search, current: Dictionary) -> Dictionary:
    """A stage of the search: products chosen on some rows, and believed if others that did not choose confirm them."""
    effort, rows = search.effort, search.rows
    most = min(effort.most_products, effort.most_features - current.width)
    if search.n < _FEWEST or most < 1 or search.gains is None or not search.clock.allows(0.6):
        return current
    order, start = rows.smallest(len(rows)), time.perf_counter()
    size = min(effort.search_rows, len(order) // 2)
    chosen, others = order[:size], order[size : size + 2 * effort.search_rows]
    with search.steps("products of pairs"):
        sample = rows.at(chosen)
        pairs = best_pairs(sample, _left(search, current, chosen), search.gains, most)
        if len(pairs) == 0:
            return current
        larger = Dictionary([*current.blocks, Products.learned(sample.X, pairs, sample.weight)])
        seconds, name = time.perf_counter() - start, f"{len(pairs)} products"
        if not search.confirmed("products", name, larger, current, others, seconds):
            return current
        return search.chosen("products", name, larger, current)


def _left(search: Search, current: Dictionary, place: np.ndarray) -> np.ndarray:
    """What the model so far, fitted without a row's fold, leaves of the targets of the rows at `place`."""
    X, left, folds = search.rows.X[place], search.rows.Y[place], search.rows.folds
    scores = None if search.scores is None else search.scores[place]
    Z = current.features(X, scores).astype(np.float64)
    for k, fold in enumerate(np.unique(folds)):
        coef, intercept = search.weights_without(k)
        held = folds[place] == fold
        left[held] -= Z[held] @ coef + intercept
    return left


def best_pairs(rows: Rows, left: np.ndarray, gains: np.ndarray, most: int) -> np.ndarray:
    """The pairs of columns whose products explain most of what is `left` of the targets, by forward selection.

    Pairs are made of the columns of largest `gains`. Columns that join alone make no product, and a product whose
    squares p come from a few rows, (sum of p)^2 / (sum of p^2) of them, has too few to be judged by and stays out.
    """
    columns = np.sort(np.argsort(-gains, kind="stable")[:_COLUMNS])
    X = rows.X[:, columns] - np.average(rows.X[:, columns], axis=0, weights=rows.weight)
    path = forward_selection(RowInnerProducts(ProductCandidates(X, squares=True), left, rows.weight, True), most)
    chosen = [factors(j, len(columns)) for j in path.selected]
    pairs = np.array([pair for pair in chosen if len(pair) == 2], dtype=np.int64).reshape(-1, 2)
    squares = (X[:, pairs[:, 0]] * X[:, pairs[:, 1]]) ** 2 * rows.counts[:, None]
    many = squares.sum(axis=0) ** 2 > min(_SPREAD, len(X) / 20) * np.sum(squares**2, axis=0)
    return columns[pairs[many]]
