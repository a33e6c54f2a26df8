"""Numbers, intervals, durations and texts of unknown origin."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.report.format import (
    MISSING,
    count,
    counted,
    estimate_parts,
    fixed,
    interval,
    metric_title,
    number,
    percent,
    seconds,
    visible,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0, "0"),
        (-0.0, "0"),
        (1234567, "1,234,567"),
        (1234.56, "1,235"),
        (0.5, "0.5"),
        (0.50001, "0.5000"),
        (0.21000000000000002, "0.21"),
        (-0.333333, "-0.3333"),
        (3.0, "3"),
        (1e-5, "1e-5"),
        (-1.23456e-7, "-1.235e-7"),
        (1.5e12, "1.5e12"),
        (None, MISSING),
        (math.nan, MISSING),
        (math.inf, MISSING),
    ],
)
def test_number(value, text):
    assert number(value) == text


@given(st.floats(-1e300, 1e300), st.integers(2, 6))
def test_number_is_right_to_its_digits(value, digits):
    text = number(value, digits)
    assert math.isclose(float(text.replace(",", "")), value, rel_tol=0.51 * 10.0 ** (1 - digits), abs_tol=1e-320)


def test_fixed_percent_count():
    assert fixed(2.5, 3) == "2.5"
    assert fixed(2.50001, 3) == "2.500"
    assert fixed(-0.0001, 2) == "0.00"
    assert [percent(value) for value in (0, 1, 0.1234, 0.00012, None, -0.02)] == [
        "0%",
        "100%",
        "12.3%",
        "<0.1%",
        MISSING,
        "-2%",
    ]
    assert (count(1234), count(None)) == ("1,234", MISSING)
    assert (counted(1, "row"), counted(2000, "row"), counted(0, "class", "classes")) == (
        "1 row",
        "2,000 rows",
        "0 classes",
    )


def test_seconds():
    values = (0, 0.0123, 0.9996, 1.23, 59.96, 75, 3599.7, 3720, 90000, None)
    shown = ["0 ms", "12 ms", "1.0 s", "1.2 s", "1 min", "1 min 15 s", "1 h", "1 h 2 min", "25 h", MISSING]
    assert [seconds(value) for value in values] == shown


def test_interval_has_the_digits_that_its_width_asks_for():
    assert interval({"value": 0.81234, "low": 0.79, "high": 0.834}) == "0.812 (0.790 to 0.834)"
    assert interval({"value": 45123.2, "low": 43000.0, "high": 48000.0}) == "45,123 (43,000 to 48,000)"
    assert interval({"value": -0.0003, "low": -0.0009, "high": 0.0003}) == "-0.0003 (-0.0009 to 0.0003)"
    assert interval({"value": -1e-5, "low": -0.02, "high": 0.02}) == "0.00 (-0.02 to 0.02)"
    assert interval({"value": 0.5, "low": None, "high": None}) == "0.5"
    assert interval({"value": 0.5, "low": 0.5, "high": 0.5}) == "0.5 (0.5 to 0.5)"


finite = st.floats(-1e15, 1e15)


@given(finite, finite, finite)
def test_interval_contains_its_value(a, b, c):
    low, value, high = sorted((a, b, c))
    ends = [float(part.replace(",", "")) for part in estimate_parts({"value": value, "low": low, "high": high})]
    assert ends[1] <= ends[0] <= ends[2] or math.isclose(low, high, rel_tol=1e-3)


def test_metric_titles():
    assert [metric_title(key) for key in ("R2", "r2", "log loss", "balanced_accuracy")] == [
        "R²",
        "R²",
        "log loss",
        "balanced accuracy",
    ]
    assert metric_title("my\x00metric") == "my\\x00metric"


def test_invisible_characters_are_shown():
    assert visible("a\x00b\x1b[31m\u202ec\ud800\n\t\r\ufeff") == "a\\x00b\\x1b[31m\\u202ec\\ud800\\n\\t\\r\\ufeff"
    assert visible("a\U000e0041") == "a\\U000e0041"
    assert visible("naïve 東京 👩‍👧") == "naïve 東京 👩‍👧"
    assert visible("a\nb\x00", keep="\n") == "a\nb\\x00"
    assert visible(3) == "3"


@given(st.text(), st.integers(8, 100))
def test_visible_text_is_short_and_printable(text, limit):
    shown = visible(text, limit)
    shown.encode("utf-8")
    assert len(shown) <= limit
    assert all(char.isprintable() or char.isspace() or char in "\u200c\u200d" for char in shown)
    assert not set(shown) & set("\n\r\t\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029")


def test_long_texts_keep_both_ends():
    text = "prefix_" + "x" * 100_000 + "_suffix"
    assert len(visible(text, 40)) == 40
    assert visible(text, 40).startswith("prefix_")
    assert visible(text, 40).endswith("_suffix")
