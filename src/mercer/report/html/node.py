"""A value of a report with its path, as templates see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from mercer.report.format import MISSING, visible
from mercer.report.html.limits import Limits


class ReportNode:
    """A dict, list, text or number inside a report.

    Keys and indices lead to further nodes; a missing key leads to an empty one. A text that is written into a page is
    made visible, shortened and escaped. A number is not written without one of the filters, which add its path.
    """

    __slots__ = ("_limits", "_path", "_raw")

    def __init__(self, raw: Any, path: str = "", limits: Limits | None = None) -> None:
        self._raw, self._path, self._limits = raw, path, limits or Limits()

    def _child(self, key: Any, value: Any) -> ReportNode:
        return ReportNode(value, f"{self._path}.{key}" if self._path else str(key), self._limits)

    def __getattr__(self, key: str) -> ReportNode:
        if key.startswith("_"):
            raise AttributeError(key)
        return self[key]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return [self._child(i, self._raw[i]) for i in range(*key.indices(len(self._raw or ())))]
        if isinstance(self._raw, dict):
            return self._child(key, self._raw.get(key))
        return self._child(key, self._raw[key] if isinstance(self._raw, (list, tuple)) else None)

    def __iter__(self) -> Iterator[ReportNode]:
        return (self._child(i, each) for i, each in enumerate(self._raw or ()))

    def __len__(self) -> int:
        return len(self._raw or ())

    def __bool__(self) -> bool:
        return bool(self._raw)

    def __eq__(self, other: object) -> bool:
        return bool(self._raw == (raw(other) if isinstance(other, ReportNode) else other))

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return visible(self._raw, self._limits.name)

    def __html__(self) -> str:
        if isinstance(self._raw, (int, float)) and not isinstance(self._raw, bool):
            raise TypeError(f"The number {self._path} needs a filter.")
        return shown(self, self._limits.name)


def raw(node: ReportNode) -> Any:
    """The value itself."""
    return node._raw


def path(node: ReportNode) -> str:
    """The keys and indices that lead to the value, joined by points."""
    return node._path


def limits(node: ReportNode) -> Limits:
    """How much of texts and lists is shown."""
    return node._limits


def items(node: ReportNode) -> list[tuple[ReportNode, ReportNode]]:
    """(key, value) of a dict; keys are texts of unknown origin like any other."""
    pairs = (node._raw or {}).items()
    return [(ReportNode(str(key), node._path, node._limits), node._child(key, value)) for key, value in pairs]


def shown(node: ReportNode, limit: int) -> Markup:
    """The text of a node, isolated from the direction of the text around it; lines may break after underscores."""
    value = raw(node)
    words = MISSING if value is None else visible(value, limit)
    return Markup("<bdi>{}</bdi>").format(Markup("_<wbr>").join(words.split("_")))
