"""Heat maps: the kernel's bandwidth and penalty, and predictions over two directions of the data."""

from __future__ import annotations

from functools import partial
from typing import Any

from markupsafe import Markup

from mercer.report.format import number, visible
from mercer.report.html.charts.axes import Chart, Margins
from mercer.report.html.charts.heatmap import MAX_CELLS, cell_ticks, color_bar, color_index, draw_cells, thinned_grid
from mercer.report.html.charts.scale import BandScale, LinearScale, extent, thinned

_SHAPES = ("circle", "triangle", "square", "diamond", "cross")
_MAX_POINTS = 400


def draw_kernel_map(kernel_map: dict[str, Any]) -> Markup:
    """Cross-validated loss by penalty and bandwidth; a ring marks the chosen pair."""
    loss, bandwidths, penalties = kernel_map["loss"], kernel_map["bandwidths"], kernel_map["penalties"]
    rows, columns = thinned(len(bandwidths), MAX_CELLS), thinned(len(penalties), MAX_CELLS)
    chosen, at = kernel_map["chosen"], (0.0, 0.0, 0.0)
    if len(chosen) == 2 and chosen[0] < len(bandwidths) and chosen[1] < len(penalties):
        at = (bandwidths[chosen[0]], penalties[chosen[1]], loss[chosen[0]][chosen[1]])
    names = [number(value, 3) for value in at]
    alt = f"Loss by bandwidth and penalty: {names[2]} at the chosen bandwidth {names[0]} and penalty {names[1]}."
    chart = Chart(460, 300, f"{alt} {kernel_map['sentence']}", Margins(left=52, right=48, top=34, bottom=42))
    x, y = BandScale(len(columns), chart.left, chart.right), BandScale(len(rows), chart.bottom, chart.top)
    # Beyond a multiple of the least loss all are equally bad: colors serve the region that matters.
    low, high = extent(value for row in loss for value in row)
    ends = (low, min(high, 3 * low if low > 0 else high))
    draw_cells(chart, thinned_grid(loss, rows, columns), x, y, ends, "q")
    color_bar(chart, ends, "q")
    chart.y_axis(y, cell_ticks([bandwidths[i] for i in rows], 8), "bandwidth")
    chart.x_axis(x, cell_ticks([penalties[j] for j in columns], 7), "penalty")
    if at != (0.0, 0.0, 0.0):
        _ring(chart, x(_nearest(columns, chosen[1])), y(_nearest(rows, chosen[0])))
    return chart.render()


def _nearest(indices: list[int], wanted: int) -> int:
    return min(range(len(indices)), key=lambda i: abs(indices[i] - wanted))


def _ring(chart: Chart, x: float, y: float) -> None:
    chart.marker(x, y, "circle", "ring halo", 8)
    chart.marker(x, y, "circle", "ring", 8)
    chart.marker(x, y, "circle", "ring dot", 2)


def boundary_labels(boundary: dict[str, Any]) -> list[tuple[str, str]]:
    """(marker, label) of the first five kinds of points, for the legend; numbers have the color of their value."""
    if boundary["output"] is None:
        return [("circle:mark value q4", "a held-out row, in the color of its target")]
    labels = list(dict.fromkeys(point["label"] for point in boundary["points"]))
    return [
        (f"{shape}:mark point{i}", visible(label, 40))
        for i, (shape, label) in enumerate(zip(_SHAPES, labels, strict=False))
    ]


def draw_boundary(boundary: dict[str, Any], rows: bool) -> Markup:
    """Predictions over two directions as colors, with rows of the data as points if `rows`."""
    grid_rows, columns = thinned(len(boundary["y"]), MAX_CELLS), thinned(len(boundary["x"]), MAX_CELLS)
    values = thinned_grid(boundary["values"], grid_rows, columns)
    probability = boundary["output"] is not None
    what = f"probability of {visible(boundary['output'], 40)}" if probability else "prediction"
    ends = (0.0, 1.0) if probability else extent(value for row in values for value in row)
    titles = visible(boundary["x_title"], 50), visible(boundary["y_title"], 50)
    alt = f"The {what} over {titles[0]} and {titles[1]}: from {number(ends[0], 3)} to {number(ends[1], 3)}."
    chart = Chart(460, 380, alt, Margins(left=48, right=44, top=42, bottom=42))
    _cells(chart, values, ends)
    x, y = _cell_scale(boundary["x"], chart.left, chart.right), _cell_scale(boundary["y"], chart.bottom, chart.top)
    color_bar(chart, ends, "q")
    chart.y_axis(y, y.ticks(6), grid=False)
    chart.text(2, 34, titles[1], "title", limit=50)
    if rows:
        draw = _points if probability else partial(_value_points, ends=ends)
        draw(chart, boundary["points"], x, y)
    chart.x_axis(x, x.ticks(6), titles[0])
    return chart.render()


def _cells(chart: Chart, values: list[list[float]], ends: tuple[float, float]) -> None:
    n_columns = len(values[0]) if values else 0
    x, y = BandScale(n_columns, chart.left, chart.right), BandScale(len(values), chart.bottom, chart.top)
    draw_cells(chart, values, x, y, ends, "q")


def _cell_scale(values: list[float], start: float, end: float) -> LinearScale:
    """The scale on which the cells of equal size have these values in their middle."""
    low, high = extent(values)
    half = (high - low) / max(2 * (len(values) - 1), 1)
    return LinearScale(low - half, high + half, start, end)


def _value_points(
    chart: Chart, points: list[dict[str, Any]], x: LinearScale, y: LinearScale, ends: tuple[float, float]
) -> None:
    """Points in the color of their target, on the scale of the predictions."""
    for i in thinned(len(points), _MAX_POINTS):
        point = points[i]
        if x.low <= point["x"] <= x.high and y.low <= point["y"] <= y.high:
            color = color_index(_as_number(point["label"], ends[0]), *ends)
            chart.marker(x(point["x"]), y(point["y"]), "circle", f"mark value q{color}", 3.4)


def _as_number(label: str, otherwise: float) -> float:
    try:
        return float(label)
    except ValueError:
        return otherwise


def _points(chart: Chart, points: list[dict[str, Any]], x: LinearScale, y: LinearScale) -> None:
    labels = list(dict.fromkeys(point["label"] for point in points))
    for i in thinned(len(points), _MAX_POINTS):
        point = points[i]
        at = labels.index(point["label"])
        if x.low <= point["x"] <= x.high and y.low <= point["y"] <= y.high and at < len(_SHAPES):
            chart.marker(x(point["x"]), y(point["y"]), _SHAPES[at], f"mark point{at}", 3)
