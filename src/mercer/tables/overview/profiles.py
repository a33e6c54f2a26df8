"""The profile of each column as plain values, in the keys of the report."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.tables.leakage import LeakageCheck
from mercer.tables.overview.distributions import (
    MAX_LABELS,
    Values,
    date_histogram,
    label_histogram,
    number_histogram,
    plain,
    top_categories,
)
from mercer.tables.overview.statistics import MeanAndSd
from mercer.tables.profile import ColumnProfile
from mercer.tables.roles import Role

#: What an association measures, for regression and for classes.
R2_ALONE, ERRORS_REMOVED = "R2 alone (binned, leave-one-out)", "fraction of errors removed (leave-one-out)"
_WITHOUT_DISTRIBUTION = ("id", "constant", "text", "sequence")


def column_report(
    profile: ColumnProfile, role: Role, moments: MeanAndSd | None, values: Values | None, leakage: LeakageCheck | None
) -> dict[str, Any]:
    """The profile of one column; `values` are its numbers or dates, None for other kinds."""
    number = profile.kind in ("integer", "number")
    known = values is not None and len(values) > 0
    category = role.role in ("category", "high-cardinality")
    return {
        "column": profile.name,
        "type": profile.kind,
        "role": role.role,
        "reason": role.why,
        "n_missing": profile.missing,
        "n_distinct": profile.distinct,
        "n_distinct_is_exact": profile.exact,
        "min": plain(profile.low),
        "max": plain(profile.high),
        "mean": moments.mean if number and moments else None,
        "sd": moments.sd if number and moments else None,
        "quantiles": values.quantiles if values is not None and known and number else None,
        "top": top_categories(profile, MAX_LABELS) if category and profile.exact else [],
        "histogram": _histogram(profile, role, values),
        "association": association(profile, role, leakage),
    }


def _histogram(profile: ColumnProfile, role: Role, values: Values | None) -> dict[str, Any] | None:
    if role.role in _WITHOUT_DISTRIBUTION:
        return None
    if values is None:
        return label_histogram(profile)
    if profile.kind == "date":
        return date_histogram(values, profile.low, profile.high)
    return number_histogram(values, profile.low, profile.high, profile.kind == "integer")


def association(profile: ColumnProfile, role: Role, leakage: LeakageCheck | None) -> dict[str, Any] | None:
    """The fraction of the target's error that the column alone removes out of sample, in [0, 1]."""
    if leakage is None or not leakage.applies or role.role in ("id", "constant"):
        return None
    removed = leakage.removed(profile.name, profile.kind)
    name = ERRORS_REMOVED if leakage.classify else R2_ALONE
    return {"name": name, "value": float(min(1.0, max(0.0, removed)))}


def column_values(profile: ColumnProfile, column: np.ndarray, sample: Any) -> Values | None:
    """The numbers or dates of a column, from a sample with weights of its rows; None for other kinds."""
    if profile.kind not in ("integer", "number", "date") or profile.present == 0:
        return None
    if column.dtype == object:  # integers beyond 2^53 with missing ones
        column = np.array([np.nan if value is None else float(value) for value in column])
    return Values(profile, column, sample.weight, sample.complete)
