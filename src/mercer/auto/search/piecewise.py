"""Piecewise-linear bins of the columns."""

from __future__ import annotations

import numpy as np

from mercer.auto.constants import (
    MAX_PIECEWISE_FEATURES,
    MIN_ROWS,
    ROWS_PER_BIN,
    TIME_FOR_BINS,
    TOTAL_BINS,
)
from mercer.auto.features.piecewise import PiecewiseBlock
from mercer.auto.search.evaluation import Evaluator
from mercer.auto.search.state import SearchState


def add_piecewise(search: Evaluator, state: SearchState) -> SearchState:
    """Try bins of all columns, as many as rows, features and time allow."""
    effort, rows, d, width = search.effort, search.rows, search.rows.X.shape[1], state.features.width
    most = min(MAX_PIECEWISE_FEATURES, effort.max_features, effort.max_width // 2 + d)
    if search.n < MIN_ROWS or effort.n_bins < 2 or width >= most or not search.clock.allows(TIME_FOR_BINS):
        return state
    n_bins = _affordable_bins(search, state)
    if n_bins < 2:
        return state
    block = PiecewiseBlock.fitted(rows.X, n_bins, rows.weight)
    short_of_memory = effort.max_width < MAX_PIECEWISE_FEATURES  # then fewer bins are better than none
    while short_of_memory and block is not None and n_bins > 3 and block.width + width > most:
        n_bins //= 2
        block = PiecewiseBlock.fitted(rows.X, n_bins, rows.weight)
    if block is None or block.width + width > most:
        return state
    return search.offer(state, "piecewise", f"{n_bins} piecewise-linear bins", state.features.plus(block))


def _affordable_bins(search: Evaluator, state: SearchState) -> int:
    """Bins per column that the number of columns, rows and the time allow."""
    d = search.rows.X.shape[1]
    n_bins = int(np.clip(TOTAL_BINS // max(d, 1), 2, search.effort.n_bins))
    n_bins = min(n_bins, max(2, search.n // ROWS_PER_BIN))
    while n_bins > 1 and not search.affords(state, state.features.width + n_bins * d, TIME_FOR_BINS + 0.1):
        n_bins //= 2
    return n_bins
