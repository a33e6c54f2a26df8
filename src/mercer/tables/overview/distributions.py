"""The distribution of a column as plain values: quantiles and a histogram, or the most frequent categories."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from mercer.normalize.ranks import are_repetitions, sorted_quantiles
from mercer.tables.profile import ColumnProfile

PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: Bins of a histogram, and categories that are listed.
MAX_BINS, MAX_LABELS = 20, 10
_MIN_BINS = 5
#: The label of the categories that are not listed.
OTHERS = "(other)"


class Values:
    """The numbers (dates: microseconds) of a column without missing ones, sorted, with weights that sum to n."""

    def __init__(self, profile: ColumnProfile, values: np.ndarray, weight: np.ndarray, complete: bool):
        if profile.exact and not complete:
            values, weight = profile.array, np.asarray(profile.counts, dtype=np.float64)
        if values.dtype.kind == "M":
            known = ~np.isnat(values)
            values, weight = values[known].astype("datetime64[us]").astype(np.int64), weight[known]
        values = np.asarray(values, dtype=np.float64)
        finite = np.isfinite(values)
        values, weight = values[finite], weight[finite]
        if len(weight) and are_repetitions(weight):  # sorting numbers is much faster than sorting indices
            values = np.sort(np.repeat(values, weight.astype(np.intp)) if np.any(weight != 1) else values)
            weight = np.ones(len(values))
        else:
            order = np.argsort(values)
            values, weight = values[order], weight[order]
        self.values, self.weight, self.present = values, weight, profile.present
        self.exact = complete or profile.exact

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def quantiles(self) -> list[float]:
        """The quantiles at `PROBABILITIES`, exact where all values are known."""
        return [float(q) for q in sorted_quantiles(self.values[None], self.weight, PROBABILITIES)[0]]

    def count(self, chosen: np.ndarray) -> int:
        """The number of rows of some of the values, estimated if these are a sample."""
        total = self.weight.sum()
        return round(float(self.weight[chosen].sum() / total * self.present)) if total > 0 else 0

    def skewness(self) -> float:
        """The third standardized moment."""
        mean = np.average(self.values, weights=self.weight)
        away = self.values - mean
        variance = np.average(away**2, weights=self.weight)
        return float(np.average(away**3, weights=self.weight) / variance**1.5) if variance > 0 else 0.0


def number_histogram(values: Values, low: float, high: float, whole: bool) -> dict[str, Any] | None:
    """Counts in at most 20 bins of equal width; whole numbers of a short range have a bin each."""
    if not len(values) or not (math.isfinite(low) and math.isfinite(high) and math.isfinite(high - low)):
        return None
    if whole and high - low < MAX_BINS:
        edges = np.arange(low - 0.5, high + 1.0)
    elif low == high:
        edges = np.array([low, high])
    else:
        edges = np.linspace(low, high, _n_bins(values.present) + 1)
    return {"edges": edges.tolist(), "counts": _counts(values, edges)}


def date_histogram(values: Values, low: Any, high: Any) -> dict[str, Any] | None:
    """Counts in at most 20 bins of equal width; the edges are ISO dates, with times if bins are short."""
    if not len(values):
        return None
    first, last = (np.datetime64(each, "us").astype(np.int64) for each in (low, high))
    edges = np.linspace(float(first), float(last), _n_bins(values.present) + 1 if first < last else 2)
    unit = "D" if last - first > 5 * MAX_BINS * 86_400_000_000 else "s"
    dates = edges.astype(np.int64).astype("datetime64[us]").astype(f"datetime64[{unit}]")
    return {"edges": [str(date) for date in dates], "counts": _counts(values, edges)}


def label_histogram(profile: ColumnProfile) -> dict[str, Any] | None:
    """The most frequent categories, and the number of rows of the others; None if not all were counted."""
    if not profile.exact or not profile.values:
        return None
    top = top_categories(profile, MAX_LABELS)
    labels, counts = [str(each["category"]) for each in top], [each["rows"] for each in top]
    if profile.distinct > len(top):
        labels.append(OTHERS)
        counts.append(profile.present - sum(counts))
    return {"labels": labels, "counts": counts}


def top_categories(profile: ColumnProfile, size: int) -> list[dict[str, Any]]:
    """The most frequent categories known, with their numbers of rows."""
    top = zip(profile.values[:size], profile.counts[:size].tolist(), strict=True)
    return [{"category": plain(category), "rows": int(rows)} for category, rows in top]


def plain(value: Any) -> Any:
    """Convert a value to one that JSON can represent."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _n_bins(n: int) -> int:
    return int(min(MAX_BINS, max(_MIN_BINS, round(2 * n ** (1 / 3)))))


def _counts(values: Values, edges: np.ndarray) -> list[int]:
    """Rows between edges of equal distance, the last edge included."""
    n_bins, width = len(edges) - 1, edges[1] - edges[0]
    with np.errstate(all="ignore"):
        bins = ((values.values - edges[0]) / width).astype(np.intp) if width > 0 else np.zeros(len(values), np.intp)
    sums = np.bincount(np.clip(bins, 0, n_bins - 1), values.weight, minlength=n_bins)
    total = sums.sum()
    return np.rint(sums / total * values.present).astype(int).tolist() if total > 0 else [0] * n_bins
