"""Validation of the parameters of greedy selections, and columns given by index or name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mercer._runtime.checks import check_whole

_CHOICES: dict[str, tuple] = {
    "loss": ("squared", "logistic", "hinge", "exponential"),
    "step": ("refit", "line", "gradient"),
    "stop": (None, "folds", "bic", "aic"),
    "solver": ("auto", "gram", "rows"),
    "target": ("auto", "numbers", "classes"),
}

#: Contradictory combinations: a test of the selector and of whether its candidates are columns, and the message.
_CONTRADICTIONS = [
    (
        lambda s, columns: not s.refit and s.step == "refit",
        "step='refit' scores by refits, so refit=False contradicts it. Use step='line' or 'gradient'.",
    ),
    (
        lambda s, columns: not s.refit and (s.groups is not None or len(s.include)),
        "include and groups need refit=True: without refits one weight changes at a time.",
    ),
    (
        lambda s, columns: s.interactions == 2 and s.candidates not in (None, "pairs"),
        "interactions=2 means candidates='pairs', and candidates is something else: leave interactions at 1.",
    ),
    (
        lambda s, columns: s.groups is not None and not columns,
        "groups and interactions=2 or candidates cannot be combined: groups are of columns.",
    ),
    (
        lambda s, columns: s.target == "numbers" and s.loss != "squared",
        "The logistic, hinge and exponential losses are for classes; for target='numbers' use loss='squared'.",
    ),
    (
        lambda s, columns: s.groups is not None and s.step == "line" and s.loss != "squared",
        "step='line' has no single line to search along for a group. Use step='gradient' or 'refit' with groups.",
    ),
    (
        lambda s, columns: s.loss == "hinge" and not s.fit_intercept,
        "loss='hinge' is fitted with an intercept: set fit_intercept=True.",
    ),
    (
        lambda s, columns: s.stop in ("bic", "aic") and s.loss in ("hinge", "exponential"),
        "The hinge and exponential losses are not likelihoods and have no information criterion. Use stop='folds'.",
    ),
    (
        lambda s, columns: s.solver == "gram" and (s.loss != "squared" or not columns),
        "solver='gram' supports only the squared loss of single columns: use solver='auto'.",
    ),
]


def check_greedy(selector: Any, columns: bool) -> None:
    """Refuse parameters outside their choices and contradictory combinations; `columns`: candidates are columns."""
    for name, choices in _CHOICES.items():
        if getattr(selector, name) not in choices:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {getattr(selector, name)!r}.")
    _check_interactions(selector.interactions)
    given = selector.candidates
    if given not in (None, "pairs", "quadratic") and (isinstance(given, type) or not hasattr(given, "transform")):
        raise ValueError(
            "candidates must be None, 'pairs', 'quadratic' or a lift with fit and transform, such as "
            f"PolynomialLift(3), not {given!r}."
        )
    check_whole("k", selector.k)
    check_whole("n_folds", selector.n_folds, 2)
    if not isinstance(selector.alpha, (int, float, np.number)) or not 0 < float(selector.alpha) < np.inf:
        raise ValueError(f"alpha must be a positive number, not {selector.alpha!r}.")
    for contradicts, message in _CONTRADICTIONS:
        if contradicts(selector, columns):
            raise ValueError(message)


def _check_interactions(interactions: Any) -> None:
    if isinstance(interactions, (bool, np.bool_)):
        raise TypeError(
            f"interactions must be 1 or 2, not {interactions!r}: it is the number of columns in a product. Use "
            "interactions=2 for products of pairs, interactions=1 for columns only."
        )
    if interactions not in (1, 2):
        raise ValueError(
            f"interactions must be 1 or 2, not {interactions!r}. For products of more columns use "
            "candidates=PolynomialLift(3, interaction_only=True)."
        )


def include_indices(columns: Iterable[Any], names: Iterable[str] | None, n_columns: int) -> list[int]:
    """Return the indices of columns given by index or name, each once."""
    known = {} if names is None else {name: j for j, name in enumerate(names)}
    found: list[int] = []
    for column in columns:
        j = known.get(column, column)
        if not isinstance(j, (int, np.integer)) or not 0 <= j < n_columns:
            raise ValueError(f"include names {column!r}, but X has {n_columns} feature(s), numbered from 0.")
        if j not in found:
            found.append(int(j))
    return found


def group_members(labels: Any, n_columns: int) -> tuple[np.ndarray | None, list[np.ndarray] | None]:
    """Return the labels of the groups in sorted order, and the columns of each; None without groups."""
    if labels is None:
        return None, None
    if len(labels) != n_columns:
        raise ValueError(f"groups must name the group of each of {n_columns} columns, got {len(labels)} names.")
    names, code = np.unique(np.asarray(labels), return_inverse=True)
    return names, [np.flatnonzero(code == g) for g in range(len(names))]
