"""Training rows of several ensembles, with their bins."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from mercer.learn.trees.binning import BinnedColumns


class TrainingData:
    """Rows for boosting: bins and standardized columns are computed once for all ensembles.

    X : (n, p); codes : the columns that hold codes 0, 1, ... of categories, which each ensemble orders by the mean
    target of its own training rows; signs : of each column, +1 or -1 where scores must rise or fall along it
    """

    def __init__(self, X: np.ndarray, codes: Iterable[int] = (), signs: np.ndarray | None = None):
        self.signs = signs
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self.codes = [int(column) for column in codes]
        self._binned: dict[int, BinnedColumns] = {}

    @classmethod
    def of(cls, X: np.ndarray | TrainingData) -> TrainingData:
        return X if isinstance(X, TrainingData) else cls(X)

    def binned(self, max_bins: int) -> BinnedColumns:
        if max_bins not in self._binned:
            self._binned[max_bins] = BinnedColumns.of(self.X, max_bins)
        return self._binned[max_bins]

    @cached_property
    def screen(self) -> ColumnScreen:
        return ColumnScreen(self.X)


class ColumnScreen:
    """Columns of mean 0 and mean square 1, to rank them by their correlation with a gradient."""

    def __init__(self, X: np.ndarray):
        centered = X - X.mean(axis=0)
        size = np.sqrt(np.mean(centered**2, axis=0))
        self.columns = np.ascontiguousarray((centered / np.where(size > 0, size, 1.0)).T, dtype=np.float32)

    def best(self, columns: np.ndarray, rows: np.ndarray, gradient: np.ndarray, max_columns: int) -> np.ndarray:
        """Of some columns, in order, those of the largest absolute inner products with the gradient of rows."""
        if len(columns) <= max_columns:
            return columns
        centered = np.zeros(self.columns.shape[1], dtype=np.float32)
        centered[rows] = gradient - gradient.mean()
        products = np.abs(np.einsum("ij,j->i", self.columns, centered)[columns])
        return columns[np.sort(np.argpartition(-products, max_columns)[:max_columns])]
