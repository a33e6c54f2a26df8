"""Sample weights: a row of weight 2 counts as two rows, a row of weight 0 as none."""

from __future__ import annotations

import numpy as np

from mercer._runtime.checks import check_weight
from mercer.source import Columns

#: Rows up to which integer weights are repetitions, and rows are sorted.
FEW = 2000
#: Bounds on the sum of the weights: sums of squares in single precision stay finite.
_MIN_TOTAL, _MAX_TOTAL = 1e-120, 1e33


def weighted_rows(
    table: Columns, y: np.ndarray, sample_weight: np.ndarray | None
) -> tuple[Columns, np.ndarray, np.ndarray | None]:
    """Training rows, targets and weights: no rows of weight zero, and few rows sorted by hash and target.

    Sums in float32 depend on the order of rows in their last digits. Few rows are therefore sorted, and integer weights
    are repetitions: then weights, repetitions and any permutation give the same model, bit for bit.
    """
    weight = check_weight(sample_weight, len(table))
    if weight is not None:
        present = np.flatnonzero(weight > 0)
        if len(present) == 0:
            raise ValueError("All sample weights are zero: there is nothing to learn from.")
        refuse_extreme_weight(float(weight.sum()))
        table, y, weight = table[present], y[present], weight[present]
        if weight.sum() <= FEW and np.all(weight == np.rint(weight)):
            index = np.repeat(np.arange(len(y)), weight.astype(np.intp))
            table, y, weight = table[index], y[index], None
    if len(table) > FEW:
        return table, y, weight
    labels = np.unique(y, axis=0 if y.ndim == 2 else None, return_inverse=True)[1].ravel()
    keys = [labels, table.row_hashes()] if weight is None else [weight, labels, table.row_hashes()]
    order = np.lexsort(keys)
    return table[order], y[order], None if weight is None else weight[order]


def refuse_extreme_weight(total: float) -> None:
    """Refuse weights whose sums would overflow or vanish: only their ratios matter, so another unit is the remedy."""
    if total > _MAX_TOTAL:
        raise ValueError(f"The weights add up to {total:g}, which overflows: divide them by a power of ten.")
    if total < _MIN_TOTAL:
        raise ValueError(f"The weights add up to {total:g}, which vanishes: multiply them by a power of ten.")
