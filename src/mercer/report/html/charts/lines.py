"""Curves: one with a band and the density of the data below, and several with markers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from mercer.report.html.charts.axes import Chart, Margins
from mercer.report.html.charts.histogram import draw_counts
from mercer.report.html.charts.scale import (
    BandScale,
    LinearScale,
    LogScale,
    Scale,
    as_numbers,
    date_ticks,
    linear_scale,
    thinned,
)

MAX_POINTS = 400
#: Height of the density below a curve, and the largest number of categories.
_STRIP, _MAX_CATEGORIES = 30.0, 16


@dataclass(frozen=True)
class Curve:
    """Points of a line, interrupted by None. `kind` is the CSS class, `shape` that of markers at the points, if any."""

    x: Sequence[float]
    y: Sequence[float | None]
    kind: str
    shape: str | None = None


def effect_chart(effect: dict[str, Any], range_: tuple[float, float], alt: str) -> Markup:
    """A curve with its band over numbers or dates, or points with bars of categories, and the density of the data."""
    kind, positions = as_numbers(effect["x"])
    if kind == "category":
        return _category_chart(effect, range_, alt)
    chart = Chart(300, 214, alt, Margins(left=44, right=10, top=8, bottom=22 + _STRIP))
    x = linear_scale(positions, chart.left + 2, chart.right - 2, pad=0.0)
    y = LinearScale(*range_, chart.bottom - 4, chart.top + 2)
    chart.y_axis(y, y.ticks(5))
    _draw_band(chart, effect, positions, x, y)
    top, chart.bottom = chart.bottom, chart.bottom + _STRIP
    draw_counts(chart, effect["density"], x, top + 3, chart.bottom)
    chart.x_axis(x, date_ticks(x) if kind == "date" else x.ticks(4))
    return chart.render()


def _draw_band(chart: Chart, effect: dict[str, Any], positions: list[float], x: Scale, y: LinearScale) -> None:
    shown = thinned(len(positions), MAX_POINTS // 3)
    upper = [(x(positions[i]), y(effect["high"][i])) for i in shown]
    lower = [(x(positions[i]), y(effect["low"][i])) for i in reversed(shown)]
    chart.path([*upper, *lower], "band", close=True)
    chart.path([(x(positions[i]), y(effect["mean"][i])) for i in shown], "curve")
    if len(shown) < 4:
        for i in shown:
            chart.marker(x(positions[i]), y(effect["mean"][i]), "circle", "mark model", 3)


def _category_chart(effect: dict[str, Any], range_: tuple[float, float], alt: str) -> Markup:
    """One row per category: its mean with the band, and a bar for its number of rows at the right."""
    n = min(len(effect["x"]), _MAX_CATEGORIES)
    height = max(184.0, 19.0 * n) + 30
    chart = Chart(300, height, alt, Margins(left=92, right=58, top=8, bottom=22))
    x, y = LinearScale(*range_, chart.left + 4, chart.right), BandScale(n, chart.top, chart.bottom)
    chart.x_axis(x, x.ticks(4), grid=True)
    counts = dict(zip(effect["density"].get("labels", []), effect["density"]["counts"], strict=False))
    most = max([*counts.values(), 1])
    for i in range(n):
        middle, rows = y(i), counts.get(effect["x"][i], 0)
        chart.text(chart.left - 8, middle + 4, effect["x"][i], "tick name", "end", 13)
        chart.line((x(effect["low"][i]), middle), (x(effect["high"][i]), middle), "interval model")
        chart.marker(x(effect["mean"][i]), middle, "circle", "mark model", 4)
        chart.rect(
            chart.right + 12, middle - 5, 44 * rows / most if rows == 0 else max(44 * rows / most, 1.0), 10, "density"
        )
    return chart.render()


def curve_chart(
    curves: Sequence[Curve],
    x: LinearScale | LogScale,
    titles: tuple[str, str],
    alt: str,
    chart: Chart | None = None,
    y: LinearScale | None = None,
) -> Markup:
    """Several curves in one frame."""
    chart = chart or Chart(460, 270, alt)
    y = y or linear_scale([value for curve in curves for value in curve.y], chart.bottom, chart.top)
    chart.y_axis(y, y.ticks(5), titles[1])
    chart.x_axis(x, x.ticks(6), titles[0])
    for curve in curves:
        draw_curve(chart, curve, x, y)
    return chart.render()


def draw_curve(chart: Chart, curve: Curve, x: Scale, y: Scale) -> None:
    """The parts of the curve between missing values."""
    part: list[tuple[float, float]] = []
    for i in thinned(len(curve.x), MAX_POINTS):
        value = curve.y[i]
        if value is None:
            chart.path(part, curve.kind)
            part = []
            continue
        part.append((x(curve.x[i]), y(value)))
        if curve.shape is not None:
            chart.marker(*part[-1], curve.shape, f"mark {curve.kind.split()[-1]}", 3.6)
    chart.path(part, curve.kind)
