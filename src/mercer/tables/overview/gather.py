"""`overview`: profiles and checks of a table from one pass over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mercer.source import Source
from mercer.stats import Sample, Together
from mercer.tables.leakage import LeakageCheck
from mercer.tables.overview import column_checks, row_checks, target_checks
from mercer.tables.overview.distributions import Values
from mercer.tables.overview.findings import SEVERITIES, CheckData, passed
from mercer.tables.overview.profiles import column_report, column_values
from mercer.tables.overview.statistics import TARGET, NumberMoments, OfTarget, OrderSample, unweighted
from mercer.tables.profile import SAMPLE_ENTRIES, ColumnProfile, TableProfile
from mercer.tables.roles import Role, roles_of

#: Whole numbers with more distinct values than this are a continuous target, not classes.
_MAX_CLASSES = 20

#: The checks in order: code, the tasks they apply to (None: also without a target), and the functions.
_CHECKS: tuple[tuple[str, tuple[str, ...] | None, tuple[Callable[[CheckData], list[dict[str, Any]]], ...]], ...] = (
    ("target-copy", ("classification", "regression"), (target_checks.target_copies,)),
    ("target-leak", ("classification", "regression"), (target_checks.target_leaks,)),
    ("constant-target", ("classification", "regression"), (target_checks.constant_target,)),
    ("rare-class", ("classification",), (target_checks.rare_classes,)),
    ("class-imbalance", ("classification",), (target_checks.class_imbalance,)),
    ("skewed-target", ("regression",), (target_checks.skewed_target,)),
    ("few-rows", None, (row_checks.few_rows,)),
    ("order-drift", None, (row_checks.order_drift,)),
    ("number-as-text", None, (column_checks.numbers_as_text,)),
    ("date-as-text", None, (column_checks.dates_as_text,)),
    ("whitespace", None, (column_checks.spelling,)),
    ("missing-values", None, (column_checks.missing_values,)),
    ("outlier", None, (target_checks.target_outliers, column_checks.outliers)),
    ("high-cardinality", None, (column_checks.high_cardinality,)),
    ("rare-category", None, (column_checks.rare_categories,)),
    ("id-column", None, (column_checks.id_columns,)),
    ("constant-column", None, (column_checks.constant_columns,)),
    ("duplicate-column", None, (column_checks.duplicate_columns,)),
    ("duplicate-row", None, (row_checks.duplicate_rows,)),
)


@dataclass(frozen=True)
class Overview:
    """What one pass shows of a table, as plain values.

    Attributes
    ----------
    n_rows : int
    profiles : list of dicts, one per feature column
        Keys: column, type, role, reason, n_missing, n_distinct, n_distinct_is_exact, min, max, mean, sd, quantiles (at
        5, 25, 50, 75 and 95 %), top, histogram, association.
    target : dict of the same keys for the target, or None
    task : "classification", "regression" or None
    checks : list of dicts
        Keys: code, severity ("error", "warning", "info" or "passed"), title, count, where, message, remedy. The most
        severe come first.
    roles : dict of column names to `Role`
    """

    n_rows: int
    profiles: list[dict[str, Any]]
    target: dict[str, Any] | None
    task: str | None
    checks: list[dict[str, Any]]
    roles: dict[str, Role]


def _statistics() -> Together:
    """What one pass over the table learns."""
    return Together(
        profile=TableProfile(),
        sample=Sample(max_entries=SAMPLE_ENTRIES),
        moments=NumberMoments(),
        ordered=OrderSample(),
        target=OfTarget(),
    )


def overview(
    source: Source, roles: Mapping[str, str] | None = None, task: str | None = None, target_name: str | None = None
) -> Overview:
    """Profiles of the columns and of the target, and checks of the data, from one pass over a source of tables.

    Parameters
    ----------
    source : Source of a table, as `mercer.io.read_table` gives it
    roles : dict of names to roles, default=None
        Roles that are known and not to be guessed.
    task : {"classification", "regression"} or None
        None guesses it from the target.
    target_name : str, default=None
        How to call the target; None takes the name that the source knows, or "target".

    Examples
    --------
    >>> from mercer.io import read_table
    >>> seen = overview(read_table({"size": [1.0, 2.0, 4.0], "unit": ["m"] * 3}))
    >>> seen.profiles[0]["quantiles"]
    [1.0, 1.0, 2.0, 4.0, 4.0]
    >>> [(check["code"], check["where"]) for check in seen.checks if check["severity"] == "info"]
    [('constant-column', ['unit'])]
    """
    folded = source.map(unweighted).fold(_statistics())
    learned = folded.finish()
    profiles, sample = learned["profile"], learned["sample"]
    target = None if learned["target"] is None else learned["target"]["profile"][TARGET]
    task = None if target is None else task or guess_task(target)
    # Of rows with equal columns `Sample` keeps one target, so it is of no use for associations if there are many.
    repeated = float(sample.weight.sum()) > len(sample.weight)
    leakage = LeakageCheck(learned["ordered"] if repeated else sample, task)
    found_roles = roles_of(profiles, sample, roles, leakage=leakage)
    values = {name: column_values(each, sample.X.array(name), sample) for name, each in profiles.items()}
    target_values = None
    if target is not None:
        targets = learned["target"]["sample"].column(TARGET)
        target_values = column_values(target, targets.X, targets)
    data = CheckData(
        n_rows=folded.n,
        profiles=profiles,
        roles=found_roles,
        given=frozenset(map(str, roles or ())),
        values={name: each for name, each in values.items() if each is not None},
        sample=sample,
        ordered=learned["ordered"],
        leakage=leakage,
        target_name=target_name or source.target or TARGET,
        target=target,
        target_values=target_values if task == "regression" else None,
        task=task,
    )
    moments = learned["moments"]
    reports = [
        column_report(each, found_roles[name], moments.get(name), values[name], leakage)
        for name, each in profiles.items()
    ]
    report = None if target is None else _target_report(data, learned["target"]["moments"].get(TARGET), target_values)
    return Overview(data.n_rows, reports, report, task, run_checks(data), found_roles)


def guess_task(target: ColumnProfile) -> str:
    """The task of `mercer.fit`: text, booleans and whole numbers of at most 20 values that repeat are classes."""
    if target.kind in ("text", "boolean"):
        return "classification"
    if target.kind not in ("integer", "number") or not target.exact:
        return "regression"
    whole = all(float(value).is_integer() for value in target.values)
    few = target.distinct <= min(_MAX_CLASSES, max(2, target.n // 2))
    return "classification" if whole and few else "regression"


def _target_report(data: CheckData, moments: Any, values: Values | None) -> dict[str, Any]:
    """The profile of the target, with the counts of its classes or the distribution of its numbers."""
    target: Any = data.target
    classes = data.task == "classification"
    role = Role("category" if classes else "number", f"{target.distinct:,} classes" if classes else "continuous target")
    report = column_report(target, role, moments, None if classes else values, None)
    if classes and values is not None:
        report["quantiles"] = None
    return {**report, "column": data.target_name}


def run_checks(data: CheckData) -> list[dict[str, Any]]:
    """The findings of all checks that apply, and those passed, the most severe first."""
    found = []
    for code, tasks, functions in _CHECKS:
        if tasks is None or data.task in tasks:
            findings = [each for function in functions for each in function(data)]
            found += findings or [passed(code)]
    return sorted(found, key=lambda check: SEVERITIES.index(check["severity"]))
