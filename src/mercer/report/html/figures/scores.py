"""Scores of the three models as intervals, and the learning curve."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from mercer.report.format import estimate_parts, interval, metric_title, number
from mercer.report.html.charts.axes import Chart
from mercer.report.html.charts.intervals import IntervalRow, interval_plot
from mercer.report.html.charts.lines import Curve, draw_curve
from mercer.report.html.charts.scale import linear_scale, log_scale, tick_label

MODELS = ("model", "linear", "naive")
TITLES = {"model": "This model", "linear": "Linear model", "naive": "Naive guess"}


def draw_scores(holdout: dict[str, Any]) -> Markup:
    """The main metric of the model, the linear model and the naive guess."""
    rows = [
        IntervalRow(
            TITLES[key], each["value"], each["low"], each["high"], key, estimate_parts(each)[0].replace("-", "−")
        )
        for key in MODELS
        if (each := holdout.get(key))
    ]
    title = metric_title(holdout["metric"])
    words = "; ".join(f"{TITLES[key].lower()} {interval(holdout[key])}" for key in MODELS if holdout.get(key))
    return interval_plot(rows, f"{title} on held-out rows, with 95% intervals", f"{title} on held-out rows: {words}.")


def draw_learning_curve(curve: dict[str, Any]) -> Markup:
    """The held-out score against the number of training rows, with intervals, on a logarithmic axis."""
    points = curve["points"]
    n, values = [float(point["n"]) for point in points], [point["score"]["value"] for point in points]
    title = metric_title(curve["metric"])
    alt = f"Learning curve. {curve['sentence']}"
    if points:
        ends = (number(values[0]), number(points[0]["n"]), number(values[-1]), number(points[-1]["n"]))
        alt = "{} is {} with {} training rows and {} with {}. {}".format(title, *ends, curve["sentence"])
    chart = Chart(460, 260, alt)
    x = log_scale(n, chart.left, chart.right)
    bounds = [end for point in points for end in (point["score"]["low"], point["score"]["high"])]
    y = linear_scale([*values, *bounds], chart.bottom, chart.top)
    chart.y_axis(y, y.ticks(5), title)
    for point in points:
        low, high = point["score"]["low"], point["score"]["high"]
        if low is not None and high is not None:
            chart.line((x(point["n"]), y(low)), (x(point["n"]), y(high)), "interval model thin")
    draw_curve(chart, Curve(n, values, "curve model", "circle"), x, y)
    chart.x_axis(x, [(each, tick_label(float(f"{each:.3g}"), 1.0)) for each in n], "training rows (logarithmic)")
    return chart.render()
