"""Categories as trees see them: one column of codes instead of indicators, in the order of the mean target."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

#: Pseudo-count of rows with the mean target that each category is smoothed with before categories are ordered.
_PSEUDO_COUNT = 10.0


@dataclass(frozen=True)
class TreeColumns:
    """Columns for trees: each group of indicators becomes one column of codes (0: no indicator is set).

    `kept` are the other columns, which come first; `categories` the slices of indicators.
    """

    kept: np.ndarray
    categories: list[slice]

    @classmethod
    def of(cls, n_columns: int, categories: Iterable[slice] = ()) -> TreeColumns:
        categories, inside = list(categories), np.zeros(n_columns, dtype=bool)
        for columns in categories:
            inside[columns] = True
        return cls(np.flatnonzero(~inside), categories)

    @property
    def codes(self) -> np.ndarray:
        """The columns that hold codes."""
        return len(self.kept) + np.arange(len(self.categories))

    @property
    def n_columns(self) -> int:
        """The number of columns, indicators included."""
        return len(self.kept) + sum(columns.stop - columns.start for columns in self.categories)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        out = np.empty((len(X), len(self.kept) + len(self.categories)))
        out[:, : len(self.kept)] = X[:, self.kept]
        rows = np.arange(len(X))
        for code, c in zip(self.codes, self.categories, strict=True):
            largest = X[:, c].argmax(axis=1)  # indicators are not negative: if this one is zero, all are
            out[:, code] = np.where(X[rows, c.start + largest] != 0, 1 + largest, 0)
        return out

    def signs(self, signs: np.ndarray | None) -> np.ndarray | None:
        """The signs of input columns as those of the columns that trees see; categories have none."""
        return None if signs is None else np.append(signs[self.kept], np.zeros(len(self.categories), signs.dtype))

    def gains_per_input(self, gains: np.ndarray) -> np.ndarray:
        """Gains of the columns that trees see as gains of input columns; indicators split that of their category."""
        found = np.zeros(self.n_columns)
        found[self.kept] = gains[: len(self.kept)]
        for columns, gain in zip(self.categories, gains[len(self.kept) :], strict=True):
            found[columns] = gain / (columns.stop - columns.start)
        return found


def rank_codes(rank: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The rank of each code; an unknown code counts as 0, no category."""
    code = codes.astype(np.intp)
    return rank[np.where((code >= 0) & (code < len(rank)), code, 0)]


def category_ranks(
    X: np.ndarray, codes: Iterable[int], target: np.ndarray, train: np.ndarray, weight: np.ndarray | None = None
) -> dict[int, np.ndarray]:
    """The rank of each code of a category by the mean target of its training rows, shrunk to the overall mean.

    In this order one cut finds the best two groups of categories for squared error (Fisher 1958).
    """
    found = {}
    mass = np.ones(len(train)) if weight is None else weight[train]
    centered = mass * (target[train] - np.average(target[train], weights=mass))
    for column in codes:
        code = X[:, column].astype(np.intp)
        size = int(code.max()) + 1
        count = np.bincount(code[train], weights=mass, minlength=size)
        total = np.bincount(code[train], weights=centered, minlength=size)
        found[int(column)] = ranks_of_sums(count, total)
    return found


def ranks_of_sums(count: np.ndarray, total: np.ndarray) -> np.ndarray:
    """The rank of each code by its smoothed mean, from sums of weights and of weighted targets minus their mean."""
    order = np.argsort(total / (count + _PSEUDO_COUNT), kind="stable")
    return np.argsort(order).astype(np.float64)
