"""Importances, effects and interactions of columns."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from mercer.report.format import interval, metric_title, number, visible
from mercer.report.html.charts.axes import Chart, Margins
from mercer.report.html.charts.bars import Bar, bar_chart
from mercer.report.html.charts.heatmap import MAX_CELLS, cell_ticks, color_bar, color_index, draw_cells, thinned_grid
from mercer.report.html.charts.lines import effect_chart
from mercer.report.html.charts.scale import BandScale, as_numbers, extent, thinned


def draw_importances(importances: dict[str, Any], most: int) -> Markup:
    """Increase of the loss when a column is shuffled, with error bars."""
    columns = importances["columns"][:most]
    bars = [
        Bar(each["column"], each["increase"]["value"], each["increase"]["low"], each["increase"]["high"])
        for each in columns
    ]
    metric = metric_title(importances["metric"])
    alt = f"Increase of the {metric} when a column is shuffled."
    if columns:
        first = columns[0]
        alt += f" {visible(first['column'], 60)} matters most: {interval(first['increase'])}."
    return bar_chart(bars, f"increase of the {metric} when shuffled", alt)


def effect_ranges(effects: list[dict[str, Any]]) -> dict[str, tuple[float, float]]:
    """The range of the vertical axis, common to all effects on one output: {output: (low, high)}."""
    ends: dict[str, list[float]] = {}
    for effect in effects:
        ends.setdefault(str(effect["output"]), []).extend([*effect["low"], *effect["high"], *effect["mean"]])
    return {output: _with_room(*extent(values)) for output, values in ends.items()}


def _with_room(low: float, high: float) -> tuple[float, float]:
    return low - 0.03 * (high - low), high + 0.03 * (high - low)


def effect_finding(effect: dict[str, Any]) -> dict[str, Any]:
    """What the curve shows: a verb, and the indices of the two values that it links.

    A curve rises or falls if its ends differ by most of its range; else its smallest and largest values are given.
    """
    mean = effect["mean"]
    if not mean:
        return {"kind": "empty", "first": 0, "second": 0}
    low, high = min(range(len(mean)), key=mean.__getitem__), max(range(len(mean)), key=mean.__getitem__)
    height = mean[high] - mean[low]
    if as_numbers(effect["x"])[0] != "category" and height > 0 and abs(mean[-1] - mean[0]) >= 0.8 * height:
        return {"kind": "rises" if mean[-1] > mean[0] else "falls", "first": 0, "second": len(mean) - 1}
    return {"kind": "varies" if height > 0 else "constant", "first": low, "second": high}


def draw_effect(effect: dict[str, Any], range_: tuple[float, float]) -> Markup:
    """The effect curve of a column with the density of the data."""
    finding = effect_finding(effect)
    column = visible(effect["column"], 60)
    what = "the prediction" if effect["output"] is None else f"the probability of {visible(effect['output'], 60)}"
    if finding["kind"] == "empty":
        return Markup("")
    first, second = finding["first"], finding["second"]
    ends = [number(effect["mean"][i], 3) for i in (first, second)]
    at = [shown_value(effect["x"][i]) for i in (first, second)]
    words = {
        "rises": f"{what} rises from {ends[0]} to {ends[1]} as {column} grows from {at[0]} to {at[1]}.",
        "falls": f"{what} falls from {ends[0]} to {ends[1]} as {column} grows from {at[0]} to {at[1]}.",
        "varies": f"{what} is lowest, {ends[0]}, at {column} {at[0]} and highest, {ends[1]}, at {at[1]}.",
        "constant": f"{what} does not change with {column}.",
    }[finding["kind"]]
    return effect_chart(effect, range_, words[0].upper() + words[1:])


def shown_value(value: Any) -> str:
    """A number with three digits, or a text."""
    return number(value, 3) if isinstance(value, (int, float)) else visible(value, 40)


def draw_interaction(interaction: dict[str, Any]) -> Markup:
    """The remainder on the grid of two columns; signs mark the cells beyond half of the largest remainder."""
    first, second = (visible(name, 40) for name in interaction["columns"][:2])
    rows, columns = thinned(len(interaction["y"]), MAX_CELLS), thinned(len(interaction["x"]), MAX_CELLS)
    values = thinned_grid(interaction["remainder"], rows, columns)
    size = max((abs(value) for row in values for value in row), default=0.0) or 1.0
    alt = (
        f"{first} and {second} act together: beyond their separate effects the prediction changes by between "
        f"{number(min(map(min, values), default=0.0), 3)} and {number(max(map(max, values), default=0.0), 3)}."
    )
    chart = Chart(460, 340, alt, Margins(left=76, right=44, top=42, bottom=42))
    x, y = BandScale(len(columns), chart.left, chart.right), BandScale(len(rows), chart.bottom, chart.top)
    draw_cells(chart, values, x, y, (-size, size), "d")
    _draw_signs(chart, values, x, y, size)
    color_bar(chart, (-size, size), "d")
    chart.text(2, 34, second, "title", limit=44)
    chart.y_axis(y, cell_ticks([interaction["y"][i] for i in rows], 8, 11))
    chart.x_axis(x, cell_ticks([interaction["x"][j] for j in columns], 8), first)
    return chart.render()


def _draw_signs(chart: Chart, values: list[list[float]], x: BandScale, y: BandScale, size: float) -> None:
    """+ and - in the cells with the strongest colors, for readers who do not distinguish these."""
    if x.band < 9 or abs(y.band) < 9:
        return
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            strength = color_index(value, -size, size) - 4
            if abs(strength) >= 3:
                chart.text(x(j), y(i) + 4, "+" if strength > 0 else "−", "sign", "middle")
