"""Errors that carry the parameter, the position in the data and the remedy as data.

The text of an error speaks to Python callers. A command line formats the same error with its own options instead:

>>> skip = Setting("on_bad_rows", "skip")
>>> error = DataError("Line 3 has 2 fields", ", not 4.", remedy=Message("Read with ", skip, "."), file="a.csv", line=3)
>>> str(error)
"Line 3 has 2 fields, not 4. Read with on_bad_rows='skip'."
>>> error.message.format_settings(lambda setting: f"--{setting.parameter.replace('_', '-')} {setting.values[0]}")
'Line 3 has 2 fields, not 4. Read with --on-bad-rows skip.'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self


class Setting:
    """A parameter as mentioned in a message, alone or with suggested values.

    >>> print(Setting("types"), Setting("header", True), Setting("encoding", "cp1252", "latin-1"))
    types header=True encoding='cp1252' or 'latin-1'
    >>> print(Setting("roles", key="age"), Setting("types", "text", key="age"), Setting("missing", "?", item=True))
    roles['age'] types={'age': 'text'} missing=[..., '?']
    """

    def __init__(self, parameter: str, *values: Any, key: str | None = None, item: bool = False):
        self.parameter = parameter
        self.values = values
        #: The key of an entry, where the parameter is a dict.
        self.key = key
        #: Whether the values are to be added to those of a list.
        self.item = item

    def __str__(self) -> str:
        if not self.values:
            return self.parameter if self.key is None else f"{self.parameter}[{self.key!r}]"
        values = " or ".join(map(repr, self.values))
        if self.key is not None:
            values = f"{{{self.key!r}: {values}}}"
        return f"{self.parameter}={f'[..., {values}]' if self.item else values}"


class Message(str):
    """A text with the parameters that it mentions; as a string it is what a Python caller reads."""

    parts: tuple[str | Setting, ...]

    def __new__(cls, *parts: str | Setting) -> Self:
        message = super().__new__(cls, "".join(map(str, parts)))
        flat = (part.parts if isinstance(part, Message) else (part,) for part in parts)
        message.parts = tuple(part for several in flat for part in several)
        return message

    def format_settings(self, write: Callable[[Setting], str]) -> str:
        """The text with every mentioned parameter as `write` gives it."""
        return "".join(write(part) if isinstance(part, Setting) else part for part in self.parts)


class MercerError(ValueError):
    """A refusal: what was wrong (`problem`), what to do (`remedy`), and the whole `message`."""

    parameter: str | None = None
    value: Any = None

    def __init__(self, *problem: str | Setting, remedy: str = ""):
        self.problem, self.remedy = Message(*problem), Message(remedy)
        self.message = Message(self.problem, " ", self.remedy) if remedy else self.problem
        super().__init__(str(self.message))

    def __reduce__(self) -> tuple:
        return _restored, (type(self), self.args, vars(self))


class ParameterError(MercerError):
    """A value that a parameter cannot take.

    >>> raise ParameterError("holdout", 2, "must be at least 0 and below 1", remedy="0 holds nothing out.")
    Traceback (most recent call last):
    mercer._runtime.errors.ParameterError: holdout must be at least 0 and below 1, not 2. 0 holds nothing out.
    """

    def __init__(self, parameter: str | Setting, value: Any, requirement: str, *, remedy: str = ""):
        named = Setting(parameter) if isinstance(parameter, str) else parameter
        super().__init__(named, f" {requirement}, not {value!r}.", remedy=remedy)
        self.parameter, self.value = named.parameter, value


class DataError(MercerError):
    """Data that cannot be used: `column` by name, `row` counted from 0, `file`, and `line` counted from 1, if known."""

    def __init__(
        self,
        *problem: str | Setting,
        remedy: str = "",
        parameter: str | None = None,
        value: Any = None,
        column: str | None = None,
        row: int | None = None,
        file: str | None = None,
        line: int | None = None,
    ):
        super().__init__(*problem, remedy=remedy)
        self.parameter, self.value = parameter, value
        self.column, self.row, self.file, self.line = column, row, file, line


class Location(NamedTuple):
    """The position of a row: its line in a text file (from 1), or its row in a table (from 0).

    >>> print(Location("a.csv", line=9), Location("a.parquet", row=7), Location(row=7), sep="; ")
    a.csv, line 9; a.parquet, row 7; row 7
    """

    file: str | None = None
    line: int | None = None
    row: int | None = None

    def __str__(self) -> str:
        within = f"row {self.row}" if self.line is None else f"line {self.line}"
        return within if self.file is None else f"{self.file}, {within}"


class RowError(DataError):
    """A value that cannot be used, with its row counted from 0 until `located` knows the file and line.

    >>> error = RowError("Infinity at ", 7, ": replace it.")
    >>> print(error, error.located(lambda row: Location("a.csv", line=row + 2)), sep="; ")
    Infinity at row 7: replace it.; Infinity at a.csv, line 9: replace it.
    """

    def __init__(self, before: str, row: int, *after: str | Setting, at: Location | None = None, **known: Any):
        self.at = Location(row=row) if at is None else at
        super().__init__(before, str(self.at), *after, row=row, file=self.at.file, line=self.at.line, **known)
        self.before, self.after, self.known = before, after, known

    def located(self, locate: Callable[[int], Location] | None, start: int = 0) -> RowError:
        """The error at the location of its row, unless that is known; `start` rows precede the block of the row."""
        row, at = self.row or 0, self.at
        if self.file is None:
            row += start
            at = Location(row=row) if locate is None else locate(row)
        return RowError(self.before, row, *self.after, at=at, **self.known)

    def renumbered(self, positions: Any) -> RowError:
        """The error with its row, one of a block, counted by the positions of these rows, unless it names a file."""
        if self.file is not None:
            return self
        return RowError(self.before, int(positions[self.row or 0]), *self.after, **self.known)


@contextmanager
def rows_at(positions: Any) -> Iterator[None]:
    """Count the rows of errors inside, which are those of a block, by the positions of its rows in the data."""
    try:
        yield
    except RowError as error:
        raise error.renumbered(positions) from error


def _restored(kind: type[MercerError], args: tuple, state: dict[str, Any]) -> MercerError:
    """An error as it was pickled, without its constructor."""
    error = kind.__new__(kind)
    error.args = args
    vars(error).update(state)
    return error
