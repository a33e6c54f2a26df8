"""One column in two samples: counts of its cells, compared by Kolmogorov and Smirnov or by chi-square."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mercer import _numeric
from mercer.auto.shift.columns import codes_of, is_numeric, lengths_of, numbers_of
from mercer.source import Columns

#: Cells of a column of numbers at most, rows in each at least, and distinct values up to which each is a cell.
_MAX_CELLS, _MIN_CELL_ROWS, _MAX_DISCRETE = 128, 10, 32
#: Categories at most, and rows of one at least.
_MAX_CATEGORIES, _MIN_CATEGORY_ROWS = 100, 5
#: Expected rows of a cell in each sample, below which chi-square pools it with others.
_MIN_EXPECTED = 5.0


class ColumnTest(NamedTuple):
    """A test of one column: its name, statistic and p-value."""

    test: str
    statistic: float
    p_value: float


@dataclass(frozen=True)
class ColumnCells:
    """Cells of the values of a column, learned from one sample: intervals of numbers, or categories.

    The first cell is that of missing values. The last one of categories is that of all others. Cells of texts are
    intervals of their lengths.
    """

    column: str
    ordered: bool
    cuts: np.ndarray
    categories: tuple[str, ...] = ()
    lengths: bool = False

    @classmethod
    def of(cls, table: Columns, name: str, role: str) -> ColumnCells:
        """Learn the cells: quantiles of numbers, or the categories of at least five rows."""
        if is_numeric(table.schema[name], role):
            return cls._of_numbers(name, numbers_of(table, name))
        if role in ("text", "sequence"):
            return cls._of_numbers(name, lengths_of(table, name), lengths=True)
        codes, texts = codes_of(table, name)
        counted = zip(texts, np.bincount(codes, minlength=len(texts)).tolist(), strict=True)
        frequent = [(-count, text) for text, count in counted if text and count >= _MIN_CATEGORY_ROWS]
        kept = tuple(sorted(text for _, text in sorted(frequent)[:_MAX_CATEGORIES]))
        return cls(name, False, np.zeros(0), kept)

    @classmethod
    def _of_numbers(cls, name: str, x: np.ndarray, lengths: bool = False) -> ColumnCells:
        x = np.sort(x[~np.isnan(x)])
        distinct = np.unique(x)
        if len(distinct) <= _MAX_DISCRETE:  # a cell for each value, one below and one above all
            inner = 0.5 * distinct[:-1] + 0.5 * distinct[1:]
            cuts = np.concatenate([distinct[:1], inner, np.nextafter(distinct[-1:], np.inf)])
            return cls(name, False, cuts, lengths=lengths)
        n_cells = int(np.clip(len(x) // _MIN_CELL_ROWS, 2, _MAX_CELLS))
        cuts = np.unique(np.quantile(x, np.arange(1, n_cells) / n_cells))
        return cls(name, True, cuts, lengths=lengths)

    def count(self, table: Columns) -> np.ndarray:
        """The number of rows in each cell."""
        if len(self.cuts) or not self._is_categorical(table):
            x = lengths_of(table, self.column) if self.lengths else numbers_of(table, self.column)
            cell = np.where(np.isnan(x), 0, 1 + np.searchsorted(self.cuts, x, side="right"))
            return np.bincount(cell, minlength=len(self.cuts) + 2)
        index = {category: 1 + k for k, category in enumerate(self.categories)}
        other = len(self.categories) + 1
        codes, texts = codes_of(table, self.column)
        cells = np.array([0 if not text else index.get(text, other) for text in texts], dtype=np.int64)
        return np.bincount(cells[codes], minlength=other + 1)

    def _is_categorical(self, table: Columns) -> bool:
        return not self.lengths and table.schema[self.column] == "text"

    def compare(self, old: np.ndarray, new: np.ndarray) -> ColumnTest:
        """The test of the hypothesis that both counts are of one distribution."""
        return kolmogorov_smirnov(old, new) if self.ordered else chi_square(old, new)


def kolmogorov_smirnov(old: np.ndarray, new: np.ndarray) -> ColumnTest:
    """The largest difference of the distribution functions at the cuts between cells.

    That is at most the largest difference anywhere, so the p-value is conservative.
    """
    from scipy.stats import kstwo

    m, n = float(old.sum()), float(new.sum())
    distance = float(np.abs(np.cumsum(old) / m - np.cumsum(new) / n).max())
    size = max(1, round(m * n / (m + n)))
    return ColumnTest("Kolmogorov-Smirnov", distance, float(np.clip(kstwo.sf(distance, size), 0.0, 1.0)))


def chi_square(old: np.ndarray, new: np.ndarray) -> ColumnTest:
    """Pearson's chi-square of the counts; cells of few expected rows are pooled. The statistic is Cramer's V."""
    from scipy.special import chdtrc

    table = np.stack([old, new]).astype(np.float64)
    fraction = table.sum(axis=1).min() / table.sum()
    rare = table.sum(axis=0) * fraction < _MIN_EXPECTED
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2:
        return ColumnTest("chi-square", 0.0, 1.0)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    chi2 = float(((table - expected) ** 2 / expected).sum())
    return ColumnTest("chi-square", float(np.sqrt(chi2 / table.sum())), float(chdtrc(table.shape[1] - 1, chi2)))


def in_first_half(positions: np.ndarray) -> np.ndarray:
    """Mask of about half of the rows, by their positions: these choose the categories, and the others count them.

    The frequent categories of some rows are less frequent in others, even of the same distribution.
    """
    return _numeric.signs(_numeric.splitmix64(np.asarray(positions, dtype=np.uint64), 1)) > 0
