"""Checks of the rows: their number, duplicates, drift along their order."""

from __future__ import annotations

from typing import Any

from mercer.tables.overview.drift import drifting, is_sorted
from mercer.tables.overview.findings import CheckData, finding, listed

#: Rows below which a fifth of them is no useful holdout.
_FEW = 100


def few_rows(data: CheckData) -> list[dict[str, Any]]:
    """Too few rows for a holdout, or fewer than columns."""
    found, n, columns = [], data.n_rows, len(data.used())
    if n < _FEW:
        message = f"A fifth of {n} rows is too small a holdout: scores will have wide intervals."
        remedy = "Collect more rows, or compare models by repeated cross-validation."
        found.append(finding("few-rows", "warning", [], message, remedy, n))
    if n < columns:
        message = f"There are fewer rows ({n:,}) than columns ({columns:,}): chance correlations are likely."
        found.append(finding("few-rows", "warning", [], message, "Collect more rows, or select columns first.", n))
    return found


def duplicate_rows(data: CheckData) -> list[dict[str, Any]]:
    """Rows whose columns all equal those of another row."""
    weight = data.sample.weight
    if not data.profiles:  # a target alone
        return []
    n = round(data.n_rows * (1.0 - len(weight) / float(weight.sum())))
    if n == 0:
        return []
    about = "" if data.sample.complete else "About "
    what = "row repeats" if n == 1 else "rows repeat"
    message = f"{about}{n:,} {what} the columns of another row ({n / data.n_rows:.1%})."
    remedy = "Equal rows are never split between training and holdout. Drop them if they were recorded twice."
    return [finding("duplicate-row", "info", [], message, remedy, n)]


def order_drift(data: CheckData) -> list[dict[str, Any]]:
    """The target or columns that change along the rows."""
    target = data.target_name if data.target is not None else None
    kinds = {name: data.profiles[name].kind for name in data.with_role("number", "category", "date")}
    found = drifting(data.ordered, kinds, target)
    ranked = sorted(found, key=lambda name: (name != target, -found[name].effect))
    if not ranked:
        return []
    by_target = target in found
    sorted_rows = by_target and is_sorted(data.ordered)
    named = [name for name in ranked if not (sorted_rows and name == target)]
    each = listed(f"{name!r} ({found[name].effect:.0%} of the variance)" for name in named)
    if sorted_rows:
        message, severity = f"The rows are sorted by the target {target!r}.", "info"
        message += f" Their position also explains: {each}." if named else ""
        remedy = "Nothing to do if the order has no meaning: rows are held out at random, wherever they are."
    else:
        message = f"The position of a row explains: {each}."
        severity = "warning" if by_target else "info"
        remedy = (
            "If rows are in the order of time, split by time: fit on the earlier rows and evaluate on the later ones, "
            "for a random holdout is too optimistic."
        )
    return [finding("order-drift", severity, ranked, message, remedy)]
