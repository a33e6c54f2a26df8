"""Which feature is better depends on the class of hypotheses."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.explore.fields import Field, NumberField
from mercer.explore.panels import Topic, answered, bars, lines, series
from mercer.explore.source_text import program
from mercer.select import compare_hypotheses

FIELDS: dict[str, Field] = {
    "n": NumberField("Rows", 200, low=30, high=1000, step=10, whole=True),
    "width": NumberField("Error of x2", 0.01, low=0.0, high=1.0, step=0.01),
    "shift": NumberField("Mean of x1", 0.0, low=-1.0, high=1.0, step=0.05),
    "seed": NumberField("Seed", 0, low=0, high=999, step=1, whole=True),
}


def two_features(n: int, width: float, shift: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """x1 uniform around the shift, y = x1^2, and x2 = y up to an error of at most the width."""
    rng = np.random.default_rng(seed)
    x1 = shift + rng.uniform(-1, 1, n)
    y = x1**2
    return np.column_stack([x1, y + width * rng.uniform(-1, 1, n)]), y


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return the cross-validated R^2 of each feature for four classes of hypotheses, and both scatter plots."""
    X, y = two_features(*(state[name] for name in FIELDS))
    found = compare_hypotheses(X, y)
    first = bars(
        "R² of a single feature", found.columns, {"x1": found.scores[0], "x2": found.scores[1]}, y="cross-validated R²"
    )
    second = lines("y against x1", [series("rows", X[:, 0], y, "points", 0)], "x1", "y")
    third = lines("y against x2", [series("rows", X[:, 1], y, "points", 1)], "x2", "y")
    best = {column: ["x1", "x2"][int(np.argmax(found.scores[:2, j]))] for j, column in enumerate(found.columns)}
    text = f"Linear predictors prefer {best['linear']}, quadratic ones {best['quadratic']}."
    return answered(first, second, third, result=found.scores, text=text)


def code(state: dict[str, Any]) -> str:
    """Return the program; `result` are the scores."""
    given = ", ".join(repr(state[name]) for name in FIELDS)
    body = [
        f"X, y = two_features({given})",
        "result = compare_hypotheses(X, y).scores",
        "print(compare_hypotheses(X, y))",
    ]
    return program(*body, imports=["from mercer import compare_hypotheses"], functions=[two_features])


TOPIC = Topic("Which feature is better?", FIELDS, answer, code)
