"""Bars: with error bars for many names, and single bars inside table cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from mercer.report.html.charts.axes import Chart, Margins
from mercer.report.html.charts.scale import BandScale, linear_scale
from mercer.report.html.charts.svg import SvgCanvas


@dataclass(frozen=True)
class Bar:
    """A named length with an optional error bar."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


def bar_chart(bars: Sequence[Bar], title: str, alt: str, width: float = 460) -> Markup:
    """Horizontal bars from zero, one row each, with error bars."""
    row, left = 24.0, min(150.0, 16 + 6.6 * max((min(len(bar.name), 21) for bar in bars), default=1))
    chart = Chart(width, row * len(bars) + 56, alt, Margins(left=left, right=16, top=10, bottom=46))
    ends = [end for bar in bars for end in (bar.value, bar.low, bar.high)]
    x = linear_scale(ends, chart.left, chart.right, zero=True)
    y = BandScale(len(bars), chart.top, chart.bottom)
    chart.x_axis(x, x.ticks(5), title, grid=True)
    for i, bar in enumerate(bars):
        middle, start = y(i), min(x(0.0), x(bar.value))
        chart.text(chart.left - 8, middle + 4, bar.name, "tick name", "end", 21)
        chart.rect(start, middle - 7, abs(x(bar.value) - x(0.0)), 14, "bar")
        if bar.low is not None and bar.high is not None:
            _error_bar(chart, x(bar.low), x(bar.high), middle)
    chart.line((x(0.0), chart.top), (x(0.0), chart.bottom), "axis")
    return chart.render()


def _error_bar(chart: Chart, low: float, high: float, y: float) -> None:
    chart.line((low, y), (high, y), "error")
    for end in (low, high):
        chart.line((end, y - 4), (end, y + 4), "error")


def cell_bar(value: float, low: float, high: float, kind: str = "bar") -> Markup:
    """A bar from zero on a scale from low to high, to stand beside a number in a table; hidden from screen readers."""
    low, high = min(low, 0.0), max(high, 0.0)
    size = 120 / (high - low) if high > low else 0.0
    canvas = SvgCanvas(120, 12, "")
    canvas.rect(size * (min(value, 0.0) - low), 1, size * abs(value), 10, kind)
    canvas.line((-size * low, 0), (-size * low, 12), "axis")
    return Markup('<svg class="cellbar" viewBox="0 0 120 12" aria-hidden="true">{}</svg>').format(canvas.elements())


def running_bar(start: float, end: float, low: float, high: float) -> Markup:
    """One step of a waterfall: a bar from start to end on a scale from low to high, with a line at the end reached."""
    size = 150 / (high - low) if high > low else 0.0
    canvas = SvgCanvas(150, 16, "")
    left, right = size * (min(start, end) - low), size * (max(start, end) - low)
    canvas.rect(left, 3, max(right - left, 1.0), 10, "bar rise" if end >= start else "bar fall")
    canvas.line((size * (end - low), 0), (size * (end - low), 16), "axis")
    return Markup('<svg class="cellbar" viewBox="0 0 150 16" aria-hidden="true">{}</svg>').format(canvas.elements())
