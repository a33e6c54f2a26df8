"""Curves of the points of an explainable model."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from mercer.report.format import number, visible
from mercer.report.html.charts.lines import effect_chart
from mercer.report.html.figures.columns import effect_ranges, shown_value


def draw_points(curve: dict[str, Any]) -> Markup:
    """The points of a column over its values, with their band and the density of the data."""
    mean = curve["mean"]
    if not mean:
        return Markup("")
    low, high = min(range(len(mean)), key=mean.__getitem__), max(range(len(mean)), key=mean.__getitem__)
    ends = [f"{number(mean[i], 3)} at {shown_value(curve['x'][i])}" for i in (low, high)]
    alt = f"Points of {visible(curve['column'], 60)}: from {ends[0]} to {ends[1]}."
    range_ = effect_ranges([curve])[str(curve["output"])]
    return effect_chart(curve, range_, alt)
