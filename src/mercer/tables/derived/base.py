"""Transformers that derive columns from named columns of a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from mercer._numeric.block import Block
from mercer._runtime.errors import DataError, ParameterError
from mercer.base import MixedTransformer
from mercer.kernels.rows import column_positions
from mercer.source import Columns
from mercer.source.arrow import columns_of_rows
from mercer.tables.columns import refuse_infinity
from mercer.tables.schema import compare_names, conformed
from mercer.tables.values import ArrowValues

#: Kinds of columns, see `Columns.schema`: those that hold numbers, and those that hold categories.
NUMBERS, CATEGORIES = ("number", "integer"), ("text", "boolean")


class TableTransformer(MixedTransformer):
    """A transformer whose rows are those of a table: a frame, a dict of columns, an array or a `Source`.

    Blocks reach the statistics and `_apply` as `Columns`, with the columns and kinds seen in fit. A number that is
    missing, or is not defined (a / 0), is NaN in the output.
    """

    def _checked_X(self, X: Any, reset: bool | None, start: int = 0) -> Columns:
        table = self._table(X, reset)
        if reset:
            self._schema: dict[str, str] = dict(table.schema)
        return conformed(table, self._schema, start)

    def _table(self, X: Any, reset: bool | None) -> Columns:
        """Rows in any form as a table, after the checks of scikit-learn."""
        if isinstance(X, dict) or columns_of_rows(X) is not None:
            X = Columns.of(X)
        if isinstance(X, Columns):
            return self._named(X, reset)
        is_frame = hasattr(X, "columns") or hasattr(X, "column_names")
        if is_frame:
            validate_data(self, X, reset=bool(reset), skip_check_array=True)
        else:
            X = validate_data(self, X, reset=bool(reset), dtype=None, ensure_all_finite=False)
        table = Columns.of(X)
        if len(table) == 0 or table.shape[1] == 0:
            raise ValueError(f"Found array with {len(table)} sample(s) and {table.shape[1]} feature(s): no rows.")
        if is_frame or reset:
            return table
        return Columns(table.table.rename_columns(list(self._schema)))

    def _named(self, table: Columns, reset: bool | None) -> Columns:
        if reset:
            self.n_features_in_ = table.shape[1]
            self.feature_names_in_ = np.array(table.columns, dtype=object)
        else:
            compare_names(table.columns, self._schema)
        return table

    def _checked_rows(self, block: Block) -> Any:
        return self._checked_X(block.X, False, block.start)


def chosen_columns(schema: dict[str, str], wanted: Any, kinds: Collection[str], parameter: str) -> list[str]:
    """The names of the columns that are wanted, by name or index; None stands for all columns of some kinds."""
    if wanted is None:
        found = [name for name, kind in schema.items() if kind in kinds]
        if not found:
            raise DataError(
                f"There is no column of kind {' or '.join(kinds)} for {parameter}:",
                remedy=f"name the columns, as in {parameter}=[{next(iter(schema))!r}].",
            )
        return found
    if isinstance(wanted, (str, int)):
        wanted = [wanted]
    names = list(schema)
    return [names[j] for j in column_positions(wanted, len(names), names)]


def chosen_pairs(schema: dict[str, str], pairs: Any, kinds: Collection[str]) -> list[tuple[str, str]]:
    """Pairs of columns, by name or index; None stands for all pairs of columns of some kinds, in their order."""
    if pairs is None:
        return list(combinations(chosen_columns(schema, None, kinds, "pairs"), 2))
    found = [chosen_columns(schema, list(pair), kinds, "pairs") for pair in pairs]
    return [(first, second) for first, second in found]


def check_pairs(pairs: Any) -> None:
    """Refuse what is no sequence of pairs."""
    if pairs is None:
        return
    sound = not isinstance(pairs, str) and len(pairs) > 0
    if not sound or any(isinstance(pair, str) or len(pair) != 2 for pair in pairs):
        raise ParameterError("pairs", pairs, "must be a sequence of pairs of columns, such as [('area', 'rooms')]")


def check_choice(name: str, given: Any, known: Sequence[str]) -> None:
    """Refuse names that are not among the known ones."""
    if isinstance(given, str) or len(given) == 0 or any(each not in known for each in given):
        raise ParameterError(name, given, f"must be a sequence of some of {', '.join(map(repr, known))}")


def finite_numbers(table: Columns, names: Sequence[str]) -> np.ndarray:
    """Columns of numbers side by side as float64 with NaN where missing; infinity is refused."""
    x = ArrowValues(table).numbers(names)
    refuse_infinity(x, list(names), 0)
    return x


def within_range(x: np.ndarray) -> np.ndarray:
    """Numbers that have overflowed as the largest ones of their sign; NaN stays."""
    largest = np.finfo(np.float64).max
    return np.clip(x, -largest, largest)
