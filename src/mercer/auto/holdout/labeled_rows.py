"""Scores of predictions on rows that have their target, block by block."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mercer.auto.holdout.evaluate import wilson
from mercer.auto.rows.task import checked_task
from mercer.source import Columns


@dataclass
class LabeledRows:
    """Sums over the rows that have their target: accuracy for classification, R2 for regression.

    Squares are those of differences to the first target, so that no digits are lost far away from zero.

    >>> rows = LabeledRows("size", "regression")
    >>> rows.add(Columns.of({"size": [1.0, 2.0, None, 4.0]}), np.array([1.0, 2.0, 3.0, 3.0]))
    >>> rows.summary()
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
        """Add rows; those without a target, or with one of another type than in the fit, do not count."""
        if self.name not in table.columns or np.ndim(predicted) != 1:
            return
        target = table.array(self.name)
        if checked_task(self.task) == "classification":
            self._count(target, predicted)
        elif target.dtype.kind in "fiub":
            self._measure(target.astype(np.float64), predicted)

    def _count(self, target: np.ndarray, predicted: np.ndarray) -> None:
        if predicted.dtype.kind in "fiub" and target.dtype.kind in "fiub":
            labeled = np.isfinite(target.astype(np.float64))
            hits = target == predicted
        else:
            labeled = np.array([value is not None and value == value and value != "" for value in target.tolist()])
            hits = np.array([str(value) for value in target.tolist()]) == predicted.astype(str)
        self.n += int(labeled.sum())
        self.right += int((hits & labeled).sum())

    def _measure(self, target: np.ndarray, predicted: np.ndarray) -> None:
        labeled = np.isfinite(target)
        target, predicted = target[labeled], predicted[labeled]
        if len(target) == 0:
            return
        if self._origin is None:
            self._origin = float(target[0])
        distance = target - self._origin
        self.n += len(target)
        self.errors += float(np.sum((target - predicted) ** 2))
        self._sums += [distance.sum(), distance @ distance]

    def summary(self) -> str | None:
        """One line, or None where no row has its target."""
        if self.n == 0:
            return None
        rows = f"on {self.n:,} rows that have their" if self.n > 1 else "on 1 row that has its"
        rows = f"{rows} {self.name!r}"
        if checked_task(self.task) == "classification":
            accuracy = wilson(self.right, self.n)
            return f"accuracy {accuracy.value:.3g} ({accuracy.low:.3g} to {accuracy.high:.3g}) {rows}"
        total = self._sums[1] - self._sums[0] ** 2 / self.n
        if not total > 0:
            return f"root mean squared error {np.sqrt(self.errors / self.n):.3g} {rows}"
        return f"R2 {1 - self.errors / total:.3g} {rows}"
