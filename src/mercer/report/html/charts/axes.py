"""The frame of a chart: plot area, grid lines, tick labels and titles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from mercer.report.html.charts.scale import BandScale, Scale, Ticks
from mercer.report.html.charts.svg import SvgCanvas


@dataclass(frozen=True)
class Margins:
    left: float = 44
    right: float = 14
    top: float = 26
    bottom: float = 40


class Chart(SvgCanvas):
    """A canvas with a plot area and two scales, set by `axes`."""

    def __init__(self, width: float, height: float, alt: str, margins: Margins | None = None) -> None:
        super().__init__(width, height, alt)
        margins = margins or Margins()
        self.left, self.right = margins.left, width - margins.right
        self.top, self.bottom = margins.top, height - margins.bottom

    def x_axis(self, scale: Scale, ticks: Ticks, title: str = "", grid: bool = False) -> None:
        """Tick labels below the plot area; labels that would overlap are left out."""
        free = -1e9
        for value, label in ticks:
            x = scale(value)
            if grid:
                self.line((x, self.top), (x, self.bottom), "grid")
            half = 3.4 * len(label)
            middle = min(max(x, half + 1), self.width - half - 1)
            if middle - half > free:
                self.text(middle, self.bottom + 15, label, "tick", "middle", 60)
                free = middle + half + 4
        self.line((self.left, self.bottom), (self.right, self.bottom), "axis")
        if title:
            self.text((self.left + self.right) / 2, self.bottom + 32, title, "title", "middle", 52)

    def y_axis(self, scale: Scale, ticks: Ticks, title: str = "", grid: bool = True) -> None:
        """Tick labels left of the plot area, grid lines, and the title above."""
        for value, label in ticks:
            y = scale(value)
            if grid and not isinstance(scale, BandScale):
                self.line((self.left, y), (self.right, y), "grid")
            self.text(self.left - 6, y + 4, label, "tick", "end", 60)
        if title:
            self.text(2, 13, title, "title", "start", 60)

    def zero_line(self, scale: Any, value: float = 0.0) -> None:
        """A horizontal reference line."""
        y = scale(value)
        if self.top <= y <= self.bottom:
            self.line((self.left, y), (self.right, y), "reference")


def legend(entries: list[tuple[str, str]]) -> Markup:
    """Keys of a chart: (class of the mark, words), as HTML below the picture."""
    items = Markup("").join(
        Markup('<li><svg class="key" viewBox="0 0 18 10" aria-hidden="true">{}</svg>{}</li>').format(_key(kind), words)
        for kind, words in entries
    )
    return Markup('<ul class="legend">{}</ul>').format(items)


def _key(kind: str) -> Markup:
    shape, _, mark = kind.partition(":")
    canvas = SvgCanvas(18, 10, "")
    if shape == "line":
        canvas.line((0, 5), (18, 5), mark)
    elif shape == "area":
        canvas.rect(0, 1, 18, 8, mark)
    else:
        canvas.marker(9, 5, shape, mark, 3.6)
    return canvas.elements()
