"""Checks of the model on its holdout, in the form of the checks of the data."""

from __future__ import annotations

from typing import Any

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import Check

#: Held-out rows below which the score is hardly known.
_FEW_ROWS = 50
#: Fraction of the held-out rows with unseen categories that deserves a warning.
_MANY_UNSEEN = 0.05
_MAX_WHERE = 20


def model_checks(rows: HeldOutRows, n_holdout: int) -> list[Check]:
    """What deserves attention, or passed."""
    return [_unseen(rows), _few_held_out(n_holdout)]


def _unseen(rows: HeldOutRows) -> Check:
    table: Any = getattr(rows.encoder, "table", rows.encoder)  # a `ScoredEncoder` has a `TableEncoder`
    unseen = table.unseen_categories(rows.table)
    found: Check = {
        "code": "unseen-category",
        "severity": "passed",
        "title": "held-out rows have known categories",
        "count": 0,
        "where": [],
        "message": "",
        "remedy": "",
    }
    if not unseen:
        return found
    most = max(each.rows for each in unseen.values())
    found |= {
        "severity": "warning" if most > _MANY_UNSEEN * len(rows.y) else "info",
        "title": "Categories that training rows do not have",
        "count": sum(each.rows for each in unseen.values()),
        "where": list(unseen)[:_MAX_WHERE],
        "message": " ".join(each.describe(column) for column, each in list(unseen.items())[:3]),
        "remedy": "New rows will hold more of them. Bring more rows, or merge rare categories before the fit.",
    }
    return found


def _few_held_out(n_holdout: int) -> Check:
    few = n_holdout < _FEW_ROWS
    return {
        "code": "few-held-out",
        "severity": "warning" if few else "passed",
        "title": "Few held-out rows" if few else "enough held-out rows for a score",
        "count": n_holdout if few else 0,
        "where": [],
        "message": f"The score rests on {n_holdout:,} rows: its interval is wide." if few else "",
        "remedy": "Bring more rows, or hold out a larger fraction of them." if few else "",
    }
