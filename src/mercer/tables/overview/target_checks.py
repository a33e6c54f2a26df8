"""Checks of the target, and of columns against it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._runtime.errors import Message, Setting
from mercer.tables.leakage import MAX_REMOVED
from mercer.tables.overview.column_checks import MIN_ROWS, count_outliers
from mercer.tables.overview.findings import CheckData, finding, listed

#: Fraction of the most frequent class from which on classes are imbalanced, and badly so.
_IMBALANCED, _BADLY = 0.8, 0.95
_MAX_SKEWNESS = 2.0
#: Rows of the sample whose ranks are compared, and the largest rank correlation.
_RANKED_ROWS, _MAX_CORRELATION = 1000, 0.995


def target_copies(data: CheckData) -> list[dict[str, Any]]:
    """Columns equal to the target."""
    names = [name for name in data.used() if data.leakage.equals_target(name, data.profiles[name].kind)]
    if not names:
        return []
    message = f"Equal to the target {data.target_name!r} in every row: {listed(map(repr, names))}."
    return [
        finding(
            "target-copy", "error", names, message, Message("Leave it out: ", Setting("roles", "id", key=names[0]), ".")
        )
    ]


def target_leaks(data: CheckData) -> list[dict[str, Any]]:
    """Columns that predict the target alone, or rank the rows as it does, without being equal to it."""
    if not data.leakage.applies:
        return []
    kinds = {name: data.profiles[name].kind for name in data.used()}
    removed = {name: data.leakage.removed(name, kind) for name, kind in kinds.items()}
    reasons = {name: f"{each:.1%} of the error" for name, each in removed.items() if each > MAX_REMOVED}
    rows, y = data.ordered.X[:_RANKED_ROWS], np.asarray(data.ordered.y)[:_RANKED_ROWS]
    for name, each in removed.items():
        # Bins are too coarse for a target with a long tail, ranks are not.
        if each <= MAX_REMOVED and data.task == "regression" and kinds[name] in ("integer", "number"):
            correlation = _rank_correlation(rows.array(name), y)
            reasons |= {name: f"rank correlation {correlation:.4f}"} if abs(correlation) > _MAX_CORRELATION else {}
    names = [name for name in kinds if name in reasons and not data.leakage.equals_target(name, kinds[name])]
    if not names:
        return []
    message = f"One column alone predicts the target: {listed(f'{name!r} ({reasons[name]})' for name in names)}."
    remedy = Message(
        "Would it be known when predictions are made? If not, leave it out: ", Setting("roles", "id", key=names[0]), "."
    )
    return [finding("target-leak", "warning", names, message, remedy)]


def _rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's rank correlation of the rows without missing values."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    known = np.isfinite(x) & np.isfinite(y)
    if not known.any():
        return 0.0
    a, b = (np.unique(each[known], return_inverse=True)[1].astype(np.float64) for each in (x, y))
    return float(np.corrcoef(a, b)[0, 1]) if a.any() and b.any() else 0.0


def constant_target(data: CheckData) -> list[dict[str, Any]]:
    """A target of one value."""
    if data.target is None or data.target.distinct > 1:
        return []
    message = f"Every row holds {data.target.values[0]!r}: there is nothing to learn."
    return [finding("constant-target", "error", [str(data.target_name)], message, "Is another column the target?")]


def rare_classes(data: CheckData) -> list[dict[str, Any]]:
    """Classes of fewer than 5 rows."""
    counts = _class_counts(data)
    rare = {name: n for name, n in counts.items() if n < MIN_ROWS}
    if not rare or len(counts) < 2:
        return []
    message = f"Too few rows to learn or to evaluate: {listed(f'{name!r} ({n})' for name, n in rare.items())}."
    return [finding("rare-class", "warning", rare, message, "Collect more rows of these classes, merge or drop them.")]


def class_imbalance(data: CheckData) -> list[dict[str, Any]]:
    """A class of most of the rows."""
    counts = _class_counts(data)
    most = max(counts, key=lambda name: counts[name], default="")
    fraction = counts[most] / sum(counts.values()) if counts else 0.0
    if len(counts) < 2 or fraction < _IMBALANCED:
        return []
    message = f"{fraction:.1%} of the rows are {most!r}: always predicting it has that accuracy."
    remedy = "Compare AUC, balanced accuracy or log-loss instead of accuracy, and choose the threshold by its cost."
    severity = "warning" if fraction >= _BADLY else "info"
    return [finding("class-imbalance", severity, [most], message, remedy)]


def _class_counts(data: CheckData) -> dict[str, int]:
    if data.target is None or not data.target.exact:
        return {}
    return {str(value): int(n) for value, n in zip(data.target.values, data.target.counts, strict=True)}


def skewed_target(data: CheckData) -> list[dict[str, Any]]:
    """A positive target with a long tail, which logarithms make more even."""
    values = data.target_values
    if values is None or len(values) < MIN_ROWS or values.values[0] <= 0:
        return []
    skewness = values.skewness()
    logs = np.log(values.values)
    away = logs - np.average(logs, weights=values.weight)
    variance = np.average(away**2, weights=values.weight)
    after = abs(np.average(away**3, weights=values.weight)) / variance**1.5 if variance > 0 else 0.0
    if not (skewness > _MAX_SKEWNESS and after < 0.5 * skewness):
        return []
    message = f"The largest values dominate the squared error (skewness {skewness:.1f}; {after:.1f} of the logarithm)."
    remedy = "If relative errors matter, predict the logarithm of the target."
    return [finding("skewed-target", "info", [str(data.target_name)], message, remedy)]


def target_outliers(data: CheckData) -> list[dict[str, Any]]:
    """Outliers of a continuous target."""
    if data.target is None or data.target_values is None:
        return []
    n, extreme = count_outliers(data.target_values, data.target)
    if n == 0:
        return []
    values = f"{n:,} value{'s' * (n != 1)}"
    message = f"The target has {values} further than 20 interquartile ranges from the quartiles, such as {extreme:g}."
    remedy = "Squared errors follow the largest values: correct or drop these rows, or predict a logarithm or rank."
    return [finding("outlier", "warning", [str(data.target_name)], message, remedy)]
