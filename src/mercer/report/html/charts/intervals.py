"""Interval plot: estimates with their intervals on one axis, one row each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from mercer.report.html.charts.axes import Chart, Margins
from mercer.report.html.charts.scale import BandScale, linear_scale

_SHAPES = ("circle", "square", "diamond")


@dataclass(frozen=True)
class IntervalRow:
    """A named estimate; `kind` is the CSS class of its color."""

    name: str
    value: float
    low: float | None
    high: float | None
    kind: str
    text: str


def interval_plot(rows: Sequence[IntervalRow], title: str, alt: str, width: float = 460) -> Markup:
    """Names above their intervals, values at the right end, markers of different shapes."""
    row = 46.0
    chart = Chart(width, row * len(rows) + 52, alt, Margins(left=12, right=12, top=6, bottom=44))
    ends = [end for each in rows for end in (each.value, each.low, each.high)]
    x = linear_scale(ends, chart.left + 6, chart.right - 6, pad=0.03)
    y = BandScale(len(rows), chart.top, chart.bottom)
    chart.x_axis(x, x.ticks(6), title, grid=True)
    for i, each in enumerate(rows):
        base, middle = y(i) - 8, y(i) + 9
        chart.text(chart.left, base, each.name, "label strong" if i == 0 else "label", "start", 36)
        chart.text(chart.right, base, each.text, "label value", "end", 30)
        if each.low is not None and each.high is not None:
            chart.line((x(each.low), middle), (x(each.high), middle), f"interval {each.kind}")
        chart.marker(x(each.value), middle, _SHAPES[i % 3], f"mark {each.kind}", 5.5)
    return chart.render()
