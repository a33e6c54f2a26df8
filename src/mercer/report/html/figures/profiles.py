"""The distribution of the target."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from mercer.report.format import count, number, visible
from mercer.report.html.charts.bars import Bar, bar_chart
from mercer.report.html.charts.histogram import histogram_chart

_MAX_LABELS = 15


def draw_target(profile: dict[str, Any]) -> Markup:
    """A histogram of numbers or dates, or a bar per class."""
    histogram, name = profile["histogram"], visible(profile["column"], 40)
    if len(histogram.get("edges", ())) > 1:
        ends = [number(edge, 3) if isinstance(edge, (int, float)) else visible(edge, 20) for edge in histogram["edges"]]
        alt = f"Distribution of {name} between {ends[0]} and {ends[-1]}"
        if profile["quantiles"] and len(profile["quantiles"]) == 5:
            low, _, middle, _, high = (number(value, 3) for value in profile["quantiles"])
            alt += f": half of the rows are below {middle}, nine in ten between {low} and {high}"
        return histogram_chart(histogram, name, alt + ".", width=400, height=240)
    pairs = list(zip(histogram.get("labels", []), histogram["counts"], strict=False))[:_MAX_LABELS]
    alt = f"Rows by {name}: " + ", ".join(f"{visible(label, 30)} {count(n)}" for label, n in pairs[:5]) + "."
    return bar_chart([Bar(label, n) for label, n in pairs], "rows", alt, width=400)
