"""How often each category occurs."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._runtime.loaded import require
from mercer.tables.derived.base import CATEGORIES, TableTransformer, chosen_columns
from mercer.tables.derived.groups import GroupSums, GroupTable
from mercer.tables.values import hashed


class Frequencies(TableTransformer):
    """Categories as their frequency: c <- n_c, or n_c / n with `normalize`.

    n_c is the weight of the rows of fit that hold category c, n that of all rows. A missing category (None, NaN) is a
    category of its own; one that fit has not seen has frequency 0.

    Use it for columns of very many categories, where rare and frequent ones differ: brands, postal codes, devices. It
    needs no target, so no folds, and one pass, which merges. Time and memory are O(n) and those of the categories.

    Parameters
    ----------
    columns : columns by name or index, default=None
        None takes all columns of text and booleans.
    normalize : bool, default=False
        Whether counts are divided by the number of rows.

    Attributes
    ----------
    columns_ : list of names of columns

    Examples
    --------
    >>> from mercer.tables import Frequencies
    >>> frequencies = Frequencies().fit({"city": ["Bern", "Bern", "Oslo", None]})
    >>> frequencies.get_feature_names_out().tolist()
    ['count of city']
    >>> frequencies.transform({"city": ["Bern", None, "Rome"]}).ravel().tolist()
    [2.0, 1.0, 0.0]
    """

    def __init__(self, columns: Any = None, normalize: bool = False):
        self.columns = columns
        self.normalize = normalize

    def _empty(self) -> GroupSums:
        return GroupSums(self.columns, (), parameter="columns")

    def _finish(self, learned: list[GroupTable]) -> None:
        self._tables = learned
        self._normalize = bool(self.normalize)
        self.columns_ = chosen_columns(self._schema, self.columns, CATEGORIES, "columns")

    def _apply(self, X: Any) -> np.ndarray:
        found = []
        for table, keys in zip(self._tables, hashed(X, self.columns_).T, strict=True):
            counts = table.rows[table.groups_of(keys)]
            found.append(counts / table.rows.sum() if self._normalize else counts)
        return np.stack(found, axis=1)

    def _check_loaded(self) -> None:
        if hasattr(self, "_tables"):
            require(len(self._tables) == len(self.columns_), "the tables of some categories are missing")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as "count of city", or "frequency of city" with `normalize`."""
        shown = dict(zip(self._schema, self._input_names(input_features), strict=True))
        what = "frequency" if self._normalize else "count"
        return np.array([f"{what} of {shown[name]}" for name in self.columns_], dtype=object)
