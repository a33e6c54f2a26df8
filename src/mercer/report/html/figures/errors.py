"""Residuals, calibration and thresholds."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from mercer.report.format import number, percent, visible
from mercer.report.html.charts.axes import Chart
from mercer.report.html.charts.histogram import histogram_chart
from mercer.report.html.charts.lines import Curve, curve_chart, draw_curve
from mercer.report.html.charts.scale import LinearScale, linear_scale, thinned

_MAX_POINTS = 400


def draw_residuals(residuals: dict[str, Any], rows: bool) -> Markup:
    """Residuals against predictions (the points only if `rows`), with their mean in groups of equal size."""
    trend = residuals["trend"]
    points = [
        (residuals["predicted"][i], residuals["actual"][i]) for i in thinned(len(residuals["predicted"]), _MAX_POINTS)
    ]
    points = points if rows else []
    chart = Chart(460, 290, _residual_alt(trend))
    x = linear_scale([*(p for p, _ in points), *(each["predicted"] for each in trend)], chart.left, chart.right)
    errors = [actual - predicted for predicted, actual in points]
    y = linear_scale([*errors, *(each[end] for each in trend for end in ("low", "high"))], chart.bottom, chart.top)
    chart.y_axis(y, y.ticks(5), "residual: actual value less prediction")
    chart.x_axis(x, x.ticks(6), "prediction")
    chart.dots([(x(p), y(error)) for (p, _), error in zip(points, errors, strict=True)], "row")
    chart.zero_line(y)
    for each in trend:
        chart.line(
            (x(each["predicted"]), y(each["low"])), (x(each["predicted"]), y(each["high"])), "interval second thin"
        )
    curve = Curve(
        [each["predicted"] for each in trend], [each["residual"] for each in trend], "curve second", "diamond"
    )
    draw_curve(chart, curve, x, y)
    return chart.render()


def _residual_alt(trend: list[dict[str, float]]) -> str:
    if not trend:
        return "Residuals against predictions."
    largest = max(trend, key=lambda each: abs(each["residual"]))
    off = [each for each in trend if each["low"] > 0 or each["high"] < 0]
    biased = (
        "In no group is it clearly different from zero" if not off else f"It clearly differs from zero in {len(off)}"
    )
    return (
        f"Residuals against predictions: of {len(trend)} groups of rows the mean residual is largest, "
        f"{number(largest['residual'], 3)}, where the prediction is about {number(largest['predicted'], 3)}. {biased}."
    )


def draw_residual_histogram(residuals: dict[str, Any]) -> Markup:
    """The distribution of the residuals."""
    histogram = residuals["histogram"]
    counts, edges = histogram["counts"], histogram.get("edges") or [0.0, 1.0]
    top = max(range(len(counts)), key=counts.__getitem__) if counts else 0
    alt = f"Histogram of residuals between {number(edges[0], 3)} and {number(edges[-1], 3)}"
    if counts:
        alt += f"; most of them, {counts[top]:,}, lie between {number(edges[top], 3)} and {number(edges[top + 1], 3)}"
    return histogram_chart(histogram, "residual", alt + ".", height=290)


def draw_calibration(calibration: dict[str, Any]) -> Markup:
    """Observed against predicted frequencies, with intervals and the diagonal of perfect calibration."""
    bins = calibration["bins"]
    alt = f"Predicted and observed frequencies differ by {percent(calibration['error'])} on average."
    if bins:
        worst = max(bins, key=lambda each: abs(each["observed"] - each["predicted"]))
        alt += (
            f" The largest difference: {percent(worst['predicted'])} predicted, {percent(worst['observed'])} observed."
        )
    chart = Chart(460, 330, alt)
    x, y = LinearScale(0, 1, chart.left, chart.right), LinearScale(0, 1, chart.bottom, chart.top)
    chart.y_axis(y, y.ticks(5), "observed frequency")
    chart.x_axis(x, x.ticks(5), "predicted probability", grid=True)
    chart.line((x(0), y(0)), (x(1), y(1)), "reference")
    for each in bins:
        chart.line(
            (x(each["predicted"]), y(each["low"])), (x(each["predicted"]), y(each["high"])), "interval model thin"
        )
    curve = Curve([each["predicted"] for each in bins], [each["observed"] for each in bins], "curve model", "circle")
    draw_curve(chart, curve, x, y)
    return chart.render()


#: Key, CSS classes and words of the curves over thresholds.
THRESHOLD_CURVES = (
    ("precision", "curve model", "precision"),
    ("recall", "curve second dashed", "recall"),
    ("f1", "curve third dotted", "F1"),
    ("selected", "curve gray", "rows selected"),
)


def draw_thresholds(thresholds: dict[str, Any]) -> Markup:
    """Precision, recall, F1 and the fraction of rows selected against the threshold."""
    points = thresholds["points"]
    t = [point["threshold"] for point in points]
    curves = [Curve(t, [point[key] for point in points], kind) for key, kind, _ in THRESHOLD_CURVES]
    chart = Chart(460, 330, _threshold_alt(thresholds))
    x, y = LinearScale(0, 1, chart.left, chart.right), LinearScale(0, 1, chart.bottom, chart.top)
    return curve_chart(curves, x, ("threshold on the probability", "fraction"), chart.alt, chart, y)


def _threshold_alt(thresholds: dict[str, Any]) -> str:
    name = visible(thresholds["output"], 60)
    known = [point for point in thresholds["points"] if point["f1"] is not None]
    if not known:
        return f"Precision and recall of {name} by threshold."
    best = max(known, key=lambda point: point["f1"])
    return (
        f"Precision, recall, F1 and rows selected by the threshold on the probability of {name}. F1 is largest, "
        f"{number(best['f1'], 3)}, at threshold {number(best['threshold'], 2)}: "
        f"precision {percent(best['precision'])}, recall {percent(best['recall'])}."
    )
