"""Ratios and differences of numbers, and deviations within categories, if the residual and other rows ask for them.

The model so far has the columns, trees and products. A derived number is a candidate for what they left: the residual
of the rows, out of fold, is compared in equally filled bins of the number. Under independence

    sum over bins of (sum w r)^2 / sum w^2,  divided by the variance of r,

is about chi-squared with a degree of freedom less than bins, so candidates that chance explains are dropped at once.
"""

from __future__ import annotations

import time
from itertools import permutations

import numpy as np
from scipy.special import chdtri

from mercer.auto.constants import (
    MAX_DERIVED_CATEGORIES,
    MAX_DERIVED_CORRELATION,
    MAX_DERIVED_NUMBERS,
    MIN_PRODUCT_ROWS,
    SCREENING_BINS,
    SCREENING_LEVEL,
    SELECTED_ERRORS,
    TIME_FOR_PRODUCTS,
)
from mercer.auto.features.derived import DerivedBlock
from mercer.auto.features.derived_terms import DerivedTerm, GroupTerm, PairTerm
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.confirmation import confirmed, out_of_fold_residual, selection_rows
from mercer.auto.search.evaluation import Evaluator
from mercer.auto.search.state import SearchState


def add_derived(search: Evaluator, state: SearchState) -> SearchState:
    """Select derived numbers on some rows, and keep their curves if other rows and all folds confirm them."""
    rows, gains = search.rows, state.trees.gains
    room = search.effort.max_features - state.features.width
    if search.n < MIN_PRODUCT_ROWS or gains is None or rows.signs is not None:
        return state
    if search.effort.max_derived < 1 or not search.clock.allows(TIME_FOR_PRODUCTS):
        return state
    start, (chosen, others) = time.perf_counter(), selection_rows(search)
    with search.steps("derived"):
        candidates = derived_candidates(rows, gains)
        if not candidates:
            return state
        residual = out_of_fold_residual(search, state, chosen)
        terms = best_terms(rows.at(chosen), residual, candidates, search.effort.max_derived)
        block = DerivedBlock.fitted(rows.X, terms, rows.weight) if terms else None
        if block is None or not 0 < block.width <= room:
            return state
        larger, name = state.features.plus(block), f"{len(terms)} derived numbers"
        state, kept = confirmed(search, state, "derived", name, larger, others, time.perf_counter() - start)
        return search.offer(state, "derived", name, larger, SELECTED_ERRORS) if kept else state


def derived_candidates(rows: TrainingRows, gains: np.ndarray) -> list[DerivedTerm]:
    """Ratios and differences of numbers, and deviations of numbers within categories, of the largest tree gains."""
    numbers = sorted(rows.numbers, key=lambda j: (-gains[j], j))[:MAX_DERIVED_NUMBERS]
    found: list[DerivedTerm] = []
    for i, j in permutations(sorted(numbers), 2):
        columns, parts = np.array([i, j]), (rows.numbers[i], rows.numbers[j])
        found.append(PairTerm("ratio", columns, *parts))
        if i < j:
            found.append(PairTerm("difference", columns, *parts))
    spans = sorted(rows.categories, key=lambda span: (-gains[span].sum(), span.start))[:MAX_DERIVED_CATEGORIES]
    for span in spans:
        indicators = np.arange(span.start, span.stop)
        found += [GroupTerm.learned(rows.X, rows.counts, indicators, j) for j in numbers]
    return found


def best_terms(rows: TrainingRows, residual: np.ndarray, candidates: list[DerivedTerm], most: int) -> list[DerivedTerm]:
    """The candidates most clearly associated with the residual, none of them much like a better one."""
    values = [np.nan_to_num(term.values(rows.X)) for term in candidates]
    found = np.array([association(each, residual, rows.counts) for each in values])
    threshold = chdtri(SCREENING_BINS - 1, SCREENING_LEVEL / len(candidates))
    kept: list[int] = []
    ranks: list[np.ndarray] = []
    for k in np.argsort(-found, kind="stable").tolist():
        if len(kept) == most or found[k] <= threshold:
            break
        own = np.argsort(np.argsort(values[k], kind="stable"), kind="stable") - 0.5 * (len(rows) - 1)
        own = own / np.sqrt(np.sum(own**2))
        if all(abs(np.sum(own * other)) <= MAX_DERIVED_CORRELATION for other in ranks):
            kept.append(k)
            ranks.append(own)
    return [candidates[k] for k in kept]


def association(x: np.ndarray, residual: np.ndarray, weight: np.ndarray) -> float:
    """The sum over equally filled bins of x of the squared mean residual in standard errors; 0 for a constant x."""
    order = np.argsort(x, kind="stable")
    edges = x[order[(np.arange(1, SCREENING_BINS) * len(x)) // SCREENING_BINS]]
    bins = np.searchsorted(edges, x, side="right")
    r = residual - np.average(residual, axis=0, weights=weight)
    variance = float(np.average(np.sum(r**2, axis=1), weights=weight))
    squares = np.bincount(bins, weight**2, minlength=SCREENING_BINS)
    sums = np.sum([np.bincount(bins, weight * each, minlength=SCREENING_BINS) ** 2 for each in r.T], axis=0)
    known = squares > 0
    if variance == 0 or np.count_nonzero(known) < 2:
        return 0.0
    return float(np.sum(sums[known] / squares[known]) / variance)
