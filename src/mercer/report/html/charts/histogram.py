"""Histograms: bars between edges, bars of labels, and small ones for table cells."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from mercer.report.html.charts.axes import Chart
from mercer.report.html.charts.scale import LinearScale, as_numbers, date_ticks, linear_scale
from mercer.report.html.charts.svg import SvgCanvas, coordinate

_MAX_BARS = 100


def bars_between(histogram: dict[str, Any]) -> tuple[list[float], list[int]]:
    """Edges as numbers and counts; neighbors are pooled if there are more than 100 bars."""
    edges, counts = as_numbers(histogram["edges"])[1], list(histogram["counts"])
    while len(counts) > _MAX_BARS:
        last = edges[-1]
        edges, counts = edges[::2], [sum(counts[i : i + 2]) for i in range(0, len(counts), 2)]
        edges = edges if len(edges) > len(counts) else [*edges, last]
    return edges, counts


def draw_counts(chart: SvgCanvas, histogram: dict[str, Any], x: LinearScale, top: float, bottom: float) -> None:
    """Bars of the counts between two heights, as far as they are on the axis."""
    if len(histogram.get("edges", ())) < 2:
        return
    edges, counts = bars_between(histogram)
    y = LinearScale(0, max([*counts, 1]), bottom, top)
    for n, left, right in zip(counts, edges[:-1], edges[1:], strict=False):
        start, end = max(x(left), x.start), min(x(right), x.end)
        if n and end > start:
            chart.rect(start + 0.3, y(n), end - start - 0.6, bottom - y(n), "density")


def histogram_chart(histogram: dict[str, Any], title: str, alt: str, width: float = 460, height: float = 250) -> Markup:
    """A histogram with both axes."""
    chart = Chart(width, height, alt)
    edges, counts = bars_between(histogram)
    dates = as_numbers(histogram["edges"])[0] == "date"
    x = linear_scale(edges, chart.left, chart.right, pad=0.0)
    y = linear_scale(counts, chart.bottom, chart.top, zero=True)
    chart.y_axis(y, y.ticks(4), "rows")
    for n, left, right in zip(counts, edges[:-1], edges[1:], strict=False):
        chart.rect(x(left) + 0.4, y(n), x(right) - x(left) - 0.8, chart.bottom - y(n), "bar")
    if edges and edges[0] < 0 < edges[-1] and not dates:
        chart.line((x(0.0), chart.top), (x(0.0), chart.bottom), "reference")
    chart.x_axis(x, date_ticks(x) if dates else x.ticks(6), title)
    return chart.render()


def mini_histogram(histogram: dict[str, Any] | None) -> Markup:
    """A histogram of the size of a word, for a table cell; hidden from screen readers."""
    if not histogram or not histogram["counts"]:
        return Markup("")
    counts = bars_between(histogram)[1] if "edges" in histogram else histogram["counts"][:20]
    canvas, width, top = SvgCanvas(100, 26, ""), 100 / len(counts), max([*counts, 1])
    heights = [0.0 if n == 0 else max(24 * n / top, 0.7) for n in counts]
    bars = "".join(
        f"M{coordinate(i * width)} 25v-{coordinate(height)}h{coordinate(0.92 * width)}V25"
        for i, height in enumerate(heights)
        if height
    )
    canvas.add("path", d=bars or None, class_="density")
    canvas.line((0, 25.5), (100, 25.5), "axis")
    return Markup('<svg class="mini" viewBox="0 0 100 26" aria-hidden="true">{}</svg>').format(canvas.elements())
