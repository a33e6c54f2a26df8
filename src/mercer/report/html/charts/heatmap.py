"""Heat maps: values on a grid in nine colors, sequential or diverging from zero, with a color bar."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from mercer.report.html.charts.axes import Chart
from mercer.report.html.charts.scale import BandScale, as_numbers, band_ticks, tick_label
from mercer.report.html.charts.svg import SvgCanvas, coordinate

N_COLORS = 9
MAX_CELLS = 48


def color_index(value: float, low: float, high: float) -> int:
    """The index 0 to 8 of the color of a value between low and high."""
    if not high > low:
        return N_COLORS // 2
    return min(N_COLORS - 1, max(0, int(N_COLORS * (value - low) / (high - low))))


def draw_cells(
    chart: SvgCanvas,
    values: Sequence[Sequence[float]],
    x: BandScale,
    y: BandScale,
    ends: tuple[float, float],
    palette: str,
) -> None:
    """All cells, one path per color: neighbors of one color are drawn as one rectangle."""
    paths: dict[int, list[str]] = {}
    height = coordinate(abs(y.band) + 0.2)
    for i, row in enumerate(values):
        top = coordinate(min(y(i) - y.band / 2, y(i) + y.band / 2))
        colors = [color_index(value, *ends) for value in row]
        start = 0
        for j in range(1, len(colors) + 1):
            if j == len(colors) or colors[j] != colors[start]:
                left, width = coordinate(x.start + start * x.band), coordinate((j - start) * x.band + 0.2)
                paths.setdefault(colors[start], []).append(f"M{left} {top}h{width}v{height}h-{width}z")
                start = j
    for color, parts in sorted(paths.items()):
        chart.add("path", d="".join(parts), class_=f"{palette}{color}")


def cell_ticks(values: Sequence[Any], n: int, limit: int = 10) -> list[tuple[float, str]]:
    """Tick labels of about n cells: numbers at their precision, categories and dates as they are."""
    kind, numbers = as_numbers(values)
    if kind != "number":
        return band_ticks(values, limit, n)
    shown = [(float(i), numbers[i]) for i in range(0, len(numbers), max(1, math.ceil(len(numbers) / n)))]
    if min(numbers, default=0.0) > 0 and max(numbers) > 30 * min(numbers):
        return [(i, typeset_tick(value)) for i, value in shown]
    steps = [abs(b[1] - a[1]) for a, b in pairwise(shown) if b[1] != a[1]] or [1.0]
    unit = 10.0 ** math.floor(math.log10(min(steps)))
    return [(i, tick_label(round(value / unit) * unit, unit)) for i, value in shown]


def typeset_tick(value: float) -> str:
    """A value of a logarithmic grid, with two digits."""
    return tick_label(float(f"{value:.2g}"), value / 10)


def color_bar(chart: Chart, ends: tuple[float, float], palette: str, width: float = 120) -> None:
    """The nine colors with the values at their ends, right above the plot area."""
    left, cell = chart.right - width, width / N_COLORS
    for i in range(N_COLORS):
        chart.rect(left + i * cell, 4, cell + 0.2, 9, f"{palette}{i}")
    chart.text(left - 5, 13, tick_label(*_rounded(ends[0], ends)), "tick", "end")
    chart.text(chart.right + 4, 13, tick_label(*_rounded(ends[1], ends)), "tick")


def _rounded(value: float, ends: tuple[float, float]) -> tuple[float, float]:
    """The value to three digits of the range, and the unit of the last digit."""
    size = max(abs(ends[0]), abs(ends[1])) or 1.0
    step = 10.0 ** (math.floor(math.log10(size)) - 1)
    return round(value / step) * step, step


def thinned_grid(values: Sequence[Sequence[float]], rows: Sequence[int], columns: Sequence[int]) -> list[list[float]]:
    """The rows and columns of these indices."""
    return [[values[i][j] for j in columns] for i in rows]
