"""Products of two columns: the pairs that forward selection finds in the residual, if other rows confirm them."""

from __future__ import annotations

import time

import numpy as np

from mercer.auto.constants import (
    MAX_PRODUCT_COLUMNS,
    MIN_EFFECTIVE_ROWS,
    MIN_PRODUCT_ROWS,
    TIME_FOR_PRODUCTS,
)
from mercer.auto.features.products import ProductBlock
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.confirmation import confirmed, out_of_fold_residual, selection_rows
from mercer.auto.search.evaluation import Evaluator
from mercer.auto.search.state import SearchState
from mercer.select.greedy.forward import forward_selection
from mercer.select.greedy.inner_products import RowInnerProducts
from mercer.select.greedy.product_candidates import ProductCandidates, factors


def add_products(search: Evaluator, state: SearchState) -> SearchState:
    """Select products on some rows, and keep them if rows that took no part in the selection confirm them."""
    effort, rows, gains = search.effort, search.rows, state.trees.gains
    most = min(effort.max_products, effort.max_features - state.features.width)
    if search.n < MIN_PRODUCT_ROWS or most < 1 or gains is None or not search.clock.allows(TIME_FOR_PRODUCTS):
        return state
    start, (chosen, others) = time.perf_counter(), selection_rows(search)
    with search.steps("products"):
        sample = rows.at(chosen)
        pairs = best_pairs(sample, out_of_fold_residual(search, state, chosen), gains, most)
        if len(pairs) == 0:
            return state
        larger = state.features.plus(ProductBlock.fitted(sample.X, pairs, sample.weight))
        name = f"{len(pairs)} products"
        state, kept = confirmed(search, state, "products", name, larger, others, time.perf_counter() - start)
        return search.offer(state, "products", name, larger) if kept else state


def best_pairs(rows: TrainingRows, residual: np.ndarray, gains: np.ndarray, max_pairs: int) -> np.ndarray:
    """The pairs of columns whose products explain most of the residual, by forward selection.

    Pairs are made of the columns of largest `gains`. A column that is selected alone makes no product. A product whose
    squares p come from an effective number of rows, (sum of p)^2 / (sum of p^2), that is too small is left out.
    """
    allowed = np.arange(len(gains)) if rows.signs is None else np.flatnonzero(rows.signs == 0)
    columns = np.sort(allowed[np.argsort(-gains[allowed], kind="stable")[:MAX_PRODUCT_COLUMNS]])
    if len(columns) == 0:
        return np.zeros((0, 2), dtype=np.int64)
    X = rows.X[:, columns] - np.average(rows.X[:, columns], axis=0, weights=rows.weight)
    products = RowInnerProducts(ProductCandidates(X, squares=True), residual, rows.weight, True)
    chosen = [factors(j, len(columns)) for j in forward_selection(products, max_pairs).selected]
    pairs = np.array([pair for pair in chosen if len(pair) == 2], dtype=np.int64).reshape(-1, 2)
    squares = (X[:, pairs[:, 0]] * X[:, pairs[:, 1]]) ** 2 * rows.counts[:, None]
    spread_out = squares.sum(axis=0) ** 2 > min(MIN_EFFECTIVE_ROWS, len(X) / 20) * np.sum(squares**2, axis=0)
    return columns[pairs[spread_out]]
