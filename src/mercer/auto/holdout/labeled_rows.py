"""How well predictions do on rows that come with their target, block by block."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mercer.auto.holdout.evaluate import wilson
from mercer.source import Columns


@dataclass
class KnownRows:
    """Sums over the rows that name their target: accuracy for classes (`task` "classify"), else R2.

    Squares are those of distances to the first target, so that nothing is lost far away from zero.

    >>> known = KnownRows("size", "regress")
    >>> known.add(Columns.of({"size": [1.0, 2.0, None, 4.0]}), np.array([1.0, 2.0, 3.0, 3.0]))
    >>> known.told()
    "R2 0.786 on 3 rows that have their 'size'"
    """

    name: str
    task: str
    n: int = 0
    right: int = 0
    errors: float = 0.0
    _origin: float | None = None
    _sums: np.ndarray = field(default_factory=lambda: np.zeros(2))

    def add(self, table: Columns, predicted: np.ndarray) -> None:
        """More rows; those without a target, or with one of another kind than was learned, do not count."""
        if self.name not in table.columns or np.ndim(predicted) != 1:
            return
        target = table.array(self.name)
        if self.task == "classify":
            self._count(target, predicted)
        elif target.dtype.kind in "fiub":
            self._measure(target.astype(np.float64), predicted)

    def _count(self, target: np.ndarray, predicted: np.ndarray) -> None:
        if predicted.dtype.kind in "fiub" and target.dtype.kind in "fiub":
            known = np.isfinite(target.astype(np.float64))
            hits = target == predicted
        else:
            known = np.array([value is not None and value == value and value != "" for value in target.tolist()])
            hits = np.array([str(value) for value in target.tolist()]) == predicted.astype(str)
        self.n += int(known.sum())
        self.right += int((hits & known).sum())

    def _measure(self, target: np.ndarray, predicted: np.ndarray) -> None:
        known = np.isfinite(target)
        target, predicted = target[known], predicted[known]
        if len(target) == 0:
            return
        if self._origin is None:
            self._origin = float(target[0])
        away = target - self._origin
        self.n += len(target)
        self.errors += float(np.sum((target - predicted) ** 2))
        self._sums += [away.sum(), away @ away]

    def told(self) -> str | None:
        """One line, or None where no row has its target."""
        if self.n == 0:
            return None
        rows = f"on {self.n:,} rows that have their" if self.n > 1 else "on 1 row that has its"
        rows = f"{rows} {self.name!r}"
        if self.task == "classify":
            share = wilson(self.right, self.n)
            return f"accuracy {share.value:.3g} ({share.low:.3g} to {share.high:.3g}) {rows}"
        spread = self._sums[1] - self._sums[0] ** 2 / self.n
        if not spread > 0:
            return f"root mean squared error {np.sqrt(self.errors / self.n):.3g} {rows}"
        return f"R2 {1 - self.errors / spread:.3g} {rows}"
