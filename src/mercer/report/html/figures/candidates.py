"""Representations tried: loss against the number of features, on logarithmic axes."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from mercer.report.format import number, percent, seconds, visible
from mercer.report.html.charts.axes import Chart
from mercer.report.html.charts.scale import linear_scale, log_scale, thinned

#: The cost on the horizontal axis: key, title, and how one value is written.
COSTS = {"width": "features (logarithmic)", "seconds": "seconds (logarithmic)"}
_MAX_POINTS = 200


def draw_candidates(candidates: list[dict[str, Any]], cost: str) -> Markup:
    """Kept candidates as large filled circles joined by a line, the others as crosses.

    Only losses of whole models on all training rows share an axis.
    """
    candidates = comparable(candidates)
    shown = [candidates[i] for i in thinned(len(candidates), _MAX_POINTS)]
    chart = Chart(460, 290, _alt(candidates, cost))
    x = log_scale([each[cost] for each in shown], chart.left + 8, chart.right - 8)
    y = linear_scale(_common([each["loss"] for each in shown]), chart.bottom, chart.top + 6, pad=0.08)
    chart.y_axis(y, y.ticks(5), "cross-validated loss / variance of the target")
    chart.x_axis(x, x.ticks(6), COSTS[cost])
    kept = [each for each in shown if each["kept"]]
    chart.path([(x(each[cost]), _clipped(chart, y(each["loss"]))) for each in kept], "path")
    for each in sorted(shown, key=lambda each: each["kept"]):
        shape, kind, size = ("circle", "mark model", 5.5) if each["kept"] else ("cross", "mark dropped", 3.4)
        cost_words = f"{seconds(each['seconds'])}, {number(each['width'])} features"
        words = f"{visible(each['name'], 60)}: loss {number(each['loss'])}, {cost_words}"
        chart.marker(x(each[cost]), _clipped(chart, y(each["loss"])), shape, kind, size, words)
    return chart.render()


def comparable(candidates: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The candidates whose losses were measured on the same rows and by the same measure."""
    return [each for each in candidates if each["on_all_rows"] and each["measure"] == "squared error"]


def _common(losses: list[float]) -> list[float]:
    """The losses without extreme ones, which would flatten the rest: those are drawn at the upper edge."""
    best = min(losses, default=0.0)
    middle = sorted(losses)[len(losses) // 2] if losses else 0.0
    return [loss for loss in losses if loss <= best + 4 * max(middle - best, 0.05)]


def _clipped(chart: Chart, y: float) -> float:
    return max(y, chart.top)


def _alt(candidates: list[dict[str, Any]], cost: str) -> str:
    kept = [each for each in candidates if each["kept"]]
    words = f"{len(candidates)} representations tried, {len(kept)} kept."
    if len(kept) > 1 and kept[0]["loss"] > 0:
        fall = percent(1 - kept[-1]["loss"] / kept[0]["loss"])
        first, last = kept[0], kept[-1]
        words += f" The loss falls by {fall}, from {number(first['loss'])} to {number(last['loss'])},"
        unit = "features" if cost == "width" else "seconds"
        words += f" as {unit} grow from {number(first[cost])} to {number(last[cost])}."
    return words
