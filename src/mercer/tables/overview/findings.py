"""The codes of all checks of the data, and a finding as a plain dict in the keys of the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mercer.tables.leakage import LeakageCheck
from mercer.tables.overview.distributions import Values
from mercer.tables.overview.statistics import OrderedRows
from mercer.tables.profile import ColumnProfile
from mercer.tables.roles import Role

#: Title of each check where it found something, and where it passed.
TITLES = {
    "target-copy": ("A column equals the target", "no column equals the target"),
    "target-leak": ("A column predicts the target alone", "no column predicts the target alone"),
    "constant-target": ("The target is constant", "the target varies"),
    "rare-class": ("Rare classes", "every class has at least 5 rows"),
    "class-imbalance": ("Imbalanced classes", "classes are balanced"),
    "skewed-target": ("Skewed target", "the target is not skewed"),
    "few-rows": ("Few rows", "enough rows for a holdout"),
    "order-drift": ("Drift along the rows", "no drift along the rows"),
    "number-as-text": ("Numbers stored as text", "no numbers stored as text"),
    "date-as-text": ("Dates stored as text", "no dates stored as text"),
    "whitespace": ("Categories that differ in blanks or case only", "categories are spelled alike"),
    "missing-values": ("Missing values", "no missing values"),
    "outlier": ("Outliers", "no outliers"),
    "high-cardinality": ("Columns of many categories", "no columns of many categories"),
    "rare-category": ("Rare categories", "no rare categories"),
    "id-column": ("Identifiers", "no identifiers"),
    "constant-column": ("Constant columns", "no constant columns"),
    "duplicate-column": ("Duplicated columns", "no duplicated columns"),
    "duplicate-row": ("Duplicated rows", "no duplicated rows"),
}
SEVERITIES = ("error", "warning", "info", "passed")
#: Items that a finding lists, and that its message details.
_MAX_WHERE, _MAX_DETAILS = 20, 5


@dataclass(frozen=True)
class CheckData:
    """What the checks look at: profiles, roles and numbers of columns, a sample, the rows in order, the target."""

    n_rows: int
    profiles: dict[str, ColumnProfile]
    roles: dict[str, Role]
    given: frozenset[str]
    values: dict[str, Values]
    sample: Any
    ordered: OrderedRows
    leakage: LeakageCheck
    target_name: str | None = None
    target: ColumnProfile | None = None
    target_values: Values | None = None
    task: str | None = None

    def used(self) -> list[str]:
        """The columns that become features."""
        return [name for name, role in self.roles.items() if role.role not in ("id", "constant")]

    def with_role(self, *wanted: str) -> list[str]:
        """The columns of some roles."""
        return [name for name, role in self.roles.items() if role.role in wanted]


def finding(
    code: str, severity: str, where: Iterable[str], message: str, remedy: str, count: int | None = None
) -> dict[str, Any]:
    """What a check found: `count` things, by default as many as `where` names."""
    listed = list(where)
    return {
        "code": code,
        "severity": severity,
        "title": TITLES[code][0],
        "count": len(listed) if count is None else count,
        "where": listed[:_MAX_WHERE],
        "message": message,
        "remedy": remedy,
    }


def passed(code: str) -> dict[str, Any]:
    """A check that found nothing."""
    return {
        "code": code,
        "severity": "passed",
        "title": TITLES[code][1],
        "count": 0,
        "where": [],
        "message": "",
        "remedy": "",
    }


def listed(items: Iterable[str]) -> str:
    """The first five details, and how many more there are.

    >>> listed("abcdefg")
    'a, b, c, d, e and 2 more'
    """
    items = list(items)
    more = f" and {len(items) - _MAX_DETAILS} more" if len(items) > _MAX_DETAILS else ""
    return ", ".join(items[:_MAX_DETAILS]) + more
