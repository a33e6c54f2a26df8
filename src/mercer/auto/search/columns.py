"""Few rows: the columns that forward selection finds, once more, with a penalty of their own.

Where rows are few, one penalty for all columns must be strong, and the few that matter are shrunk with the others. The
columns that explain most of the target together need less of it. Which they are is learned from targets: the folds
judge the columns that are chosen without each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mercer.auto.features.blocks import Block, Dictionary, moved_columns
from mercer.auto.features.cross_fitted import ByFold
from mercer.auto.rows.training import N_FOLDS, Rows
from mercer.auto.search.evaluation import SURE
from mercer.select.greedy.candidates import ColumnCandidates
from mercer.select.greedy.forward import forward_selection
from mercer.select.greedy.inner_products import RowInnerProducts

if TYPE_CHECKING:
    from mercer.auto.search.search import Search

#: Numbers of columns that are tried, and rows for each of them.
_SIZES, _ROWS = (3, 6, 12, 24), 6


class ChosenColumns(Block):
    """Some of the encoded columns (-1: one that is always zero)."""

    kind = "chosen"

    def __init__(self, columns: np.ndarray):
        self.columns = np.asarray(columns, dtype=np.int64)
        self.width = len(self.columns)

    def write(self, X, out):
        out[:] = X[:, self.columns]
        out[:, self.columns < 0] = 0.0

    def names(self, columns):
        return [f"{columns[j]}, chosen" if j >= 0 else "none, chosen" for j in self.columns]

    def along(self, places: np.ndarray) -> ChosenColumns:
        """The same columns where column j is what was column places[j]; one that is gone is zero."""
        return ChosenColumns(moved_columns(self.columns, places))


def with_chosen(search: Search, current: Dictionary) -> Dictionary:
    """A stage of the search: three columns, six and so on, as long as the folds gain by them."""
    rows, room = search.rows, search.effort.most_features - current.width
    most = min(search.n // _ROWS, rows.X.shape[1] // 2, room)
    sizes = [size for size in _SIZES if size <= most]
    if not rows.few or not sizes or search.n < 40 or not search.clock.allows(0.5):
        return current
    with search.steps("columns that matter most"):
        whole = best_columns(rows, sizes[-1])
        apart = [best_columns(rows.at(np.flatnonzero(rows.folds != fold)), sizes[-1]) for fold in range(N_FOLDS)]
        best, least = current, min(len(whole), *map(len, apart))
        for size in sizes:
            if size > least or not search.clock.allows(0.6):
                break
            block = ByFold(ChosenColumns(whole[:size]), [ChosenColumns(each[:size]) for each in apart])
            larger = Dictionary([*current.blocks, block])
            best = search.chosen("chosen", f"{size} columns once more", larger, best, SURE)
    return best


def best_columns(rows: Rows, most: int) -> np.ndarray:
    """The columns that explain most of the targets together, in the order in which forward selection takes them."""
    candidates = ColumnCandidates(np.asarray(rows.X, dtype=np.float64))
    path = forward_selection(RowInnerProducts(candidates, rows.Y, rows.weight, True), most)
    return np.array(path.selected, dtype=np.int64)
