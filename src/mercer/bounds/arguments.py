"""Validation of the arguments of bounds."""

from __future__ import annotations

from math import inf
from numbers import Integral, Real
from typing import Any


def check_accuracy(eps: Any) -> float:
    """An accuracy: a number above 0."""
    return _number("eps", eps, 0.0, inf, "the required accuracy, a number above 0")


def check_delta(delta: Any) -> float:
    """A probability of failure: a number strictly between 0 and 1."""
    return _number("delta", delta, 0.0, 1.0, "the probability of failure allowed, a number between 0 and 1")


def check_count(name: str, value: Any, minimum: int = 1) -> int:
    """A whole number; 1e5 counts as one, 10.5 and True do not."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not (isinstance(value, Integral) or float(value).is_integer()) or value < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}, got {value!r}.")
    return int(value)


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """One of the allowed words."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}.")
    return value


def _number(name: str, value: Any, low: float, high: float, meaning: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not low < float(value) < high:
        raise ValueError(f"{name} must be {meaning}, got {value!r}.")
    return float(value)
