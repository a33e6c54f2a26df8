"""One pass over the target before anything is fitted: which task it is, and whether there is something to learn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer._numeric.block import Block
from mercer._runtime.errors import DataError, Message, ParameterError, RowError, Setting
from mercer.auto.rows.weights import refuse_extreme_weight
from mercer.learn.targets import MAX_CLASSES
from mercer.source import Columns, Source

#: Names of tasks that are accepted, and what they are called.
TASKS = {
    "classification": "classification",
    "regression": "regression",
    "classify": "classification",
    "regress": "regression",
}
#: Sizes of targets whose squares can be represented.
_HUGE, _TINY = 1e120, 1e-120
#: Distinct rows below which whole groups of equal rows would be held out together.
FEW_DISTINCT = 50
_FIRST_ROWS = 4096
#: Classes of numbers, and of others, from which on `max_classes` has to confirm them.
_MAX_NUMERIC_CLASSES, _MAX_TEXT_CLASSES = 100, 1000
#: Rows of a class below which not every fold can have one.
_RARE = 5


@dataclass(frozen=True)
class TargetProfile:
    """The task, the number of rows and of classes, the number of distinct rows if these are few, and notes."""

    task: str
    n_rows: int
    n_classes: int
    n_distinct: int | None
    notes: list[str]


@dataclass
class _Counts:
    """What one pass has counted: rows, their weight, and the distinct targets while they may be classes."""

    n: int = 0
    weight: float = 0.0
    values: dict = field(default_factory=dict)
    fractional: bool = False
    several: bool = False  # columns of targets
    largest: float = 0.0  # absolute value
    ids: set = field(default_factory=set)  # of distinct rows, while there are few


def checked_task(task: str | None) -> str | None:
    """The name of a task, None to infer it from the target."""
    if task is not None and task not in TASKS:
        raise ParameterError("task", task, "must be 'classification' or 'regression'")
    return None if task is None else TASKS[task]


def profile_target(source: Source, task: str | None = None, max_classes: int | None = None) -> TargetProfile:
    """Profile the target of a source; ValueError says why a task cannot be used.

    None takes strings, booleans and integers of at most 20 distinct values that repeat for classes. More than
    `max_classes` classes are refused; by default, 100 of numbers and 1000 of others.
    """
    task, name = checked_task(task), source.target
    called = "The target" if name is None else f"The target {name!r}"
    counts = _Counts()
    for block in source.blocks():
        try:
            _count(block, counts, called)
        except RowError as error:
            raise error.located(source.locate, block.start) from error
    if counts.n == 0:
        raise ValueError("The source has no rows.")
    if counts.weight <= 0:
        raise ValueError("All weights are zero: there is nothing to learn from.")
    refuse_extreme_weight(counts.weight)
    if 0 < counts.largest < _TINY:
        raise ValueError(f"{called} is at most {counts.largest:g}: its squares vanish. Multiply it by a power of ten.")
    found = _task(counts, called, task, name)
    if found == "classification":
        _refuse_many_classes(counts, called, max_classes)
    n_distinct = len(counts.ids) if len(counts.ids) < FEW_DISTINCT else None
    return TargetProfile(found, counts.n, len(counts.values), n_distinct, _notes(counts, called, found))


def _notes(counts: _Counts, called: str, task: str) -> list[str]:
    """Notes on rare classes and on a constant target."""
    notes = []
    rare = [value for value, times in counts.values.items() if times is not None and times < _RARE]
    if task == "classification" and len(counts.values) > 1 and rare:
        shown = ", ".join(f"{value!r} ({counts.values[value]})" for value in rare[:5]) + ", ..." * (len(rare) > 5)
        notes.append(f"{called} has classes of fewer than {_RARE} rows, too few to learn or to evaluate: {shown}.")
    if not counts.several and len(counts.values) == 1:
        notes.append(f"{called} is {next(iter(counts.values))!r} in every row: the model predicts it for any row.")
    return notes


def _count(block: Block, counts: _Counts, called: str) -> None:
    if len(block) == 0:
        return
    if block.y is None:
        raise ValueError("There is no target to learn: name one of the columns, or give an array.")
    y = np.asarray(block.y)
    counts.largest = max(counts.largest, refuse_unusable(y, called))
    counts.n += len(y)
    _count_distinct(block, counts)
    counts.weight += _weight(block)
    counts.several |= y.ndim == 2
    counts.fractional |= y.dtype.kind == "f" and bool(np.any(y != np.rint(y)))
    if not counts.several and not counts.fractional:
        found, times = np.unique(y, return_counts=True)
        for value, each in zip(found.tolist(), times.tolist(), strict=True):
            counts.values[value] = (counts.values.get(value) or 0) + each
    elif len(counts.values) < 2:  # continuous: two values are enough to know that they differ
        counts.values.update(dict.fromkeys(y.ravel()[[0, int(np.argmax(y.ravel() != y.ravel()[0]))]].tolist()))
    if isinstance(block.X, Columns):
        _refuse_infinity(block.X)


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
    if size.max() > _HUGE:  # very small targets are refused at the end, if all are so
        row = int(np.argmax(size))
        raise RowError(f"{called} is {size[row]:g} at ", row, ". Its square overflows: divide it by a power of ten.")
    return float(size.max())


def _count_distinct(block: Block, counts: _Counts) -> None:
    for part in (slice(0, _FIRST_ROWS), slice(_FIRST_ROWS, None)):  # the rest is seldom needed
        if len(counts.ids) < FEW_DISTINCT:
            counts.ids.update(block.rows(part).ids.tolist())


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


def _is_number(text: Any) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refuse_many_classes(counts: _Counts, called: str, max_classes: int | None) -> None:
    """Refuse classes whose number is probably a mistake, and costly: each takes weights, scores and time of its own."""
    n = len(counts.values)
    numeric = not {type(value) for value in counts.values} & {str, bytes, bool}
    if n <= (max_classes or (_MAX_NUMERIC_CLASSES if numeric else _MAX_TEXT_CLASSES)):
        return
    kind = "different numbers" if numeric else "different values"
    regression = ("Predict the number itself with ", Setting("task", "regression"), ", or confirm")
    first = regression if numeric else ("Confirm",)
    raise DataError(
        f"{called} has {n:,} {kind}, and each would be a class.",
        remedy=Message(*first, " so many classes with ", Setting("max_classes", n), "."),
        parameter="max_classes",
    )


def _task(counts: _Counts, called: str, task: str | None, name: str | None) -> str:
    kinds = {type(value) for value in counts.values}
    strings = bool(kinds & {str, bytes})
    if task == "regression" and strings:
        shown = next((value for value in counts.values if not _is_number(value)), next(iter(counts.values)))
        raise DataError(
            f"{called} holds {shown!r}, which is not a number.",
            remedy=Message("Use ", Setting("task", "classification"), " to predict classes."),
        )
    if task == "classification" and (counts.fractional or counts.several):
        raise DataError(
            f"{called} is continuous: it has values between whole numbers.",
            remedy=Message("Use ", Setting("task", "regression"), "."),
        )
    most = min(MAX_CLASSES, max(2, counts.n // 2))  # numbers that do not repeat are no classes
    many = not strings and bool not in kinds and len(counts.values) > most
    found = task or ("regression" if counts.fractional or counts.several or many else "classification")
    if found == "classification" and len(counts.values) > max(MAX_CLASSES, counts.n // 2):
        raise DataError(
            f"{called} has {len(counts.values)} distinct values in {counts.n} rows: classes must repeat to be learned.",
            remedy=Message(
                "Is another column the target? Text that should be a number can be read as one with ",
                Setting("types", "number", key=name or "target"),
                ".",
            ),
        )
    return found
