"""Scales, ticks and charts: constant, single, missing and extreme values give a picture."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.report.html import figures
from mercer.report.html.charts.bars import Bar, bar_chart, cell_bar, running_bar
from mercer.report.html.charts.heatmap import cell_ticks, color_index
from mercer.report.html.charts.histogram import bars_between, histogram_chart, mini_histogram
from mercer.report.html.charts.intervals import IntervalRow, interval_plot
from mercer.report.html.charts.scale import (
    LinearScale,
    LogScale,
    as_numbers,
    date_ticks,
    extent,
    linear_scale,
    log_scale,
    nice_step,
    thinned,
    tick_label,
)
from mercer.report.html.charts.svg import SvgCanvas, coordinate
from report.sample_reports import effects, residuals, two_class_report


def parsed(svg):
    """The picture as XML: every coordinate is a finite number."""
    root = ElementTree.fromstring(str(svg))
    for element in root.iter():
        for name in ("x", "y", "x1", "x2", "y1", "y2", "width", "height", "cx", "cy", "r"):
            assert math.isfinite(float(element.get(name, "0")))
        assert "nan" not in element.get("d", "")
        assert "inf" not in element.get("d", "")
    return root


finite = st.floats(-1e12, 1e12)


@given(finite, finite, st.integers(2, 10))
def test_linear_ticks_are_round_and_inside(a, b, n):
    scale = linear_scale([a, b], 0, 100)
    ticks = scale.ticks(n)
    assert 1 <= len(ticks) <= 2.5 * n + 2
    width = scale.high - scale.low
    assert all(scale.low - 1e-6 * width <= value <= scale.high + 1e-6 * width for value, _ in ticks)
    assert all(-1e-3 <= scale(value) <= 100.001 for value in (a, b))


@given(st.floats(1e-9, 1e9), st.floats(1e-9, 1e9), st.integers(2, 8))
def test_log_ticks_are_inside(a, b, n):
    scale = log_scale([a, b], 0, 100)
    assert all(-0.1 <= scale(value) <= 100.1 for value, _ in scale.ticks(n))
    assert scale.low < min(a, b) <= max(a, b) < scale.high


def test_scales_of_constant_missing_and_no_values():
    assert extent([]) == (0.0, 1.0)
    assert extent([None, math.nan]) == (0.0, 1.0)
    assert extent([5.0, 5.0]) == (2.5, 7.5)
    assert extent([0.0]) == (-1.0, 1.0)
    assert extent([2.0, 3.0], zero=True) == (0.0, 3.0)
    assert log_scale([], 0, 1).low < 1
    assert log_scale([0.0, -1.0, 4.0], 0, 1).low < 4 < log_scale([4.0], 0, 1).high


def test_steps_and_labels():
    assert [nice_step(step) for step in (0.9, 1.0, 1.1, 2.1, 3, 7, 0.03)] == [1, 1, 2, 2.5, 5, 10, 0.05]
    assert [label for _, label in LinearScale(0, 1, 0, 1).ticks(5)] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert [label for _, label in LogScale(1, 1000, 0, 1).ticks(5)] == ["1", "3", "10", "30", "100", "300", "1,000"]
    assert tick_label(-12500.0, 2500.0) == "−12.5k"
    assert tick_label(3e6, 1e6) == "3M"
    assert tick_label(2e-7, 1e-7) == "2e-7"


def test_positions_of_numbers_dates_and_categories():
    assert as_numbers([1, 2.5]) == ("number", [1.0, 2.5])
    kind, moments = as_numbers(["2024-01-01", "2024-01-02T00:00:00"])
    assert (kind, moments[1] - moments[0]) == ("date", 86400.0)
    assert as_numbers(["a", "2024-01-01"]) == ("category", [0.0, 1.0])
    assert as_numbers([True, False])[0] == "category"
    labels = [label for _, label in date_ticks(LinearScale(moments[0], moments[0] + 86400 * 3000, 0, 1))]
    assert all(len(label) == 4 for label in labels)


@given(st.integers(0, 5000), st.integers(2, 400))
def test_thinned_indices(n, most):
    indices = thinned(n, most)
    assert len(indices) <= min(n, most)
    assert indices == sorted(set(indices))
    assert n == 0 or (indices[0], indices[-1]) == (0, n - 1)


def test_canvas_escapes_texts_and_attributes():
    canvas = SvgCanvas(10, 10, 'a "quoted" <alt> & more')
    canvas.text(1, 2, "<script>&\x00", limit=40)
    canvas.marker(1, 1, "circle", 'x" onload="y', title="</title><script>")
    root = parsed(canvas.render())
    assert root.get("aria-label") == 'a "quoted" <alt> & more'
    assert root.get("role") == "img"
    assert root[0].text == "<script>&\\x00"
    assert root[1][0].text == "</title><script>"
    assert coordinate(-0.01) == "0"
    assert coordinate(1.25) in ("1.2", "1.3")


@pytest.mark.parametrize("n", [0, 1, 3])
def test_bars_and_intervals_of_few_rows(n):
    parsed(bar_chart([Bar(f"b{i}", float(i), i - 1.0, i + 1.0) for i in range(n)], "x", "alt"))
    parsed(interval_plot([IntervalRow("m", 0.5, None, None, "model", "0.5")] * n, "x", "alt"))
    parsed(cell_bar(0.0, 0.0, 0.0))
    parsed(running_bar(1.0, 1.0, 1.0, 1.0))


def test_histograms_of_many_and_no_bars():
    edges, counts = bars_between({"edges": list(range(1001)), "counts": [1] * 1000})
    assert len(counts) <= 100
    assert len(edges) == len(counts) + 1
    assert sum(counts) == 1000
    assert (edges[0], edges[-1]) == (0, 1000)
    parsed(histogram_chart({"edges": [0.0, 0.0], "counts": [5]}, "x", "alt"))
    assert mini_histogram(None) == ""
    assert mini_histogram({"labels": [], "counts": []}) == ""
    parsed(mini_histogram({"labels": ["a", "b"], "counts": [0, 0]}))


def test_colors_and_cell_labels():
    assert [color_index(value, 0, 1) for value in (-1, 0, 0.5, 1, 2)] == [0, 0, 4, 8, 8]
    assert color_index(3, 2, 2) == 4
    assert [label for _, label in cell_ticks([-124.0, -121.7, -119.4], 3)] == ["−124", "−122", "−119"]
    assert [label for _, label in cell_ticks([0.001, 0.0316, 1.0], 3)] == ["0.001", "0.032", "1"]
    assert cell_ticks([], 3) == []


def test_findings_of_effects():
    found = {each["column"]: figures.effect_finding(each) for each in effects()}
    assert found["median_income"]["kind"] == "rises"
    assert found["population"]["kind"] == "falls"
    assert found["ocean_proximity"] == {"kind": "varies", "first": 0, "second": 4}
    flat = {**effects()[0], "mean": [1.0] * 40}
    assert figures.effect_finding(flat)["kind"] == "constant"
    alt = parsed(figures.draw_effect(effects()[0], (0.0, 4.0))).get("aria-label")
    assert alt == "The prediction rises from 1.22 to 3.40 as median_income grows from 0.5 to 15."


def test_every_figure_draws_empty_sections():
    empty = {"edges": [0.0, 1.0], "counts": [0]}
    parsed(figures.draw_residuals({"predicted": [], "actual": [], "trend": [], "histogram": empty}, True))
    parsed(figures.draw_residual_histogram({"predicted": [], "actual": [], "trend": [], "histogram": empty}))
    parsed(figures.draw_calibration({"output": None, "bins": [], "error": 0.0}))
    parsed(figures.draw_thresholds({"output": "a", "points": [], "costs": []}))
    parsed(figures.draw_learning_curve({"metric": "R2", "points": [], "sentence": ""}))
    parsed(figures.draw_importances({"metric": "rmse", "columns": []}, 5))
    parsed(figures.draw_candidates([], "width"))
    one = {
        "stage": "s",
        "name": "n",
        "measure": "squared error",
        "on_all_rows": True,
        "loss": 1.0,
        "seconds": 0.0,
        "width": 0,
        "kept": True,
        "why": "",
    }
    parsed(figures.draw_candidates([one], "seconds"))
    boundary = {"x_title": "", "y_title": "", "output": None, "x": [], "y": [], "values": [], "points": []}
    parsed(figures.draw_boundary(boundary, True))
    kernel = {"kernel": "k", "bandwidths": [], "penalties": [], "loss": [], "chosen": [0, 0], "sentence": ""}
    parsed(figures.draw_kernel_map(kernel))
    pair = {"columns": ["a", "b"], "strength": 0.0, "output": None, "x": [], "y": [], "remainder": []}
    parsed(figures.draw_interaction(pair))


def test_points_of_rows_are_left_out_on_request():
    section = residuals()
    assert "dots" in figures.draw_residuals(section, True)
    assert "dots" not in figures.draw_residuals(section, False)
    boundary = two_class_report()["boundary"]
    assert "point0" in figures.draw_boundary(boundary, True)
    assert "point0" not in figures.draw_boundary(boundary, False)
