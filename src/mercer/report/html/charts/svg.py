"""A canvas that collects SVG elements. Every text and attribute is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup, escape

from mercer.report.format import visible

Point = tuple[float, float]


def coordinate(value: float) -> str:
    """A length in pixels with at most one decimal."""
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


class SvgCanvas:
    """Elements of one picture; `alt` states its finding for people who do not see it."""

    def __init__(self, width: float, height: float, alt: str, kind: str = "chart") -> None:
        self.width, self.height, self.alt, self.kind = width, height, alt, kind
        self._parts: list[str] = []

    def add(self, tag: str, content: Any = None, **attributes: Any) -> None:
        """Add an element; `class_` and `text_anchor` stand for the attributes class and text-anchor."""
        self._parts.append(self._element(tag, content, attributes))

    def _element(self, tag: str, content: Any, attributes: dict[str, Any]) -> str:
        written = "".join(
            f' {name.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
            for name, value in attributes.items()
            if value is not None
        )
        return f"<{tag}{written}/>" if content is None else f"<{tag}{written}>{escape(content)}</{tag}>"

    def text(
        self, x: float, y: float, content: Any, kind: str = "label", anchor: str = "start", limit: int = 40
    ) -> None:
        """A line of text, shortened to `limit` characters."""
        self.add(
            "text", visible(content, limit), x=x, y=y, class_=kind, text_anchor=None if anchor == "start" else anchor
        )

    def line(self, start: Point, end: Point, kind: str) -> None:
        self.add("line", x1=start[0], y1=start[1], x2=end[0], y2=end[1], class_=kind)

    def rect(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        self.add("rect", x=x, y=y, width=max(width, 0.0), height=max(height, 0.0), class_=kind)

    def path(self, points: Iterable[Point], kind: str, close: bool = False) -> None:
        """A polyline through the points; nothing for fewer than two."""
        corners = [f"{coordinate(x)} {coordinate(y)}" for x, y in points]
        if len(corners) > 1:
            self.add("path", d=f"M{'L'.join(corners)}{'Z' if close else ''}", class_=kind)

    def marker(self, x: float, y: float, shape: str, kind: str, size: float = 4, title: str | None = None) -> None:
        """A point drawn as circle, square, triangle, diamond or cross, with a tooltip."""
        content = None if title is None else Markup("<title>{}</title>").format(visible(title, 120))
        if shape == "circle":
            self.add("circle", content, cx=x, cy=y, r=size, class_=kind)
        else:
            self.add("path", content, d=_marker_path(x, y, size, shape), class_=kind)

    def dots(self, points: Sequence[Point], kind: str, radius: float = 2.2) -> None:
        """Many equal points as one element: zero-length strokes with round ends."""
        if points:
            path = "".join(f"M{coordinate(x)} {coordinate(y)}h0" for x, y in points)
            self.add("path", d=path, class_=f"dots {kind}", stroke_width=2 * radius)

    def elements(self) -> Markup:
        """The elements without the enclosing svg element."""
        return Markup("".join(self._parts))

    def render(self) -> Markup:
        """The whole picture."""
        size = f"{coordinate(self.width)} {coordinate(self.height)}"
        head = Markup('<svg class="{}" viewBox="0 0 {}" role="img" aria-label="{}">')
        return head.format(self.kind, size, visible(self.alt, 600)) + self.elements() + Markup("</svg>")


def _attribute(value: Any) -> str:
    return coordinate(value) if isinstance(value, (int, float)) else str(escape(value))


_SHAPES = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "triangle": ((0, -1.2), (1.15, 0.85), (-1.15, 0.85)),
    "diamond": ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
}


def _marker_path(x: float, y: float, size: float, shape: str) -> str:
    if shape == "cross":
        low, high = -size, size
        lines = (((low, low), (high, high)), ((low, high), (high, low)))
        return "".join(f"M{_shifted(x, y, a)}L{_shifted(x, y, b)}" for a, b in lines)
    return f"M{'L'.join(_shifted(x, y, (size * a, size * b)) for a, b in _SHAPES[shape])}Z"


def _shifted(x: float, y: float, by: Point) -> str:
    return f"{coordinate(x + by[0])} {coordinate(y + by[1])}"
