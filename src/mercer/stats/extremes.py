"""The smallest and the largest value of each column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer.stats.base import Statistic


@dataclass(frozen=True)
class Extremes(Statistic):
    """min and max per column of the rows of positive weight; `finish` returns both as float64 arrays.

    Use it for the ranges of columns. Prefer quantiles of a `Sample` where single values may be wrong, as one of them is
    enough to move a range.

    >>> from mercer._numeric.block import Block
    >>> Extremes().of(Block(np.array([[1.0, 5.0], [3.0, -5.0]]))).finish()
    (array([ 1., -5.]), array([3., 5.]))
    """

    n: int = 0
    min: np.ndarray = field(default_factory=lambda: np.zeros(0))
    max: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def of(self, block: Block) -> Extremes:
        weight = block.weight
        kept = block if weight is None or np.all(weight > 0) else block.rows(weight > 0)
        return Extremes(len(kept), *column_extremes(kept.X)) if len(kept) else Extremes()

    def _merge(self, other: Extremes) -> Extremes:
        return Extremes(self.n + other.n, np.minimum(self.min, other.min), np.maximum(self.max, other.max))

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        if self.n == 0:
            raise ValueError("No rows: the extremes of an empty data set are undefined.")
        return self.min, self.max


def column_extremes(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return min and max of each column of a dense or CSR matrix in float64; (inf, -inf) if there are no rows.

    -0.0 counts as 0.0, so that the sign of a zero does not depend on the order of rows.
    """
    if X.shape[0] == 0:
        return np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    low, high = X.min(axis=0), X.max(axis=0)
    if hasattr(X, "tocsr"):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return low.astype(np.float64) + 0.0, high.astype(np.float64) + 0.0
