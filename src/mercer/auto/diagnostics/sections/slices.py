"""Slices of the held-out rows on which the model is worse than on the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import RowSlice, ScoreEstimate
from mercer.auto.diagnostics.sections.grids import CATEGORIES, ordered_values, role_of, shown_values
from mercer.auto.diagnostics.sections.outputs import (
    class_codes,
    effective_rows,
    estimate,
    mean_interval,
    predicted_codes,
    row_losses,
    row_weights,
    short_text,
)
from mercer.auto.holdout.evaluate import wilson
from mercer.select.filters.false_discovery import adjusted_pvalues

_MAX_SLICES, _MAX_RATE = 8, 0.05
#: The fewest rows of a slice, the largest fraction of all rows, and the most columns that are sliced.
_MIN_ROWS, _MAX_FRACTION, _MAX_COLUMNS = 20, 0.6, 300
#: Numbers of up to so many different values have a slice for each.
_MAX_SINGLE = 6
#: Slices that share this fraction of their rows (of those in either) are the same: the first is shown.
_SAME = 0.8


@dataclass(frozen=True)
class Slice:
    """A condition on one column, and the rows that meet it."""

    column: str
    condition: str
    rows: np.ndarray


def section(rows: HeldOutRows, strongest: Sequence[str] = ()) -> list[RowSlice] | None:
    """The slices of larger loss, worst first; None if no column can be sliced.

    Conditions are categories, quartiles of numbers, quarters of the range of dates, and missing values. The squared
    error or log-loss of a slice is compared with that of the other rows by Welch's test of a larger mean; p-values are
    adjusted for all slices looked at (Benjamini and Hochberg 1995).
    """
    first = [name for name in strongest if name in rows.encoder.roles_]
    names = [*first, *(name for name in rows.table.columns if name not in first)][:_MAX_COLUMNS]
    slices = [each for name in names for each in slices_of(rows, name)]
    if not slices:
        return None
    losses, weight = row_losses(rows, rows.scores), row_weights(rows)
    scaled = losses / (float(losses.max()) or 1.0)  # squares of squared errors may overflow
    tested = [_welch(scaled, weight, each.rows) for each in slices]
    adjusted = adjusted_pvalues([p for p, _ in tested])
    ranked = sorted(np.flatnonzero(adjusted < _MAX_RATE).tolist(), key=lambda k: -tested[k][1])
    chosen: list[int] = []
    for k in ranked:
        if len(chosen) < _MAX_SLICES and not any(_same(slices[k].rows, slices[j].rows) for j in chosen):
            chosen.append(k)
    return [_reported(rows, slices[k], losses, weight, float(adjusted[k])) for k in chosen]


def slices_of(rows: HeldOutRows, name: str) -> list[Slice]:
    """The slices of one column that have enough rows and leave enough others."""
    role = role_of(rows, name)
    if role in CATEGORIES:
        found = _category_slices(rows, name)
    elif role in ("number", "date"):
        found = _ordered_slices(rows, name)
    else:
        return []
    return [each for each in found if _MIN_ROWS <= np.count_nonzero(each.rows) <= _MAX_FRACTION * len(rows.y)]


def _category_slices(rows: HeldOutRows, name: str) -> Iterator[Slice]:
    codes = rows.table.codes(name)
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    frequent = np.flatnonzero(counts >= _MIN_ROWS)
    values = rows.table[first[frequent]].table[name].to_pylist()
    for code, value in zip(frequent, values, strict=True):
        yield Slice(name, f"is {short_text(value)}", codes == code)


def _ordered_slices(rows: HeldOutRows, name: str) -> Iterator[Slice]:
    x = ordered_values(rows, name)
    present = np.isfinite(x)
    if not present.all():
        yield Slice(name, "is missing", ~present)
    values = np.unique(x[present])
    if len(values) < 2:
        return
    if len(values) <= _MAX_SINGLE:
        for value, text in zip(values, shown_values(rows, name, values), strict=True):
            yield Slice(name, f"is {short_text(text)}", x == value)
        return
    if role_of(rows, name) == "date":
        inner = np.linspace(values[0], values[-1], 5)[1:-1]
    else:
        inner = np.unique(np.quantile(x[present], [0.25, 0.5, 0.75], method="lower"))
    texts = [short_text(text) for text in shown_values(rows, name, inner)]
    conditions = [f"at most {texts[0]}", *map("above {} to {}".format, texts, texts[1:]), f"above {texts[-1]}"]
    codes = np.searchsorted(inner, np.nan_to_num(x))
    for k, condition in enumerate(conditions):
        yield Slice(name, condition, present & (codes == k))


def _welch(losses: np.ndarray, weight: np.ndarray, chosen: np.ndarray) -> tuple[float, float]:
    """The p-value of a larger mean loss of the chosen rows, by Welch's (1947) test, and the ratio of the means."""
    means, errors, sizes = [], [], []
    for part in (chosen, ~chosen):
        w = weight[part]
        size = effective_rows(w) if np.any(w > 0) else 0.0
        if size <= 1.0 + 1e-9:
            return 1.0, 0.0
        mean = float(np.average(losses[part], weights=w))
        means.append(mean)
        errors.append(float(np.average((losses[part] - mean) ** 2, weights=w)) / (size - 1))
        sizes.append(size)
    if means[0] <= means[1] or sum(errors) <= 0:
        return 1.0, 0.0
    degrees = sum(errors) ** 2 / sum(error**2 / (size - 1) for error, size in zip(errors, sizes, strict=True))
    ratio = means[0] / max(means[1], np.finfo(float).tiny)
    return float(stdtr(degrees, -(means[0] - means[1]) / np.sqrt(sum(errors)))), ratio


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.count_nonzero(one & other) >= _SAME * np.count_nonzero(one | other))


def _reported(rows: HeldOutRows, part: Slice, losses: np.ndarray, weight: np.ndarray, p_value: float) -> RowSlice:
    metric, score, rest = _scores(rows, part.rows, losses, weight)
    return {
        "column": part.column,
        "condition": part.condition,
        "n": int(np.count_nonzero(part.rows)),
        "metric": metric,
        "score": score,
        "rest": rest,
        "p_value": p_value,
    }


def _scores(
    rows: HeldOutRows, chosen: np.ndarray, losses: np.ndarray, weight: np.ndarray
) -> tuple[str, ScoreEstimate, float]:
    """RMSE; for classes the accuracy where it is smaller too, else the log-loss: its name, and those of both parts."""
    inside, outside = weight[chosen], weight[~chosen]
    mean, half = mean_interval(losses[chosen], inside)
    rest = float(np.average(losses[~chosen], weights=outside))
    if rows.classes is None:
        score = estimate(mean, half)
        ends = (None if end is None else float(np.sqrt(max(end, 0.0))) for end in (score["low"], score["high"]))
        return "rmse", {"value": float(np.sqrt(mean)), "low": next(ends), "high": next(ends)}, float(np.sqrt(rest))
    right = class_codes(rows) == predicted_codes(rows)
    accuracy, other = (float(np.average(right[part], weights=weight[part])) for part in (chosen, ~chosen))
    if accuracy >= other:
        return "log_loss", estimate(mean, half), rest
    size = effective_rows(inside)
    interval = wilson(size * accuracy, size)
    return "accuracy", {"value": accuracy, "low": interval.low, "high": interval.high}, other
