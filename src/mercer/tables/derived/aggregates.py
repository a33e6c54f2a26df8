"""Numbers compared with the other rows of their category."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._runtime.loaded import require
from mercer.tables.derived.base import TableTransformer, check_choice, finite_numbers, within_range
from mercer.tables.derived.groups import GroupSums, GroupTable, grouped_columns
from mercer.tables.values import hashed

FUNCTIONS = ("mean", "deviation", "rank", "min", "max", "count")
_NAMES = {
    "mean": "mean of {0} by {1}",
    "deviation": "{0} - mean by {1}",
    "rank": "rank of {0} by {1}",
    "min": "min of {0} by {1}",
    "max": "max of {0} by {1}",
    "count": "count of {0} by {1}",
}


class Aggregates(TableTransformer):
    """Aggregates of numbers within categories: is a price high for its city?

    For a number x and the rows r of fit that are of the category c of a row, the features are

    - "mean": m_c = sum w_r x_r / sum w_r, the mean of x within the category,
    - "deviation": x - m_c,
    - "rank": the fraction of x_r below x, with half of those equal to x, linear between the values of fit,
    - "min", "max": the range of x_r,
    - "count": the weight of the rows of the category in which x is not missing.

    A missing category (None, NaN) is a category of its own. A category that fit has not seen, or in which x was always
    missing, takes the values of all rows, and count 0. Where x is missing, its deviation and rank are NaN. No target is
    used, so no folds are needed.

    Use it if numbers mean different things in different groups: wages by country, prices by seller, readings by sensor.
    Means and deviations within few categories are linear in `TableEncoder`'s columns and add nothing to a linear model;
    they matter within many categories, to trees, and together with ranks.

    One pass, which merges: the result has the same bits for blocks of any size. Time is O(n) for each pair of a
    category and a number; memory that of the categories, with "rank" that of all rows in fit (at most 256 values of a
    category are kept).

    Parameters
    ----------
    by : columns of categories by name or index, default=None
        None takes all columns of text and booleans.
    of : columns of numbers by name or index, default=None
        None takes all other columns of numbers.
    functions : sequence of names, default=("mean", "deviation", "count")
        Some of "mean", "deviation", "rank", "min", "max", "count".

    Attributes
    ----------
    by_, of_ : lists of names of columns

    References
    ----------
    TabPrep (2026): aggregates lift linear models, trees and foundation models alike.

    Examples
    --------
    >>> from mercer.tables import Aggregates
    >>> flats = {"city": ["Bern", "Bern", "Oslo", "Oslo"], "price": [2.0, 4.0, 7.0, 9.0]}
    >>> aggregates = Aggregates(functions=["mean", "deviation", "rank"]).fit(flats)
    >>> aggregates.get_feature_names_out().tolist()
    ['mean of price by city', 'price - mean by city', 'rank of price by city']
    >>> aggregates.transform({"city": ["Bern", "Oslo", "Rome"], "price": [4.0, 4.0, 4.0]})
    array([[ 3.   ,  1.   ,  0.75 ],
           [ 8.   , -4.   ,  0.   ],
           [ 5.5  , -1.5  ,  0.375]])
    """

    def __init__(self, by: Any = None, of: Any = None, functions: Sequence[str] = ("mean", "deviation", "count")):
        self.by = by
        self.of = of
        self.functions = functions

    def _check_parameters(self) -> None:
        check_choice("functions", self.functions, FUNCTIONS)

    def _empty(self) -> GroupSums:
        return GroupSums(self.by, self.of, ranks="rank" in self.functions)

    def _finish(self, learned: list[GroupTable]) -> None:
        self._tables = learned
        self._functions = list(self.functions)
        self.by_, self.of_ = grouped_columns(self._schema, self.by, self.of)

    def _apply(self, X: Any) -> np.ndarray:
        keys, x = hashed(X, self.by_), finite_numbers(X, self.of_)
        parts = [
            _aggregate(function, table, group, x[:, j], j)
            for table, group in ((table, table.groups_of(own)) for table, own in zip(self._tables, keys.T, strict=True))
            for j in range(x.shape[1])
            for function in self._functions
        ]
        return np.stack(parts, axis=1)

    def _check_loaded(self) -> None:
        if hasattr(self, "_tables"):
            require(len(self._tables) == len(self.by_), "the tables of some categories are missing")
            widths = {table.mean.shape[1] for table in self._tables}
            require(widths == {len(self.of_)}, "the tables of groups are those of other columns")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as "mean of price by city" and "price - mean by city"."""
        shown = dict(zip(self._schema, self._input_names(input_features), strict=True))
        pairs = [(shown[of], shown[by]) for by in self.by_ for of in self.of_]
        return np.array([_NAMES[name].format(*pair) for pair in pairs for name in self._functions], dtype=object)


def _aggregate(function: str, table: GroupTable, group: np.ndarray, x: np.ndarray, j: int) -> np.ndarray:
    """One feature of rows of known groups, from their values x of number j."""
    if function == "rank":
        return table.ranks[j](group, x)
    if function == "deviation":
        with np.errstate(over="ignore"):
            return within_range(x - table.mean[group, j])
    values = {"mean": table.mean, "min": table.low, "max": table.high, "count": table.weight}[function]
    return values[group, j]
