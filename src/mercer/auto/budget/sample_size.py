"""Rows that a search can keep in memory, by what the first rows of the table become: columns, terms, classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mercer._runtime.errors import MercerError
from mercer._runtime.pool import n_threads
from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import Effort
from mercer.auto.budget.memory import (
    AMPLE,
    BYTES_PER_CLASS,
    bytes_of_outputs,
    bytes_of_reading,
    narrower,
    rows_alone,
    rows_in,
    usable,
)
from mercer.auto.budget.probe import first_rows
from mercer.auto.budget.progress import Steps
from mercer.auto.constants import MAX_TREE_CLASSES
from mercer.learn.targets import MAX_CLASSES
from mercer.source import MemorySource, Source
from mercer.tables import TableEncoder, guess_roles
from mercer.tables.roles import MAX_ONEHOT

#: Rows by which roles are guessed and encoders fitted to see what a row becomes, and rows whose terms are counted.
_MEASURED_ROWS, _COUNTED_ROWS = 4096, 512
#: Bytes of a row for each encoded column, and for each term of a sparse text.
_PER_COLUMN, _PER_TERM = 64, 72
#: Terms of a text column that no first rows need to be encoded for.
_FEW_TERMS = 200
#: Bytes of a weight of a class, with the directions that its minimizer keeps, and the fraction of memory for weights.
_PER_WEIGHT, _WEIGHTS = 400.0, 0.25
#: The fewest rows of a sample, however little memory there is.
_MIN_SAMPLE_ROWS = 100
#: Fraction of the time left that a pass for the roles of columns may take, and its time in units of that of reading.
_ROLES, _ROLES_READ = 0.25, 1.5
#: Fraction of memory for the scores of held-out rows, and bytes of a score: three models and the target, three copies.
_SCORES, _PER_SCORE = 0.1, 96


@dataclass(frozen=True)
class RowSize:
    """What a row of the table becomes: dense columns, and terms of texts."""

    columns: float
    terms: float = 0.0

    def bytes(self, n_classes: int) -> float:
        """About the bytes of a row in a search."""
        return _PER_COLUMN * self.columns + _PER_TERM * self.terms + _bytes_of_classes(n_classes)

    @classmethod
    def bound(cls, schema: dict[str, str]) -> RowSize:
        """As much as the kinds of the columns allow."""
        kinds = list(schema.values())
        n_text = kinds.count("text")
        return cls(len(kinds) + MAX_ONEHOT * n_text + 6 * kinds.count("date"), _FEW_TERMS * n_text)

    @classmethod
    def measured(cls, source: Source, roles: Any, seed: int) -> RowSize:
        """What the first rows become; the bound where they cannot be encoded by themselves.

        Numbers, dates and booleans need not be encoded to know it.
        """
        schema = source.schema or {}
        rows = first_rows(source, _MEASURED_ROWS)
        if schema and "text" not in schema.values():
            table = rows.X.table
            with_missing = sum(table[name].null_count > 0 for name in table.column_names)
            return cls(cls.bound(schema).columns + list(schema.values()).count("boolean") + with_missing)
        try:
            encoder = TableEncoder(roles=roles, random_state=seed).fit(rows)
            few = MemorySource.of(rows.read(0, min(_COUNTED_ROWS, rows.n_rows)))
            X = encoder.transform(few).collect().X
        except (MercerError, ValueError):  # as too few rows for a column may be
            return cls.bound(schema)
        return cls(0.0, X.nnz / max(X.shape[0], 1)) if hasattr(X, "nnz") else cls(X.shape[1])


def likely_roles(source: Source, roles: Any) -> Any:
    """The roles of the columns by the first few thousand rows, for what is measured on fewer.

    By a hundred rows, columns of many categories would be taken for text. Without text there is nothing to mistake.
    """
    if "text" not in (source.schema or {}).values():
        return roles
    try:
        return guess_roles(first_rows(source, _MEASURED_ROWS), roles)
    except ValueError:  # too few rows: encoding them will say so
        return roles


def features_of_classes(room: float, n_classes: int, effort: Effort) -> Effort:
    """The effort with no more features than have room for a weight of each class."""
    if n_classes <= MAX_TREE_CLASSES:
        return effort
    return narrower(effort, room, int(_WEIGHTS * room / (_PER_WEIGHT * n_classes)))


def held_out_rows(memory: float | None, n_classes: int) -> float:
    """Held-out rows whose scores fit into memory.

    >>> round(held_out_rows(4.0, 0)), round(held_out_rows(4.0, 10)), round(held_out_rows(4.0, 1000))
    (4166667, 416667, 6250)
    """
    if memory is None:
        return math.inf
    each = BYTES_PER_CLASS if n_classes > MAX_TREE_CLASSES else _PER_SCORE
    return _SCORES * memory * 1e9 / (each * max(n_classes, 1))


def search_rows(
    memory: float,
    source: Source,
    effort: Effort,
    n_classes: int,
    n_rows: float,
    roles: Callable[[], Any] = dict,
    seed: int = 0,
) -> tuple[float, Effort]:
    """The number of rows that fit into a number of gigabytes, and the effort with as many features as fit beside them.

    n_classes : 0 for regression
    n_rows : rows that a search would have
    roles : called for the roles of columns, where these matter
    """
    room = usable(memory, bytes_of_reading(source, n_threads()))
    schema = source.schema or {}
    most = rows_in(room, schema, effort, n_classes) if memory < AMPLE else rows_alone(memory, len(schema), effort)
    if n_rows > min(most, room / RowSize.bound(schema).bytes(n_classes)):
        most = min(most, room / max(RowSize.measured(source, roles(), seed).bytes(n_classes), 1.0))
    if memory < AMPLE or n_rows > most:
        effort = narrower(effort, room)
    return most, features_of_classes(room, n_classes, effort)


def fraction_of_rows(most: float, n_rows: int, train: float, memory: float) -> tuple[float, list[str]]:
    """The fraction of the rows in a search that fits `most` of them, and a note if it is not all.

    >>> fraction_of_rows(1000.0, 1200, 0.8, 4.0)
    (1.0, [])
    """
    if n_rows * train <= most or n_rows <= _MIN_SAMPLE_ROWS:
        return 1.0, []
    fraction = float(max(most, _MIN_SAMPLE_ROWS) / n_rows)
    note = (
        f"{n_rows:,} rows do not fit into {memory:g} GB of memory: the search used a random sample of about "
        f"{fraction * n_rows:,.0f} of them."
    )
    return fraction, [note]


def roles_beyond_sample(
    source: Source,
    roles: Any,
    sample_of: Callable[[float], Source],
    fraction: float,
    n_rows: float,
    steps: Steps,
    clock: Clock,
) -> Any:
    """The roles of the columns where the encoder will see a fraction of the rows: from all, or a few thousand of them.

    By a few hundred rows, columns of many categories would be taken for text, which costs far more time to encode.
    Roles are as given where that fraction is not so small, and there is no time for all rows.

    sample_of : a fraction -> as many rows, at random
    """
    if not source.schema:
        return roles
    if _ROLES_READ * steps.seconds_of({"read": 1.0}) > _ROLES * clock.left():
        in_memory = isinstance(source.origin()[0], MemorySource)
        if fraction * n_rows >= _MEASURED_ROWS or not in_memory or "text" not in source.schema.values():
            return roles
        source = sample_of(_MEASURED_ROWS / n_rows) if n_rows > _MEASURED_ROWS else source
    with steps("roles"):
        return guess_roles(source, roles)


def short_of_time(n_rows: int, most: float, budget: float, fraction: float) -> str:
    """A note that time is short, and how much of it would be enough for the fraction of rows that fit into memory.

    >>> print(short_of_time(1000, 500.0, 10.0, 1.0).split(". ")[1])
    About 20 s would be enough to search with all of them.
    """
    needed, rows = float(f"{budget * fraction * n_rows / most:.2g}"), "all" if fraction == 1 else "more"
    return (
        f"The time budget is short for {n_rows:,} rows: the search used a random sample of about {most:,.0f}. "
        f"About {needed:,.0f} s would be enough to search with {rows} of them."
    )


def many_scores(n_classes: int, fraction: float) -> str:
    """A note that a fraction of the holdout was evaluated."""
    what = f"The scores of {n_classes:,} classes" if n_classes > MAX_TREE_CLASSES else "The scores of all held-out rows"
    return f"{what} take much memory: about {fraction:.2%} of the holdout were evaluated."


def _bytes_of_classes(n_classes: int) -> float:
    """Few classes are part of the size of other things."""
    return float(bytes_of_outputs(n_classes)) if n_classes > MAX_CLASSES else 0.0
