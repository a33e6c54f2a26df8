"""Checks of the rows given to an encoder of tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from mercer._numeric.block import Block
from mercer._runtime.blas import SingleThreadedVerbs
from mercer._runtime.checks import check_weight
from mercer.source import Columns, Source
from mercer.source.arrow import columns_of_rows
from mercer.source.table import first_block, table_in_memory
from mercer.tables.schema import compare_names, conformed


class TableInput(SingleThreadedVerbs, BaseEstimator):
    """An estimator whose rows are those of a table: a frame, a dict of columns, an array or a `Source`."""

    schema_: dict[str, str]

    def check_table(self, X: Any) -> Columns:
        """Rows in memory as a table of the columns and kinds seen in fit, after the checks of scikit-learn."""
        return self._checked(X, reset=False)

    def _checked(self, X: Any, reset: bool) -> Columns:
        """Rows in memory as a table, after the checks of scikit-learn; `reset` learns the names of the columns."""
        if isinstance(X, Columns):
            pass
        elif hasattr(X, "columns") or hasattr(X, "column_names"):
            X = self._checked_frame(X, reset)
        elif columns_of_rows(X) is not None:
            pass
        elif not isinstance(X, dict) or hasattr(X, "tocsr"):  # a sparse matrix may be a dict of its entries
            X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        table = Columns.of(X)
        if len(table) == 0 or table.shape[1] == 0:
            raise ValueError(f"Found array with {len(table)} sample(s) and {table.shape[1]} feature(s): no rows.")
        if reset:
            self._input_names = table.columns
            return table
        if isinstance(X, np.ndarray):  # its columns are those seen in fit
            table = Columns(table.table.rename_columns(self._input_names))
        compare_names(table.columns, self.schema_)
        return conformed(table, self.schema_)

    def _checked_frame(self, X: Any, reset: bool) -> Any:
        """A frame with the names seen in fit, in their order, as scikit-learn requires; warns about other columns."""
        names = list(getattr(X, "column_names", X.columns))
        if not reset and hasattr(self, "feature_names_in_"):
            known = set(self.feature_names_in_)
            if known < set(names):
                compare_names(names, dict.fromkeys(known, ""))
                X = Columns.of(X).select([name for name in names if name in known])
                if X.columns == list(self.feature_names_in_):
                    return X
                names = X.columns
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _opened(self, X: Any, y: Any, sample_weight: Any) -> Source:
        """The rows of positive weight as a source of tables."""
        if not isinstance(X, Source):
            table = self._checked(X, reset=True)
            weight = check_weight(sample_weight, len(table))
            if weight is not None and not np.any(weight > 0):
                raise ValueError("All sample weights are zero: there is nothing to learn from.")
            source: Source = table_in_memory(table, _target(y, len(table)), weight)
        else:
            if y is not None or sample_weight is not None:
                raise ValueError("A Source brings its own target and weights: give them to the source, not to fit.")
            first = first_block(X)
            if first is None:
                raise ValueError("The source has no rows.")
            table = self._table_of(first)
            self._input_names, schema = table.columns, table.schema
            self.feature_names_in_ = np.array(table.columns, dtype=object)
            source = X.map(lambda block: block.with_X(conformed(self._table_of(block), schema, block.start)))
        if sample_weight is None and not isinstance(X, Source):
            return source
        return source.where(lambda block: np.ones(len(block), bool) if block.weight is None else block.weight > 0)

    def _table_of(self, block: Block) -> Columns:
        """The rows of a block as a table; those of an array have the names seen in fit."""
        if isinstance(block.X, Columns):
            return block.X
        names = getattr(self, "_input_names", None)
        table = Columns.of(block.X)
        if names is not None and not hasattr(block.X, "columns"):
            table = Columns(table.table.rename_columns(names))
        return table


def _target(y: Any, n: int) -> np.ndarray | None:
    if y is None:
        return None
    y = np.asarray(y)
    if len(y) != n:
        raise ValueError(f"X has {n} rows but y has {len(y)} entries.")
    return y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
