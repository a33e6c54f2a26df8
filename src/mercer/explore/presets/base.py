"""A preset: a named state with two sentences of what to try."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Preset:
    """A picture or question of the notes: where it is, what to try, and the state that shows it."""

    name: str
    group: str
    title: str
    note: str
    text: str
    topic: str = "plane"
    state: dict[str, Any] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """Return the preset as JSON."""
        return asdict(self)


def gaussian(bandwidth: float) -> list[dict[str, Any]]:
    """Return a Gaussian kernel as the value of a field."""
    return [{"name": "Gaussian", "bandwidth": bandwidth}]


def polynomial(degree: int, offset: float = 1.0) -> list[dict[str, Any]]:
    """Return a polynomial kernel as the value of a field."""
    return [{"name": "Polynomial", "degree": degree, "offset": offset}]
