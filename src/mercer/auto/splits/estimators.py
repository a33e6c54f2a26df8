"""Groups, times and splitters of the estimators, whose rows are sorted and repeated before the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from mercer.auto.options import Splitting
from mercer.auto.rows.weights import weighted_rows
from mercer.auto.splits.keys import KeyValues, with_column, with_key_columns
from mercer.auto.splits.plans import splitter_parts
from mercer.auto.splits.row_splits import RowSplits
from mercer.source import Columns, Source
from mercer.source.table import table_in_memory
from mercer.stats.folds import FoldPlan


def keyed_rows(
    table: Columns, y: np.ndarray, sample_weight: Any, splitting: Splitting, seed: int
) -> tuple[RowSplits | None, Source]:
    """The rows of a fit as a source with the keys of their splits; see `weighted_rows` for their order."""
    if splitting.plain:
        return None, table_in_memory(*weighted_rows(table, y, sample_weight))
    table, splitting = with_key_columns(table, splitting)
    planned: tuple[str, FoldPlan] | None = None
    if splitting.cv is not None and not isinstance(splitting.cv, (int, np.integer)):
        groups = KeyValues.of("groups", splitting.groups, table_in_memory(table))
        known = None if groups is None else groups.groups(table_in_memory(table).collect())
        parts, plan = splitter_parts(splitting.cv, y, known, table.row_hashes())
        table, name = with_column(table, "part", pa.array(parts, pa.int64()))
        planned = (name, plan)
    source = table_in_memory(*weighted_rows(table, y, sample_weight))
    return RowSplits.of(splitting, source, None, seed, planned)


def columns_left(X: Any, estimator: Any) -> Any:
    """New rows in an array without the columns that were no features of the fit, such as that of groups."""
    names = [name for name in (estimator.groups, estimator.time) if isinstance(name, str)]
    if not names or not isinstance(X, np.ndarray) or X.shape[1] != estimator.n_features_in_:
        return X
    return Columns.of(X).select([name for name in Columns.of(X).columns if name in estimator.model_.encoder.schema_])
