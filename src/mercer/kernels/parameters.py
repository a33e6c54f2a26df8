"""Constraints on parameters, stated as data, and the function that checks them."""

from math import inf, isfinite, isnan
from numbers import Integral, Real
from typing import Any, NamedTuple


class Need(NamedTuple):
    """A number in a range, or one of the given words."""

    low: float = 0.0
    low_included: bool = False
    high: float = inf
    whole: bool = False
    infinite: bool = False
    words: tuple[str, ...] = ()

    def met_by(self, value: Any) -> bool:
        """Whether the value is such a number or word."""
        if isinstance(value, str):
            return value in self.words
        if isinstance(value, bool) or not isinstance(value, Integral if self.whole else Real):
            return False
        number = float(value)
        if isnan(number) or not (self.infinite or isfinite(number)):
            return False
        return number <= self.high and (number > self.low or (self.low_included and number == self.low))

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        parts = [f"{kind} {'>=' if self.low_included else '>'} {self.low:g}"]
        if self.high < inf:
            parts[0] += f" and <= {self.high:g}"
        return " or ".join(parts + [repr(word) for word in self.words])


class OneOf(NamedTuple):
    """One of the listed values."""

    values: tuple[Any, ...]

    def met_by(self, value: Any) -> bool:
        """Whether the value is listed."""
        return any(type(value) is type(option) and value == option for option in self.values)

    def __str__(self) -> str:
        return " or ".join(repr(value) for value in self.values)


#: The type of a bandwidth: a positive number, or "median" until `resolve` has seen data.
Bandwidth = Any

BANDWIDTH = Need(words=("median",))
POSITIVE = Need()
NON_NEGATIVE = Need(low_included=True)
WHOLE = Need(low_included=True, whole=True)
FLAG = OneOf((False, True))


def check_parameters(owner: Any, needs: dict[str, Any]) -> None:
    """Raise if a parameter of the owner violates its constraint."""
    for name, need in needs.items():
        value = getattr(owner, name)
        if not need.met_by(value):
            raise ValueError(f"{type(owner).__name__}: {name} must be {need}, got {value!r}")
