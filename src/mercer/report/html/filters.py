"""Filters of the templates: numbers with their paths in the report, texts, and small pictures in cells."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from markupsafe import Markup

from mercer.report import format
from mercer.report.html.charts.bars import cell_bar
from mercer.report.html.charts.heatmap import color_index
from mercer.report.html.charts.histogram import mini_histogram
from mercer.report.html.node import ReportNode, limits, path, raw, shown

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def typeset(text: str) -> str:
    """A formatted number with a minus sign and a power of ten: -1.2e-5 is −1.2×10⁻⁵."""
    text = re.sub(r"e(-?\d+)$", lambda match: "×10" + match[1].translate(_SUPERSCRIPTS), text)
    return text.replace("-", "−")


def _signed(value: Any, decimals: int = 3) -> str:
    text = _rounded(value, decimals)
    return text if text.startswith("-") or not text.strip("0.,") else f"+{text}"


def _rounded(value: Any, decimals: int = 3) -> str:
    return format.MISSING if value is None else f"{value:,.{decimals}f}"


#: Ways to write a number, by the name in the attribute data-as.
FORMATS: dict[str, Callable[..., str]] = {
    "number": format.number,
    "count": format.count,
    "percent": format.percent,
    "seconds": format.seconds,
    "signed": _signed,
    "rounded": _rounded,
}


def formatted(value: Any, how: str) -> str:
    """The text of a number, as a page shows it; `how` is the attribute data-as, such as "number:3"."""
    name, _, digits = how.partition(":")
    return typeset(FORMATS[name](value, *([int(digits)] if digits else [])))


def _marked(node: ReportNode, text: str, how: str) -> Markup:
    return Markup('<span data-path="{}" data-as="{}">{}</span>').format(format.visible(path(node), 200), how, text)


def _number_filter(name: str) -> Callable[..., Markup]:
    def write(node: ReportNode, digits: int | None = None) -> Markup:
        how = name if digits is None else f"{name}:{digits}"
        return _marked(node, formatted(raw(node), how), how)

    return write


def write_estimate(node: ReportNode) -> Markup:
    """An estimate and its interval, with the paths of all three numbers."""
    return write_value(node) + write_interval(node)


def write_value(node: ReportNode) -> Markup:
    """The value of an estimate, rounded as its interval asks for."""
    return _marked(node["value"], typeset(format.estimate_parts(raw(node))[0]), "estimate")


def write_interval(node: ReportNode) -> Markup:
    """The interval of an estimate, in parentheses; nothing if there is none."""
    _, low, high = format.estimate_parts(raw(node))
    if format.MISSING in (low, high):
        return Markup("")
    ends = (_marked(node["low"], typeset(low), "estimate"), _marked(node["high"], typeset(high), "estimate"))
    return Markup(' <span class="ends">({} to {})</span>').format(*ends)


def write_any(node: ReportNode, digits: int = 4) -> Markup:
    """A number with its path, or a text."""
    value = raw(node)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return _number_filter("number")(node, digits) if is_number else shown(node, 40)


def write_name(node: ReportNode, limit: int = 40) -> Markup:
    """A short text."""
    return shown(node, min(limit, limits(node).name))


def write_sentence(node: ReportNode) -> Markup:
    """A sentence of the report."""
    return shown(node, limits(node).sentence)


def write_plain(node: ReportNode) -> str:
    """A text where no element may stand, such as in a title."""
    return str(node)


def write_listing(node: ReportNode) -> str:
    """Lines of code, with their line breaks."""
    return format.visible(raw(node) or "", limits(node).listing, keep="\n").rstrip("\n")


def sort_key(node: ReportNode) -> str:
    """What a table sorts by: a number, or nothing for a missing value."""
    value = raw(node)
    return repr(float(value)) if isinstance(value, (int, float)) else ""


def draw_bar(node: ReportNode, low: float, high: float, kind: str = "bar") -> Markup:
    """The value as a bar on a scale that includes zero."""
    value = raw(node)
    return Markup("") if value is None else cell_bar(value, low, high, kind)


def draw_mini(node: ReportNode) -> Markup:
    """A histogram of the size of a word."""
    return mini_histogram(raw(node))


def shade(node: ReportNode, row: ReportNode) -> str:
    """The class of the color of a count, relative to its row."""
    return f"q{color_index(raw(node), 0.0, max(sum(raw(row)), 1))}"


FILTERS: dict[str, Callable[..., Any]] = {
    **{name: _number_filter(name) for name in FORMATS},
    "estimate": write_estimate,
    "estimate_value": write_value,
    "estimate_interval": write_interval,
    "anything": write_any,
    "name": write_name,
    "sentence": write_sentence,
    "listing": write_listing,
    "plain": write_plain,
    "sort_key": sort_key,
    "draw_bar": draw_bar,
    "mini": draw_mini,
    "shade": shade,
    "raw": raw,
}
