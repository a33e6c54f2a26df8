"""Ratios and differences of two columns of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mercer.tables.derived.base import (
    NUMBERS,
    TableTransformer,
    check_choice,
    check_pairs,
    chosen_pairs,
    finite_numbers,
    within_range,
)


class PairOperation(NamedTuple):
    """What becomes of two numbers, and how it is written between their names."""

    sign: str
    apply: Callable[[np.ndarray, np.ndarray], np.ndarray]


def _ratios(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b; NaN where b is 0."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return np.where(b == 0, np.nan, within_range(a / b))


def _differences(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a - b."""
    with np.errstate(over="ignore"):
        return within_range(a - b)


OPERATIONS = {"ratio": PairOperation("/", _ratios), "difference": PairOperation("-", _differences)}


class ColumnPairs(TableTransformer):
    """Ratios a / b and differences a - b of pairs of columns of numbers.

    Missing if a or b is missing, and a / 0 is missing: such values are NaN. What exceeds the range of float64 takes its
    largest number.

    Use it for ratios of sizes that scale together (price and area: price per square meter) and for differences of
    numbers of one unit (arrival and departure). A linear model has differences already, of columns on one scale; trees
    and bins have to approximate both by steps. `mercer.expand.ProductLift` gives products.

    Nothing is learned but the columns. Cost: one operation for each pair and row; d columns have d (d - 1) / 2 pairs.

    Parameters
    ----------
    pairs : sequence of pairs of columns, by name or index, default=None
        None takes all pairs of columns of numbers, in their order.
    operations : sequence of names, default=("ratio", "difference")

    Attributes
    ----------
    pairs_ : list of pairs of names

    Examples
    --------
    >>> from mercer.tables import ColumnPairs
    >>> pairs = ColumnPairs([("area", "rooms")]).fit({"area": [90.0, 60.0], "rooms": [3, 4]})
    >>> pairs.get_feature_names_out().tolist()
    ['area / rooms', 'area - rooms']
    >>> pairs.transform({"area": [90.0, 60.0], "rooms": [3, 0]})
    array([[30., 87.],
           [nan, 60.]])
    """

    def __init__(self, pairs: Any = None, operations: Sequence[str] = ("ratio", "difference")):
        self.pairs = pairs
        self.operations = operations

    def _check_parameters(self) -> None:
        check_pairs(self.pairs)
        check_choice("operations", self.operations, list(OPERATIONS))

    def _finish(self, learned: Any) -> None:
        self.pairs_ = chosen_pairs(self._schema, self.pairs, NUMBERS)
        self._operations = list(self.operations)

    def _apply(self, X: Any) -> np.ndarray:
        first, second = (finite_numbers(X, [pair[k] for pair in self.pairs_]) for k in (0, 1))
        both = [OPERATIONS[operation].apply(first, second) for operation in self._operations]
        return np.stack(both, axis=2).reshape(len(X), -1)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as "area / rooms" and "area - rooms"."""
        shown = dict(zip(self._schema, self._input_names(input_features), strict=True))
        signs = [OPERATIONS[operation].sign for operation in self._operations]
        return np.array([f"{shown[a]} {sign} {shown[b]}" for a, b in self.pairs_ for sign in signs], dtype=object)
