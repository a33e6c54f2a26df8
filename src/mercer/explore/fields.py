"""Fields of a state: each checks the value that a request gives and describes the control that edits it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

#: Coordinates of points beyond this have no place on the page.
MAX_COORDINATE = 1e4
MAX_POINTS = 600


class RequestError(ValueError):
    """A request that cannot be answered; the text names the field, the value and what is allowed."""


@dataclass(frozen=True)
class Field:
    """A named entry of the state; `only` restricts its control to states with one of the values of another field."""

    label: str
    default: Any = None
    help: str = ""
    only: tuple[str, tuple[str, ...]] | None = None

    kind = "field"

    def check(self, name: str, value: Any) -> Any:
        """Return the value, or raise a RequestError that names the field."""
        raise NotImplementedError

    def describe(self, name: str) -> dict[str, Any]:
        """Return the control as JSON."""
        return {"name": name, "kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class NumberField(Field):
    """A finite number in [low, high]; `log` asks for a slider on a logarithmic scale."""

    low: float = 0.0
    high: float = 1.0
    step: float = 0.01
    whole: bool = False
    log: bool = False

    kind = "number"

    def check(self, name: str, value: Any) -> float | int:
        number = finite(name, value)
        if not self.low <= number <= self.high or (self.whole and number != int(number)):
            what = "a whole number" if self.whole else "a number"
            raise RequestError(f"{name} must be {what} from {self.low:g} to {self.high:g}, not {value!r}.")
        return int(number) if self.whole else float(number)


@dataclass(frozen=True)
class ChoiceField(Field):
    """One of several names; `options` maps each to its label."""

    options: tuple[tuple[str, str], ...] = ()

    kind = "choice"

    def check(self, name: str, value: Any) -> str:
        allowed = [option for option, _ in self.options]
        if not isinstance(value, str) or value not in allowed:
            raise RequestError(f"{name} must be one of {', '.join(allowed)}, not {_shown(value)}.")
        return value


@dataclass(frozen=True)
class FlagField(Field):
    """True or false."""

    kind = "flag"

    def check(self, name: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise RequestError(f"{name} must be true or false, not {_shown(value)}.")
        return value


@dataclass(frozen=True)
class TextField(Field):
    """A short text."""

    max_length: int = 80

    kind = "text"

    def check(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or len(value) > self.max_length:
            raise RequestError(f"{name} must be a text of at most {self.max_length} characters.")
        return value


@dataclass(frozen=True)
class NumbersField(Field):
    """A list of at most `max_length` finite numbers, or null."""

    max_length: int = 16
    bound: float = 1e6

    kind = "numbers"

    def check(self, name: str, value: Any) -> tuple[float, ...] | None:
        if value is None:
            return None
        if not isinstance(value, list) or len(value) > self.max_length:
            raise RequestError(f"{name} must be null or a list of at most {self.max_length} numbers.")
        return tuple(finite(f"{name}[{i}]", each, self.bound) for i, each in enumerate(value))


@dataclass(frozen=True)
class PointsField(Field):
    """Rows of `width` finite numbers, or null; with `labeled` the last one is -1 or 1."""

    width: int = 3
    labeled: bool = True
    max_length: int = MAX_POINTS

    kind = "points"

    def check(self, name: str, value: Any) -> tuple[tuple[float, ...], ...] | None:
        if value is None:
            return None
        if not isinstance(value, list) or len(value) > self.max_length:
            raise RequestError(f"{name} must be null or a list of at most {self.max_length} rows.")
        return tuple(self._row(f"{name}[{i}]", row) for i, row in enumerate(value))

    def _row(self, name: str, row: Any) -> tuple[float, ...]:
        if not isinstance(row, list) or len(row) != self.width:
            raise RequestError(f"{name} must be a list of {self.width} numbers, not {_shown(row)}.")
        numbers = tuple(finite(name, each) for each in row)
        if self.labeled and numbers[-1] not in (-1.0, 1.0):
            raise RequestError(f"{name}: the label must be -1 or 1, not {_shown(row[-1])}.")
        return numbers


def finite(name: str, value: Any, bound: float = MAX_COORDINATE) -> float:
    """Return a finite number of at most `bound` in magnitude as a float, or raise a RequestError."""
    # A number of JSON with more digits than a float holds would overflow in the conversion.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= bound or not isfinite(value):
        raise RequestError(f"{name} must be a finite number of at most {bound:g} in magnitude, not {_shown(value)}.")
    return float(value)


def read_fields(fields: Mapping[str, Field], given: Any, where: str = "state") -> dict[str, Any]:
    """Return the checked value of every field; unknown names are refused, absent ones take their defaults."""
    if not isinstance(given, dict):
        raise RequestError(f"{where} must be an object, not {_shown(given)}.")
    unknown = [name for name in given if name not in fields]
    if unknown:
        raise RequestError(f"{where} has no field {_shown(unknown[0])}. It has {', '.join(fields)}.")
    return {name: field.check(name, given[name]) if name in given else field.default for name, field in fields.items()}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
