"""Levels of columns: the bins of a number, the categories of indicators, and a level for missing values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._runtime.loaded import require, require_finite
from mercer.learn.trees.binning import column_cuts

#: Levels of a number, at most: with the level of missing values, codes fit into a byte.
MAX_LEVELS = 250


@dataclass(frozen=True)
class Axis:
    """The level of a row along one column: a code from 0 to n_levels - 1.

    A number (`values` is not empty) has the bins cuts[b-1] < x <= cuts[b], each with the mean of its training rows as
    its value. A category has level 0 where no indicator is set, and level k for its k-th indicator. Where the column
    `missing` is set, if there is one, the level is the last.
    """

    columns: np.ndarray
    cuts: np.ndarray
    values: np.ndarray
    missing: int = -1

    def _check_loaded(self) -> None:
        require(self.columns.dtype.kind == "i" and self.columns.ndim == 1, "the columns of an axis are no indices")
        require(len(self.values) in (0, len(self.cuts) + 1), "the bins of an axis do not match their values")
        require_finite("a cut of an axis", self.cuts)
        require_finite("a value of an axis", self.values)
        require(self.n_levels <= 256, "an axis has too many levels")

    @classmethod
    def of_number(cls, X: np.ndarray, column: int, missing: int, n_bins: int, weight: np.ndarray | None = None) -> Axis:
        """The bins of a column of numbers, of about equally many rows each."""
        shown = slice(None) if missing < 0 else X[:, missing] == 0
        x = X[shown, column]
        if len(x) == 0:
            return cls(np.array([column]), np.zeros(0), np.zeros(1), missing)
        cuts = column_cuts(x[:, None], n_bins)[0]
        code = np.searchsorted(cuts, x)
        mass = np.ones(len(x)) if weight is None else weight[shown]
        count, total = (np.bincount(code, each, minlength=len(cuts) + 1) for each in (mass, mass * x))
        low, high = np.append(x.min(), cuts), np.append(cuts, x.max())
        means = np.divide(total, count, out=0.5 * (low + high), where=count > 0)
        above = np.nextafter(np.append(-np.inf, cuts), np.inf)
        return cls(np.array([column]), cuts, np.clip(means, above, high), missing)

    @classmethod
    def of_category(cls, columns: np.ndarray, missing: int = -1) -> Axis:
        """The levels of a group of indicators."""
        return cls(np.asarray(columns, dtype=np.int64), np.zeros(0), np.zeros(0), missing)

    @property
    def is_category(self) -> bool:
        return len(self.values) == 0

    @property
    def n_known(self) -> int:
        """The number of levels of rows whose value is not missing."""
        return 1 + len(self.columns) if self.is_category else len(self.values)

    @property
    def n_levels(self) -> int:
        return self.n_known + (self.missing >= 0)

    def codes(self, X: np.ndarray) -> np.ndarray:
        """The level of each row."""
        if self.is_category:
            indicators = X[:, self.columns]
            largest = indicators.argmax(axis=1)  # indicators are not negative: if this one is zero, all are
            code = np.where(indicators[np.arange(len(X)), largest] != 0, 1 + largest, 0)
        else:
            code = np.searchsorted(self.cuts, X[:, self.columns[0]])
        if self.missing >= 0:
            code = np.where(X[:, self.missing] != 0, self.n_known, code)
        return code.astype(np.uint8)

    def place(self, codes: np.ndarray, out: np.ndarray) -> None:
        """Write the encoded columns of rows of these levels."""
        if self.missing >= 0:
            out[:, self.missing] = codes == self.n_known
        if self.is_category:
            out[:, self.columns] = codes[:, None] == 1 + np.arange(len(self.columns))
            return
        values = np.append(self.values, 0.0)  # of a missing number
        out[:, self.columns[0]] = values[codes]

    def merged(self, count: np.ndarray, max_levels: int) -> np.ndarray:
        """The coarse level of each level: at most `max_levels` runs of bins of about equal counts; categories as are.

        count : the weight of the training rows of each level
        """
        if self.is_category or self.n_known <= max_levels:
            return np.arange(self.n_levels)
        known = count[: self.n_known]
        middle = (np.cumsum(known) - known / 2) / max(float(known.sum()), np.finfo(float).tiny)
        group = np.minimum((middle * max_levels).astype(np.int64), max_levels - 1)
        group = np.unique(group, return_inverse=True)[1]
        return np.append(group, group[-1] + 1) if self.missing >= 0 else group


def codes_of(axes: list[Axis], X: np.ndarray) -> np.ndarray:
    """The levels of rows along each axis, as columns of bytes."""
    codes = np.empty((len(X), len(axes)), dtype=np.uint8)
    for j, axis in enumerate(axes):
        codes[:, j] = axis.codes(X)
    return codes


def placed(axes: list[Axis], codes: np.ndarray, n_columns: int) -> np.ndarray:
    """Encoded rows of given levels; columns of no axis are zero."""
    X = np.zeros((len(codes), n_columns))
    for j, axis in enumerate(axes):
        axis.place(codes[:, j], X)
    return X
