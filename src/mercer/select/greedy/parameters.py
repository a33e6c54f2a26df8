"""What greedy selections accept: one place for the refusals, and columns by number or name."""

from __future__ import annotations

import numpy as np

from mercer._runtime.checks import check_whole

_CHOICES = {
    "loss": ("squared", "logistic", "hinge", "exponential"),
    "step": ("refit", "line", "gradient"),
    "interactions": (1, 2),
    "stop": (None, "folds", "bic", "aic"),
    "solver": ("auto", "gram", "rows"),
    "target": ("auto", "numbers", "classes"),
}

#: Combinations that mean nothing: a test of the selector, and what to say.
_CONTRADICTIONS = [
    (
        lambda s: not s.refit and s.step == "refit",
        "step='refit' judges by refits, so refit=False contradicts it. Use step='line' or 'gradient'.",
    ),
    (
        lambda s: not s.refit and (s.groups is not None or len(s.include)),
        "include and groups need refit=True: without refits one weight moves at a time.",
    ),
    (
        lambda s: s.interactions == 2 and s.candidates not in (None, "pairs"),
        "interactions=2 says candidates='pairs', and candidates says something else: leave interactions at 1.",
    ),
    (
        lambda s: s.groups is not None and s._kind is not None,
        "groups and interactions=2 or candidates cannot be combined: groups are of columns.",
    ),
    (
        lambda s: s.target == "numbers" and s.loss != "squared",
        "The logistic, hinge and exponential losses are for classes; for numbers use loss='squared'.",
    ),
    (
        lambda s: s.groups is not None and s.step == "line" and s.loss != "squared",
        "A group has no single line to search along. Use step='gradient' or 'refit' with groups.",
    ),
    (
        lambda s: s.loss == "hinge" and not s.fit_intercept,
        "The hinge loss is fitted with an intercept: set fit_intercept=True.",
    ),
    (
        lambda s: s.stop in ("bic", "aic") and s.loss in ("hinge", "exponential"),
        "The hinge and exponential losses are no likelihoods, so they have no information criterion. Use stop='folds'.",
    ),
    (
        lambda s: s.solver == "gram" and (s.loss != "squared" or s._kind is not None),
        "A Gram matrix tells the squared loss of single columns only: use solver='auto'.",
    ),
]


def check_greedy(selector) -> None:
    """Refuse parameters outside of their choices, and contradictions between them."""
    for name, choices in _CHOICES.items():
        if getattr(selector, name) not in choices:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {getattr(selector, name)!r}.")
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
        if contradicts(selector):
            raise ValueError(message)


def column_numbers(columns, names, n_columns: int) -> list[int]:
    """Columns given by number or name, as numbers, each once."""
    known = {} if names is None else {name: j for j, name in enumerate(names)}
    found = []
    for column in columns:
        j = known.get(column, column)
        if not isinstance(j, (int, np.integer)) or not 0 <= j < n_columns:
            raise ValueError(f"include names {column!r}, but X has {n_columns} feature(s), numbered from 0.")
        if j not in found:
            found.append(int(j))
    return found


def groups_of(labels, n_columns: int) -> tuple[np.ndarray | None, list[np.ndarray] | None]:
    """The labels of the groups in sorted order, and the columns of each; None where there are no groups."""
    if labels is None:
        return None, None
    if len(labels) != n_columns:
        raise ValueError(f"groups must name the group of each of {n_columns} columns, got {len(labels)} names.")
    names, place = np.unique(np.asarray(labels), return_inverse=True)
    return names, [np.flatnonzero(place == g) for g in range(len(names))]
