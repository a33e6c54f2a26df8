"""The groups and times of rows: columns of the table, or one value per row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._runtime.errors import DataError, MercerError, ParameterError, RowError, Setting
from mercer.auto.options import Splitting
from mercer.io.columns import require_column
from mercer.source import Columns, Source
from mercer.source.arrow import keys_of
from mercer.source.base import MappedSource
from mercer.source.missing import is_missing
from mercer.source.table import table_in_memory


@dataclass(frozen=True)
class KeyValues:
    """The values of an option `groups` or `time`: a column by its name, or the values of all rows in order."""

    option: str
    name: str | None
    values: Columns | None

    @classmethod
    def of(cls, option: str, given: Any, source: Source) -> KeyValues | None:
        """Check the option against the rows; None if it was not given."""
        if given is None:
            return None
        if isinstance(given, str):
            known = list(source.schema or source.names or ())
            if given == source.target:
                problem = (f"{given!r} cannot be the target and ", Setting(option), " at once.")
                raise DataError(*problem, parameter=option, column=given)
            require_column(given, known, option, "The table")
            return cls(option, given, None)
        values = Columns.of({option: given if hasattr(given, "to_numpy") else np.asarray(given)})
        if source.n_rows is not None and len(values) != source.n_rows:
            needed = f"must have one value for each of the {source.n_rows:,} rows"
            raise ParameterError(option, f"{len(values):,} values", needed)
        return cls(option, None, values)

    def column(self, block: Block) -> Any:
        """The values of the rows of a block, as a column of pyarrow; missing ones are refused."""
        if self.name is not None:
            found = block.X.table[self.name]
        elif self.values is not None:
            found = self.values[block.positions].table[self.option]
        values = Columns(_one(self.option, found)).array(self.option)
        missing = is_missing(values)
        if np.any(missing):
            row = int(np.flatnonzero(missing)[0])
            where = f"The column {self.name!r} of" if self.name is not None else "A value of"
            after = ". It decides on the side of the row in every split: fill it in, or leave such rows out."
            raise RowError(f"{where} {self.option} is missing in ", row, after, column=self.name)
        return found

    def groups(self, block: Block) -> np.ndarray:
        """A 64-bit key of each group."""
        return keys_of(self.column(block), 0)

    def times(self, block: Block) -> np.ndarray:
        """The time of each row as a number: of dates, microseconds since 1970."""
        table = Columns(_one(self.option, self.column(block)))
        if table.schema[self.option] not in ("date", "number", "integer"):
            named = f"The column {self.name!r}" if self.name is not None else "What is"
            kind = table.schema[self.option]
            problem = (f"{named} given as ", Setting(self.option), f" holds {kind}, which has no order in time:")
            raise DataError(*problem, remedy="give dates or numbers.", parameter=self.option, column=self.name)
        values = table.array(self.option)
        if values.dtype.kind == "M":
            values = values.astype("datetime64[us]").astype(np.int64)
        return values.astype(np.float64)

    def holds_dates(self, source: Source) -> bool:
        """Whether times are dates."""
        if self.name is not None:
            return (source.schema or {}).get(self.name) == "date"
        return self.values is not None and self.values.schema[self.option] == "date"


def _one(name: str, column: Any) -> Any:
    import pyarrow as pa

    return pa.table({name: column})


class TableView(MappedSource):
    """A source of tables seen through a function, with the description of the source but for dropped columns."""

    def __init__(self, parent: Source, function: Callable[[Block], Block], dropped: Sequence[str] = ()):
        super().__init__(parent, function)
        schema = None if parent.schema is None else {k: v for k, v in parent.schema.items() if k not in dropped}
        self.schema, self.target, self.notes = schema, parent.target, parent.notes
        self.names = None if parent.names is None else [name for name in parent.names if name not in dropped]
        self.dialect, self.bounds = parent.dialect, parent.bounds


def with_key_columns(table: Columns, splitting: Splitting) -> tuple[Columns, Splitting]:
    """A table that also has the values of groups and times that were given as arrays, and the options by name.

    So these stay with their rows when rows are sorted or repeated.
    """
    for option in ("groups", "time"):
        given = getattr(splitting, option)
        if given is None or isinstance(given, str):
            continue
        values = KeyValues.of(option, given, table_in_memory(table)).values  # type: ignore[union-attr]
        table, name = with_column(table, option, values.table[option])  # type: ignore[union-attr]
        splitting = replace(splitting, **{option: name})
    return table, splitting


def with_column(table: Columns, name: str, values: Any) -> tuple[Columns, str]:
    """A table with one more column, and the name it was given."""
    while name in table.columns:
        name += "_"
    return Columns(table.table.append_column(name, values)), name


def located(source: Source | None, block: Block, function: Callable[[], Any]) -> Any:
    """function(), whose errors name the file and line of a row."""
    try:
        return function()
    except RowError as error:
        raise error.located(None if source is None else source.locate, block.start) from error


def refuse_no_columns(schema: dict[str, str] | None, dropped: list[str]) -> None:
    """Refuse a table without another column than those of target, groups and time."""
    if schema is not None and not schema and dropped:
        raise MercerError(
            f"There is no column beside the target and {', '.join(map(repr, dropped))}: nothing to learn from.",
            remedy="Give a column a role to use it as a feature as well.",
        )
