"""How scores move as columns change one at a time, block by block: each block computes only what a column touches.

With thousands of columns, all features of all rows for every column would be their square. Columns and bins add up, so
a change of one is its own. Trees and products read few columns, and are asked of these alone. The phase <omega, x> of
a wave moves by omega_j times the change of x_j.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from mercer import _numeric
from mercer.auto.boosting.forest import Forest
from mercer.auto.features.blocks import Dictionary, Pieces, Products, Score, TreeColumns
from mercer.auto.search.columns import ChosenColumns

#: Numbers in the rows of a path that are computed at once.
_AT_ONCE = 2**22


class _Columns:
    """The columns as they are."""

    adds_up = True

    def __init__(self, block, X: np.ndarray, coef: np.ndarray):
        self.X, self.coef = X.astype(np.float32), coef

    def moved(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        """What the scores of the rows gain as these columns take other values."""
        return (values.astype(np.float32) - self.X[:, columns]) @ self.coef[columns]


class _Bins:
    """Bins of single columns."""

    adds_up = True

    def __init__(self, block: Pieces, X: np.ndarray, coef: np.ndarray):
        self.block, self.known, self.coef = block, block.features(X), coef
        order = np.argsort(block._column, kind="stable")
        self.starts = np.searchsorted(block._column[order], np.arange(X.shape[1] + 1))
        self.order = order

    def moved(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        parts = [self.order[self.starts[j] : self.starts[j + 1]] for j in columns]
        places = np.concatenate(parts)
        read = np.repeat(np.arange(len(columns)), [len(part) for part in parts])
        bins = np.empty((len(values), len(places)), dtype=np.float32)
        low, length = self.block._low[places], self.block._length[places]
        _numeric.write_piecewise_linear(np.ascontiguousarray(values, dtype=np.float64), read, low, length, bins)
        return (bins - self.known[:, places]) @ self.coef[places]


class _Waves:
    """Waves, by their phases; those that do not run along a column stay as they are."""

    adds_up = False

    def __init__(self, block, X: np.ndarray, coef: np.ndarray):
        m = len(block.frequencies)
        self.X, self.frequencies = X, block.frequencies
        self.cosines, self.sines = (part / np.sqrt(m) for part in (coef[:m], coef[m:]))
        self.phases = X @ block.frequencies.T
        self.every = np.arange(m)

    def _scores(self, phases: np.ndarray, waves: np.ndarray) -> np.ndarray:
        phases = phases.astype(np.float32)
        return np.cos(phases) @ self.cosines[waves] + np.sin(phases) @ self.sines[waves]

    def moved(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        along = self.frequencies[:, columns]
        waves = np.flatnonzero(along.any(axis=1))
        phases = self.phases[:, waves]
        shift = (values - self.X[:, columns]) @ along[waves].T
        return self._scores(phases + shift, waves) - self._scores(phases, waves)

    def path(self, x: np.ndarray, groups: list[np.ndarray]) -> np.ndarray:
        """What each group of columns adds as the first row becomes x, group after group."""
        change, phase, gains = x - self.X[0], self.phases[:1], []
        at_once = max(1, _AT_ONCE // (8 * len(self.every)))
        for start in range(0, len(groups), at_once):
            shifts = [self.frequencies[:, columns] @ change[columns] for columns in groups[start : start + at_once]]
            phases = phase[-1] + np.vstack([np.zeros_like(phase[:1]), np.cumsum(shifts, axis=0)])
            gains.append(np.diff(self._scores(phases, self.every), axis=0))
            phase = phases[-1:]
        return np.vstack(gains)


class _Reading:
    """A block that reads some of the columns, asked of these alone."""

    adds_up = False

    def __init__(self, block, X: np.ndarray, coef: np.ndarray):
        self.reads, self.block = _reading(block, X.shape[1])
        self.place = np.full(X.shape[1], -1)
        self.place[self.reads] = np.arange(len(self.reads))
        self.X, self.coef = X[:, self.reads], coef
        self.known = self.block.features(self.X) @ coef

    def moved(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        place = self.place[columns]
        if not np.any(place >= 0):
            return np.zeros_like(self.known)
        other = self.X.copy()
        other[:, place[place >= 0]] = values[:, place >= 0]
        return self.block.features(other) @ self.coef - self.known

    def path(self, x: np.ndarray, groups: list[np.ndarray]) -> np.ndarray:
        """What each group of columns adds as the first row becomes x, group after group."""
        gains = np.zeros((len(groups), self.coef.shape[1]))
        read = [(k, place[place >= 0]) for k, place in enumerate(self.place[columns] for columns in groups)]
        read = [(k, place) for k, place in read if len(place)]
        row, before, goal = self.X[0].copy(), self.known[:1], x[self.reads]
        at_once = max(1, _AT_ONCE // max(len(row), 1))
        for start in range(0, len(read), at_once):
            some = read[start : start + at_once]
            rows = np.empty((len(some), len(row)))
            for out, (_, place) in zip(rows, some, strict=True):
                row[place] = goal[place]
                out[:] = row
            scores = self.block.features(rows) @ self.coef
            gains[[k for k, _ in some]] = np.diff(np.vstack([before, scores]), axis=0)
            before = scores[-1:]
        return gains


def _reading(block: Any, n_columns: int) -> tuple[np.ndarray, Any]:
    """The columns that a block reads, and the block that reads them side by side."""
    if isinstance(block, Products):
        reads, pairs = np.unique(block.pairs, return_inverse=True)
        return reads, Products(pairs.reshape(-1, 2), block.centers, block.factor)
    if isinstance(block, ChosenColumns) and block.width and block.columns.min() >= 0:
        return block.columns, ChosenColumns(np.arange(block.width))
    if isinstance(block, Score) and not block.columns.categories:
        used = np.unique(np.concatenate([forest.column for forest in block.forests]))
        used = used[used >= 0]
        place = np.full(len(block.columns.kept) + 1, -1)
        place[used] = np.arange(len(used))  # the last entry, that of leaves, stays -1
        forests = [replace(forest, column=place[forest.column], ranks={}) for forest in block.forests]
        return block.columns.kept[used], Score(forests, block.scale, TreeColumns.of(len(used), []), block.classes)
    return np.arange(n_columns), block


class _Trees(_Reading):
    """The score of trees: where a column changes, those that read it are asked again."""

    def __init__(self, block: Score, X: np.ndarray, coef: np.ndarray):
        super().__init__(block, X, coef)
        self.alone = not block.columns.categories
        if self.alone:
            self.forest = Forest.joined(self.block.forests)
            self.scores = self.forest.scores(self.X) / len(block.forests)
            trees = np.repeat(np.arange(len(self.forest.roots)), self.forest.sizes)
            inner = np.flatnonzero(self.forest.column >= 0)
            inner = inner[np.argsort(self.forest.column[inner], kind="stable")]
            self.trees, column = trees[inner], self.forest.column[inner]
            self.starts = np.searchsorted(column, np.arange(len(self.reads) + 1))

    def moved(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        place = self.place[columns]
        if not self.alone or not np.any(place >= 0):
            return super().moved(columns, values)
        read = place[place >= 0]
        trees = np.unique(np.concatenate([self.trees[self.starts[j] : self.starts[j + 1]] for j in read]))
        other, forest = self.X.copy(), self.forest.some(trees)
        other[:, read] = values[:, place >= 0]
        change = (forest.scores(other) - forest.scores(self.X)) / len(self.block.forests)
        return self.block.scaled(self.scores + change) @ self.coef - self.known


_KINDS: dict[str, Callable] = {"linear": _Columns, "pieces": _Bins, "waves": _Waves, "score": _Trees}


class Moves:
    """The scores of a linear model on a dictionary for rows X, as columns of these change."""

    def __init__(self, dictionary: Dictionary, coef: np.ndarray, X: np.ndarray):
        X = np.asarray(X, dtype=np.float64)
        self.X, self.n_outputs = X, coef.shape[1]
        self.parts = [
            _KINDS.get(block.kind, _Reading)(block, X, coef[columns])
            for block, columns in zip(dictionary.blocks, dictionary.slices(), strict=True)
        ]

    def moved(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        """What the scores of the rows gain as some columns take other values."""
        return sum(part.moved(columns, values) for part in self.parts)

    def shares(self, x: np.ndarray, groups: list[np.ndarray], orders: Iterable[np.ndarray]) -> np.ndarray:
        """What each group adds as the only row becomes x, on the mean over orders of the groups."""
        orders = list(orders)
        total = np.zeros((len(groups), self.n_outputs))
        for part in self.parts:
            if part.adds_up:
                total += np.vstack([part.moved(columns, x[None, columns]) for columns in groups])
                continue
            for order in orders:
                total[order] += part.path(x, [groups[place] for place in order]) / len(orders)
        return total
