"""The statistic of the targets of all rows, from which the task follows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer._numeric.block import Block
from mercer._runtime.errors import RowError
from mercer.auto.options.losses import check_target
from mercer.source import Columns
from mercer.stats import Statistic

#: Targets whose squares overflow.
HUGE = 1e120
#: Distinct rows below which whole groups of equal rows would be held out together.
FEW_DISTINCT = 50
#: Rows of a block that are hashed first: the others only if these are few distinct ones.
_FIRST_ROWS = 256
#: Distinct targets that are counted; there are no classes where they are more.
_MAX_VALUES = 200_000


@dataclass(frozen=True)
class TargetCounts(Statistic):
    """Rows, their weight, and the distinct targets with their numbers while they may be classes.

    `called` names the target in messages, `loss` is the one that targets must fit. Of continuous targets two values are
    kept, which show that they differ.
    """

    called: str
    loss: str = "squared"
    n: int = 0
    weight: float = 0.0
    values: dict[Any, int | None] = field(default_factory=dict)
    fractional: bool = False
    several: bool = False  # columns of targets
    largest: float = 0.0  # absolute value
    ids: frozenset[int] = frozenset()  # of distinct rows, while there are few

    def of(self, block: Block) -> TargetCounts:
        if len(block) == 0:
            return TargetCounts(self.called, self.loss)
        if block.y is None:
            raise ValueError("There is no target to learn: name one of the columns, or give an array.")
        try:
            return self._of(block, np.asarray(block.y))
        except RowError as error:
            raise error.located(None, block.start) from error

    def _of(self, block: Block, y: np.ndarray) -> TargetCounts:
        largest, ids = refuse_unusable(y, self.called), _distinct(block)
        check_target(y, self.loss, self.called)
        weight, several = _weight(block), y.ndim == 2
        fractional = y.dtype.kind == "f" and bool(np.any(y != np.rint(y)))
        if isinstance(block.X, Columns):
            _refuse_infinity(block.X)
        values = _two(y.ravel()) if several or fractional else _counted(y)
        return TargetCounts(self.called, self.loss, len(y), weight, values, fractional, several, largest, ids)

    def _merge(self, other: TargetCounts) -> TargetCounts:
        fractional, several = self.fractional or other.fractional, self.several or other.several
        values = dict(self.values)
        for value, times in other.values.items():
            if value in values or len(values) < (2 if fractional or several else _MAX_VALUES):
                values[value] = (values.get(value) or 0) + (times or 0)
        return TargetCounts(
            self.called,
            self.loss,
            self.n + other.n,
            self.weight + other.weight,
            values,
            fractional,
            several,
            max(self.largest, other.largest),
            _some(self.ids | other.ids),
        )

    def finish(self) -> TargetCounts:
        return self


def _counted(y: np.ndarray) -> dict[Any, int | None]:
    found, times = np.unique(y, return_counts=True)
    return dict(zip(found.tolist(), times.tolist(), strict=True))


def _two(y: np.ndarray) -> dict[Any, int | None]:
    """The first value, and the first that differs from it."""
    return dict.fromkeys(y[[0, int(np.argmax(y != y[0]))]].tolist())


def _distinct(block: Block) -> frozenset[int]:
    first = frozenset(block.rows(slice(0, _FIRST_ROWS)).ids.tolist())
    return _some(
        first if len(first) >= FEW_DISTINCT else first | set(block.rows(slice(_FIRST_ROWS, None)).ids.tolist())
    )


def _some(ids: frozenset[int]) -> frozenset[int]:
    """Hashes of rows, no more than are few."""
    return ids if len(ids) <= FEW_DISTINCT else frozenset(sorted(ids)[:FEW_DISTINCT])


def refuse_unusable(y: np.ndarray, called: str) -> float:
    """Refuse a target that is no number or whose square overflows; the largest absolute value of numbers, else 0."""
    if y.dtype.kind == "M":
        raise ValueError(f"{called} is a date. Learn a number made of it instead, such as the days from a fixed one.")
    if y.ndim == 2 and y.dtype.kind not in "fiub":
        raise ValueError(f"{called} has {y.shape[1]} columns: several targets are learned together if all are numbers.")
    if y.dtype.kind not in "fiub" or len(y) == 0:
        return 0.0
    bad = ~np.isfinite(y.reshape(len(y), -1)).all(axis=1)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise RowError(f"{called} is {y[row]} at ", row, ". Correct the value, or drop the row.")
    size = np.abs(y.reshape(len(y), -1).astype(np.float64)).max(axis=1)
    largest = float(size.max())
    if largest > HUGE:  # very small targets are refused at the end, if all are so
        row = int(np.argmax(size))
        raise RowError(f"{called} is {size[row]:g} at ", row, ". Its square overflows: divide it by a power of ten.")
    return largest


def _weight(block: Block) -> float:
    if block.weight is None:
        return float(len(block))
    weight = np.asarray(block.weight)
    if weight.dtype.kind not in "fiub":
        raise RowError(f"A weight is {str(weight[0])!r} at ", 0, ". Weights are numbers: is another column the weight?")
    weight = weight.astype(np.float64)
    bad = ~np.isfinite(weight) | (weight < 0)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise RowError(f"A weight is {weight[row]} at ", row, ". Weights are finite and at least zero.")
    return float(weight.sum())


def _refuse_infinity(table: Columns) -> None:
    for name in table.columns:
        column = table.table[name]
        if pa.types.is_floating(column.type):
            infinite = pc.is_inf(column)
            if pc.any(infinite).as_py():
                row = pc.index(infinite, True).as_py()
                raise RowError(
                    f"Column {name!r} contains infinity, first at ", row, ". Make it missing, or drop the row."
                )
