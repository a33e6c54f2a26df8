"""Prefetching of the next steps of a forward selection: several for little more than one pass over the rows.

A step needs the products of one new direction with all columns, which for many columns is a pass over memory. The next
choices can be predicted: the steps are simulated among a few hundred columns with the best scores, and then the
products of all their directions with all columns come from one matrix product, which reads the rows once. When the
selection chooses another column than predicted, the remaining prefetched directions are discarded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mercer.select.greedy.forward import SelectionState
    from mercer.select.greedy.inner_products import RowInnerProducts

#: Columns among which the next choices are predicted, and the maximum number of choices.
_ACTIVE_COLUMNS, _MAX_DEPTH = 512, 16
#: A prediction costs about as much as this many steps.
_COST_STEPS = 4
#: Minimum number of columns for which prefetching pays.
MIN_COLUMNS = 2048


class DirectionPrefetch:
    """Prefetched directions of `RowInnerProducts`: a queue of (candidate, products with all, coordinates)."""

    def __init__(self, products: RowInnerProducts):
        self.products = products
        self.queue: deque = deque()
        self.used: int | None = None  # steps that the last prediction got right
        self.pause, self.next_pause = 0, 4

    def direction(self, j: int, state: SelectionState) -> tuple[np.ndarray, np.ndarray] | None:
        """Return `RowInnerProducts.direction` of candidate j, from the queue if it was predicted."""
        if self.queue and self.queue[0][0] != j:
            self.queue.clear()
        if not self.queue:
            self._update_pause()
            if self.pause:
                self.pause -= 1
                return self.products.direction(j)
            if not self._fill_queue(j, state):
                return None
        _, row, coordinates = self.queue.popleft()
        self.used = (self.used or 0) + 1
        self.products.n_basis += 1
        return row, coordinates

    def _update_pause(self) -> None:
        """After a prediction that did not pay, pause prefetching, twice as long each time."""
        if self.used is None:  # no prediction since the last update
            return
        if self.used < _COST_STEPS:
            self.pause, self.next_pause = self.next_pause, 2 * self.next_pause
        self.used = None

    def _fill_queue(self, j: int, state: SelectionState) -> bool:
        """Simulate the next steps from candidate j on and fill the queue; False if j depends on the basis."""
        products = self.products
        first = products.n_basis
        active = _best_columns(state, j)
        plan = []
        for candidate, coordinates in self._simulate(j, state, active):
            plan.append((candidate, coordinates))
            if len(plan) >= min(_MAX_DEPTH, state.steps_left):
                break
        V = products.row_weight * products.basis[first : first + len(plan)]
        products.n_basis = first
        rows = np.asarray(V.astype(products.candidates.X.dtype) @ products.candidates.X, dtype=np.float64)
        rows -= np.outer(V.sum(axis=1), products.mean)
        self.queue.extend((candidate, row, at) for (candidate, at), row in zip(plan, rows, strict=True))
        return bool(plan)

    def _simulate(self, j: int, state: SelectionState, active: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield choices among the active columns with their coordinates; the basis grows meanwhile."""
        products = self.products
        X, mean = products.candidates.X[:, active], products.mean[active]
        full_squares, min_squares = products.squares[active], products.min_squares[active]
        squares, correlations, free = state.squares[active], state.target_products[:, active], state.free[active]
        i = int(np.searchsorted(active, j))
        while True:
            coordinates = products.orthogonalize(int(active[i]))
            if coordinates is None:
                return
            v = products.row_weight * products.basis[products.n_basis]
            products.n_basis += 1
            row = np.asarray(v.astype(X.dtype) @ X, dtype=np.float64) - mean * v.sum()
            correlations = correlations - np.outer(correlations[:, i] / coordinates[-1], row)
            squares = squares - row * row
            free[i] = False
            yield int(active[i]), coordinates
            scores = state.scores_of(squares, correlations, free, full_squares, min_squares)
            i = int(np.argmax(scores))
            if scores[i] < 0:
                return


def _best_columns(state: SelectionState, j: int) -> np.ndarray:
    """Return the free columns with the best scores, and column j, in order."""
    scores = state.scores()
    scores[j] = np.inf
    return np.sort(np.argpartition(-scores, min(_ACTIVE_COLUMNS, len(scores) - 1))[:_ACTIVE_COLUMNS])
