"""What weights mean: a row of weight 2 is there twice, a row of weight 0 not at all."""

from __future__ import annotations

import numpy as np

from mercer._runtime.checks import check_weight
from mercer.source import Columns

#: Up to so many rows whole weights are repetitions, and rows are put into an order of their own.
FEW = 2000
#: What all weights together may be: sums of squares in single precision stay numbers.
_LEAST, _MOST = 1e-120, 1e33


def counted_rows(table: Columns, y: np.ndarray, sample_weight) -> tuple[Columns, np.ndarray, np.ndarray | None]:
    """Rows, targets and weights to learn from: nothing without weight, and few rows sorted by hash and target.

    Sums in float32 depend on the order of rows in their last digits. Few rows are therefore brought into one order,
    and whole weights are repetitions: then weights, repetitions and any permutation give the same model, bit for bit.
    """
    weight = check_weight(sample_weight, len(table))
    if weight is not None:
        present = np.flatnonzero(weight > 0)
        if len(present) == 0:
            raise ValueError("All sample weights are zero: there is nothing to learn from.")
        refuse_extreme_weight(float(weight.sum()))
        table, y, weight = table[present], y[present], weight[present]
        if weight.sum() <= FEW and np.all(weight == np.rint(weight)):
            places = np.repeat(np.arange(len(y)), weight.astype(np.intp))
            table, y, weight = table[places], y[places], None
    if len(table) > FEW:
        return table, y, weight
    labels = np.unique(y, axis=0 if y.ndim == 2 else None, return_inverse=True)[1].ravel()
    keys = [labels, table.row_hashes()] if weight is None else [weight, labels, table.row_hashes()]
    order = np.lexsort(keys)
    return table[order], y[order], None if weight is None else weight[order]


def refuse_extreme_weight(total: float) -> None:
    """Weights whose sums would not be numbers: only their ratios matter, so another unit is the remedy."""
    if total > _MOST:
        raise ValueError(f"The weights add up to {total:g}, which overflows: divide them by a power of ten.")
    if total < _LEAST:
        raise ValueError(f"The weights add up to {total:g}, which vanishes: multiply them by a power of ten.")
