"""Filters that score one column at a time, and a pair that they do not see."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.explore.fields import ChoiceField, Field, NumberField
from mercer.explore.panels import Topic, answered, bars, lines, series, table
from mercer.explore.source_text import program
from mercer.select import FilterSelector, GreedySelector

SCORES = ("pearson", "spearman", "mutual_information", "pair_information")
FIELDS: dict[str, Field] = {
    "example": ChoiceField(
        "Target",
        "sum",
        options=(
            ("sum", "y = x1 + 2 x2, blind to x1"),
            ("product", "y = sign(x1 x2), blind to both"),
            ("square", "y = x1²"),
        ),
    ),
    "n": NumberField("Rows", 400, low=60, high=2000, step=20, whole=True),
    "others": NumberField("Columns of noise", 4, low=0, high=10, step=1, whole=True),
    "seed": NumberField("Seed", 0, low=0, high=999, step=1, whole=True),
}


def pair_example(example: str, n: int, others: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two columns that matter together, columns of noise, and the target."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n, others))
    if example == "sum":
        # All four pairs of signs equally often: the correlation of x1 and y is exactly zero.
        pairs = rng.permutation(np.arange(n) % 4)
        x1, z = np.where(pairs < 2, 1.0, -1.0), np.where(pairs % 2, 1.0, -1.0)
        X = np.column_stack([x1, (z - x1) / 2, noise])
        return X, X[:, 0] + 2 * X[:, 1]
    X = np.column_stack([rng.uniform(-1, 1, size=(n, 2)), noise])
    return X, np.sign(X[:, 0] * X[:, 1]) if example == "product" else X[:, 0] ** 2


def filter_scores(X: np.ndarray, y: np.ndarray, names: list) -> np.ndarray:
    """Scores of the columns, one row per filter."""
    from mercer import FilterSelector

    return np.array([FilterSelector(score=name, k=2).fit(X, y).scores_ for name in names])


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return the scores of four filters, the points of the pair, and what greedy selection finds."""
    X, y = pair_example(state["example"], state["n"], state["others"], state["seed"])
    names = [f"x{j + 1}" for j in range(X.shape[1])]
    found = filter_scores(X, y, list(SCORES))
    labels = ["|Pearson|", "|Spearman|", "mutual information", "in pairs"]
    first = bars("Scores of single columns", names, dict(zip(labels, found, strict=True)))
    positive = y > np.median(y)
    rng = np.random.default_rng(0)
    shown = X[:, :2] + (0.08 * rng.normal(size=(len(y), 2)) if state["example"] == "sum" else 0.0)
    curves = [
        series("small y", shown[~positive, 0], shown[~positive, 1], "points", 0),
        series("large y", shown[positive, 0], shown[positive, 1], "points", 1),
    ]
    second = lines("The pair", curves, "x1", "x2")
    products = {"product": 2}.get(state["example"], 1)
    greedy = GreedySelector(k=2, interactions=products).fit(X, y)
    rows = [
        [label, names[int(np.argmax(each))], ", ".join(names[j] for j in np.argsort(-each, kind="stable")[:2])]
        for label, each in zip(labels, found, strict=True)
    ]
    chosen = [names[j] for j in np.flatnonzero(greedy.support_)]
    rows.append(["greedy selection" + (" with products" if products == 2 else ""), "", ", ".join(chosen)])
    third = table("What each would keep", ["method", "best", "two columns"], rows)
    correlation = FilterSelector(score="pearson", k=1).fit(X, y).scores_[0]
    explained = greedy.score(X, y)
    text = f"|Pearson correlation| of x1 and y: {correlation:.3f}. R² of greedy selection: {explained:.3f}."
    return answered(first, second, third, result=found, text=text)


def code(state: dict[str, Any]) -> str:
    """Return the program; `result` are the scores, one row per filter."""
    given = f"{state['example']!r}, {state['n']}, {state['others']}, {state['seed']}"
    body = [f"X, y = pair_example({given})", f"result = filter_scores(X, y, {list(SCORES)!r})", "print(result)"]
    return program(*body, functions=[pair_example, filter_scores])


TOPIC = Topic("Filters blind to a pair", FIELDS, answer, code)
