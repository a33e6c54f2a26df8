"""Numbers, intervals, durations and foreign texts as all renderers of a report show them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from typing import Any, TypeGuard

#: Shown where there is no value.
MISSING = "–"
#: Titles of the metrics by their keys in a report.
METRIC_TITLES = {
    "r2": "R²",
    "rmse": "RMSE",
    "mae": "MAE",
    "median_absolute_error": "median absolute error",
    "pinball": "pinball loss",
    "huber": "Huber loss",
    "deviance": "deviance",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
    "log_loss": "log loss",
    "brier": "Brier score",
    "f1": "F1",
    "cost": "mean cost",
}
#: Metrics of which smaller values are better.
LOSSES = frozenset(
    {"rmse", "mae", "median_absolute_error", "log_loss", "brier", "pinball", "huber", "deviance", "cost"}
)
_SCIENTIFIC_ABOVE, _SCIENTIFIC_BELOW = 1e9, 1e-4
#: Invisible characters of scripts and emoji that need them: joiners and variation selectors.
_JOINERS = frozenset("\u200c\u200d")
_ESCAPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def number(value: Any, digits: int = 4) -> str:
    """A number with this many significant digits: 1234.5 is 1,234 (the digits before the point are never rounded).

    Trailing zeros remain where they are rounded digits: 0.5 is 0.5, but 0.50001 is 0.5000.
    """
    if not _is_finite(value):
        return MISSING
    if isinstance(value, int):
        return count(value)
    size = abs(value)
    if size == 0:
        return "0"
    if size >= _SCIENTIFIC_ABOVE or size < _SCIENTIFIC_BELOW:
        return _scientific(value, digits)
    exponent = math.floor(math.log10(size))
    return fixed(value, max(0, digits - 1 - exponent))


def fixed(value: Any, decimals: int) -> str:
    """A number with at most this many decimals; fewer if it has no more."""
    if not _is_finite(value):
        return MISSING
    text = f"{value:,.{decimals}f}"
    short = text.rstrip("0").rstrip(".") if "." in text else text
    text = short if math.isclose(float(short.replace(",", "")), value, rel_tol=1e-12) else text
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text


def _scientific(value: float, digits: int) -> str:
    mantissa, exponent = f"{value:.{max(digits - 1, 0)}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{int(exponent)}"


def _is_finite(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and math.isfinite(value)


def count(n: int | None) -> str:
    """A number of things: 12,345."""
    return MISSING if n is None else f"{n:,}"


def counted(n: int, singular: str, plural: str | None = None) -> str:
    """A number of things with their name: 1 row, 2 rows."""
    return f"{count(n)} {singular if n == 1 else plural or singular + 's'}"


def percent(value: float | None) -> str:
    """A fraction as a percentage: 0.1234 is 12.3%; less than half of a tenth of a percent is <0.1%."""
    if not _is_finite(value):
        return MISSING
    return "<0.1%" if 0 < value < 0.0005 else fixed(100 * value, 1) + "%"


def seconds(value: float | None) -> str:
    """A duration: 12 ms, 3.4 s, 1 min 15 s, 2 h 5 min."""
    if not _is_finite(value):
        return MISSING
    if value < 0.9995:
        return f"{1000 * value:.0f} ms"
    if value < 59.95:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{count(hours)} h {minutes} min" if minutes else f"{count(hours)} h"


def estimate_parts(estimate: Mapping[str, Any]) -> tuple[str, str, str]:
    """Value, low and high end with the same decimals: half the width of the interval has two significant
    digits, or one if the interval is wider than the value."""
    value, low, high = (estimate.get(key) for key in ("value", "low", "high"))
    if not _is_finite(value) or not _is_finite(low) or not _is_finite(high):
        return number(value), number(low), number(high)
    half, size = (high - low) / 2, max(abs(low), abs(high), abs(value))
    if half <= 0 or size >= _SCIENTIFIC_ABOVE or size < _SCIENTIFIC_BELOW:
        return number(value), number(low), number(high)
    # Of an interval around zero one digit is more than is known.
    significant = 1 if abs(value) < half else 2
    decimals = max(0, significant - 1 - math.floor(math.log10(half)))
    decimals = min(decimals, max(0, 5 - math.floor(math.log10(size))))
    value, low, high = (0.0 if abs(end) < 0.5 * 10.0**-decimals else end for end in (value, low, high))
    return f"{value:,.{decimals}f}", f"{low:,.{decimals}f}", f"{high:,.{decimals}f}"


def interval(estimate: Mapping[str, Any]) -> str:
    """An estimate with its interval: 0.812 (0.790 to 0.834)."""
    value, low, high = estimate_parts(estimate)
    return value if MISSING in (low, high) else f"{value} ({low} to {high})"


def metric_title(key: str) -> str:
    """The title of a metric: R² for "r2" and "R2"."""
    known = METRIC_TITLES.get(key.lower().replace(" ", "_").replace("-", "_"))
    return visible(key, 40) if known is None else known


def visible(text: Any, limit: int | None = None, keep: str = "") -> str:
    r"""A text of unknown origin on one line: control, bidirectional and other invisible characters escaped (\x1b).

    Texts longer than `limit` lose their middle. Characters of `keep`, such as a newline, remain.
    """
    text = _shortened(str(text), limit)
    if text.isascii() and text.isprintable():
        return text
    return _shortened("".join(char if char in keep else _visible_character(char) for char in text), limit)


def _shortened(text: str, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return text
    tail = min(12, limit // 4)
    return f"{text[: limit - tail - 1]}…{text[len(text) - tail :]}"


def _visible_character(char: str) -> str:
    if char in _JOINERS or unicodedata.category(char) not in _ESCAPED_CATEGORIES:
        return char
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char) or _escape(ord(char))


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
