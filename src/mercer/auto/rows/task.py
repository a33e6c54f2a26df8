"""One pass over the target before anything is fitted: which task it is, and whether there is something to learn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mercer._runtime.errors import DataError, Message, ParameterError, Setting
from mercer.auto.rows.target_counts import FEW_DISTINCT, TargetCounts
from mercer.auto.rows.weights import refuse_extreme_weight
from mercer.learn.targets import MAX_CLASSES
from mercer.source import Source

#: Names of tasks that are accepted, and what they are called.
TASKS = {
    "classification": "classification",
    "regression": "regression",
    "classify": "classification",
    "regress": "regression",
}
#: Targets whose squares vanish.
_TINY = 1e-120
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


def checked_task(task: str | None) -> str | None:
    """The name of a task, None to infer it from the target."""
    if task is not None and task not in TASKS:
        raise ParameterError("task", task, "must be 'classification' or 'regression'")
    return None if task is None else TASKS[task]


def profile_target(
    source: Source, task: str | None = None, max_classes: int | None = None, loss: str = "squared"
) -> TargetProfile:
    """Profile the target of a source; ValueError says why a task cannot be used.

    None takes strings, booleans and integers of at most 20 distinct values that repeat for classes. More than
    `max_classes` classes are refused; by default, 100 of numbers and 1000 of others.
    """
    task, name = checked_task(task), source.target
    called = "The target" if name is None else f"The target {name!r}"
    counts = source.fold(TargetCounts(called, loss))
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


def _notes(counts: TargetCounts, called: str, task: str) -> list[str]:
    """Notes on rare classes and on a constant target."""
    notes = []
    rare = [value for value, times in counts.values.items() if times is not None and times < _RARE]
    if task == "classification" and len(counts.values) > 1 and rare:
        shown = ", ".join(f"{value!r} ({counts.values[value]})" for value in rare[:5]) + ", ..." * (len(rare) > 5)
        notes.append(f"{called} has classes of fewer than {_RARE} rows, too few to learn or to evaluate: {shown}.")
    if not counts.several and len(counts.values) == 1:
        notes.append(f"{called} is {next(iter(counts.values))!r} in every row: the model predicts it for any row.")
    alike = _alike(counts.values) if task == "classification" else []
    if alike:
        shown = ", ".join(" and ".join(map(repr, group)) for group in alike[:5]) + ", ..." * (len(alike) > 5)
        notes.append(
            f"{called} has classes that differ only in blanks or case, which are learned as different ones: {shown}. "
            "Write each class in one way if that is a mistake."
        )
    return notes


def _alike(values: Iterable[Any]) -> list[list[str]]:
    """The texts that differ only in blanks or case, in groups.

    >>> _alike(["yes", "no", "Yes ", "a b", "AB", 1])
    [['Yes ', 'yes'], ['AB', 'a b']]
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for value in values:
        if isinstance(value, str):
            groups["".join(value.split()).casefold()].append(value)
    return [sorted(group) for group in groups.values() if len(group) > 1]


def _is_number(text: Any) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refuse_many_classes(counts: TargetCounts, called: str, max_classes: int | None) -> None:
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


def _task(counts: TargetCounts, called: str, task: str | None, name: str | None) -> str:
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
