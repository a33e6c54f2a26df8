"""One look at the rows before anything is learned: what the target is, and whether there is something to learn."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer._runtime.errors import RowError
from mercer.auto.rows.weights import refuse_extreme_weight
from mercer.learn.targets import MOST_CLASSES
from mercer.source import Columns, Source

TASKS = ("classify", "regress")
#: Sizes of targets whose squares still are numbers.
_HUGE, _TINY = 1e120, 1e-120
#: With fewer different rows than this, whole levels would be kept aside together with all their rows.
FEW_DIFFERENT = 50
_GLANCE = 4096
_RARE = 5  # rows of a class: not every fold can have one


@dataclass
class Look:
    """What one pass has seen: number of rows, their weight, and the different targets while they may be classes."""

    n: int = 0
    weight: float = 0.0
    levels: dict = field(default_factory=dict)
    fractions: bool = False
    several: bool = False  # columns of targets
    largest: float = 0.0  # number
    ids: set = field(default_factory=set)  # of different rows, while there are few


def checked_task(source: Source, task: str | None, job) -> str:
    """ "classify" or "regress" after every row was looked at; ValueError says which one cannot be used, and why.

    None takes strings, truth values and whole numbers of at most 20 values that repeat for classes. `job.notes` is told
    of a target that never changes, `job.n_rows` how many rows there are, `job.few` how many different ones if few.
    """
    if task is not None and task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, not {task!r}.")
    called = "The target" if source.target is None else f"The target {source.target!r}"
    look = Look()
    for block in source.blocks():
        try:
            _look(block, look, called)
        except RowError as error:
            raise error.located(source.locate, block.start) from error
    if look.n == 0:
        raise ValueError("The source has no rows.")
    if look.weight <= 0:
        raise ValueError("All weights are zero: there is nothing to learn from.")
    refuse_extreme_weight(look.weight)
    if 0 < look.largest < _TINY:
        raise ValueError(f"{called} is at most {look.largest:g}: its squares vanish. Multiply it by a power of ten.")
    found, job.n_rows, job.n_classes = _task(look, called, task), look.n, len(look.levels)
    job.few = len(look.ids) if len(look.ids) < FEW_DIFFERENT else None
    if found == "classify" and len(look.levels) > 1:
        _tell_of_rare(look, called, job)
    if not look.several and len(look.levels) == 1:
        job.notes.append(f"{called} is {next(iter(look.levels))!r} in every row: the model says so for any row.")
    return found


def _look(block, look: Look, called: str) -> None:
    if len(block) == 0:
        return
    if block.y is None:
        raise ValueError("There is no target to learn: name one of the columns, or give an array.")
    y = np.asarray(block.y)
    if y.dtype.kind == "M":
        raise ValueError(f"{called} is a date. Learn a number made of it instead, such as the days from a fixed one.")
    if y.ndim == 2 and y.dtype.kind not in "fiub":
        raise ValueError(f"{called} has {y.shape[1]} columns: several targets are learned together if all are numbers.")
    if y.dtype.kind in "fiub":
        wild = ~np.isfinite(y.reshape(len(y), -1)).all(axis=1)
        if wild.any():
            row = int(np.flatnonzero(wild)[0])
            raise RowError(f"{called} is {y[row]} at ", row, ". Mend the value, or drop the row.")
        _refuse_extremes(y.reshape(len(y), -1), look, called)
    look.n += len(y)
    _count_rows(block, look)
    look.weight += _weight(block)
    look.several |= y.ndim == 2
    look.fractions |= y.dtype.kind == "f" and bool(np.any(y != np.rint(y)))
    if not look.several and not look.fractions:
        found, counts = np.unique(y, return_counts=True)
        for level, times in zip(found.tolist(), counts.tolist(), strict=True):
            look.levels[level] = (look.levels.get(level) or 0) + times
    elif len(look.levels) < 2:  # quantities: two of them are enough to know that they differ
        look.levels.update(dict.fromkeys(y.ravel()[[0, int(np.argmax(y.ravel() != y.ravel()[0]))]].tolist()))
    if isinstance(block.X, Columns):
        _refuse_infinity(block.X)


def _tell_of_rare(look: Look, called: str, job) -> None:
    rare = [level for level, times in look.levels.items() if times is not None and times < _RARE]
    if rare:
        shown = ", ".join(f"{level!r} ({look.levels[level]})" for level in rare[:5]) + ", ..." * (len(rare) > 5)
        job.notes.append(f"{called} has classes of fewer than {_RARE} rows, too few to be learned or judged: {shown}.")


def _count_rows(block, look: Look) -> None:
    for part in (slice(0, _GLANCE), slice(_GLANCE, None)):  # the rest is seldom needed
        if len(look.ids) < FEW_DIFFERENT:
            look.ids.update(block.rows(part).ids.tolist())


def _refuse_extremes(y: np.ndarray, look: Look, called: str) -> None:
    """Targets whose squares are no longer numbers. Very small ones are refused at the end, if all are so."""
    size = np.abs(y.astype(np.float64)).max(axis=1)
    look.largest = max(look.largest, float(size.max()))
    if look.largest > _HUGE:
        row = int(np.argmax(size))
        raise RowError(f"{called} is {size[row]:g} at ", row, ". Its square overflows: divide it by a power of ten.")


def _weight(block) -> float:
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
            wild = pc.is_inf(column)
            if pc.any(wild).as_py():
                row = pc.index(wild, True).as_py()
                raise RowError(
                    f"Column {name!r} contains infinity, first at ", row, ". Make it missing, or drop the row."
                )


def _is_number(text) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _task(look: Look, called: str, task: str | None) -> str:
    kinds = {type(level) for level in look.levels}
    words = bool(kinds & {str, bytes})
    if task == "regress" and words:
        shown = next((level for level in look.levels if not _is_number(level)), next(iter(look.levels)))
        raise ValueError(f"{called} holds {shown!r}, which is no number: use task='classify' to predict classes.")
    if task == "classify" and (look.fractions or look.several):
        raise ValueError(f"{called} is a quantity, with values between whole numbers: use task='regress'.")
    most = min(MOST_CLASSES, max(2, look.n // 2))  # numbers that do not repeat are no classes
    quantity = look.fractions or look.several or (not words and bool not in kinds and len(look.levels) > most)
    found = task or ("regress" if quantity else "classify")
    if found == "classify" and len(look.levels) > max(MOST_CLASSES, look.n // 2):
        raise ValueError(
            f"{called} has {len(look.levels)} different values in {look.n} rows: classes must repeat to be learned. "
            "Is another column the target? Text that should be a number can be read as one with "
            f"types={{{called.removeprefix('The target ')}: 'number'}}."
        )
    return found
