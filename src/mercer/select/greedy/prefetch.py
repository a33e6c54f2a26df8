"""Several steps of a forward selection for little more than one pass over the rows.

A step asks for the products of one new direction with all columns, and many columns make that a pass over memory. But
the next choices can be guessed: among a few hundred columns with the best scores the steps are played out ahead, then
the products of all their directions with all columns come from one matrix product, which reads the rows once. The
selection goes on as if nothing had happened; when it chooses another column than was guessed, the rest is dropped.
"""

from __future__ import annotations

from collections import deque

import numpy as np

#: Columns among which the next choices are guessed, and how many choices at most.
_ACTIVE, _DEEPEST = 512, 16
#: A guess costs about as much as this many steps.
_WORTH = 4
#: Narrower rows gain nothing.
LEAST_COLUMNS = 2048


class Lookahead:
    """Directions computed ahead for a `FromRows` geometry: a queue of (candidate, products with all, coordinates)."""

    def __init__(self, geometry):
        self.geometry = geometry
        self.queue: deque = deque()
        self.used: int | None = None  # steps that the last guess was right about
        self.pause, self.longest_pause = 0, 4

    def direction(self, j: int, state):
        """What `FromRows.direction` says of candidate j, from the queue if it was guessed."""
        if self.queue and self.queue[0][0] != j:
            self.queue.clear()
        if not self.queue:
            self._judge()
            if self.pause:
                self.pause -= 1
                return self.geometry.direction(j)
            if not self._guess(j, state):
                return None
        _, row, coordinates = self.queue.popleft()
        self.used = (self.used or 0) + 1
        self.geometry.n_basis += 1
        return row, coordinates

    def _judge(self):
        """After a guess of little use go on without for a while, longer each time."""
        if self.used is None:  # nothing has been guessed since the last look
            return
        if self.used < _WORTH:
            self.pause, self.longest_pause = self.longest_pause, 2 * self.longest_pause
        self.used = None

    def _guess(self, j, state) -> bool:
        """Play the next steps, starting with candidate j, and fill the queue; False if j depends on the basis."""
        geometry = self.geometry
        first = geometry.n_basis
        active = _best_columns(state, j)
        plan = []
        for number, coordinates in self._played(j, state, active):
            plan.append((number, coordinates))
            if len(plan) >= min(_DEEPEST, state.left):
                break
        V = geometry.row_weight * geometry.basis[first : first + len(plan)]
        geometry.n_basis = first
        rows = np.asarray(V.astype(geometry.candidates.X.dtype) @ geometry.candidates.X, dtype=np.float64)
        rows -= np.outer(V.sum(axis=1), geometry.mean)
        self.queue.extend((number, row, coordinates) for (number, coordinates), row in zip(plan, rows, strict=True))
        return bool(plan)

    def _played(self, j, state, active):
        """Choices among the active columns by the rule of the selection, with their coordinates; the basis grows."""
        geometry = self.geometry
        X, mean, least = geometry.candidates.X[:, active], geometry.mean[active], geometry.least[active]
        squares, products, free = state.squares[active], state.products[:, active], state.free[active]
        place = int(np.searchsorted(active, j))
        while True:
            coordinates = geometry.orthogonalized(int(active[place]))
            if coordinates is None:
                return
            v = geometry.row_weight * geometry.basis[geometry.n_basis]
            geometry.n_basis += 1
            row = np.asarray(v.astype(X.dtype) @ X, dtype=np.float64) - mean * v.sum()
            products = products - np.outer(products[:, place] / coordinates[-1], row)
            squares = squares - row * row
            free[place] = False
            yield int(active[place]), coordinates
            scores = state.scores(squares, products, free, geometry.squares[active], least)
            place = int(np.argmax(scores))
            if scores[place] < 0:
                return


def _best_columns(state, j) -> np.ndarray:
    """The free columns with the best scores, and column j, in order."""
    scores = state.scores()
    scores[j] = np.inf
    return np.sort(np.argpartition(-scores, min(_ACTIVE, len(scores) - 1))[:_ACTIVE])
