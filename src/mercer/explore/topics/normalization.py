"""A skewed column before and after each normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.explore.expressions import Call, import_lines
from mercer.explore.fields import ChoiceField, Field, NumberField
from mercer.explore.panels import Topic, answered, lines, series
from mercer.explore.source_text import program

FIELDS: dict[str, Field] = {
    "map": ChoiceField(
        "Transformation",
        "Log",
        options=(
            ("Center", "center"),
            ("UnitRange", "unit range"),
            ("Standardize", "standardize"),
            ("Clip", "clip"),
            ("Sigmoid", "sigmoid"),
            ("Log", "logarithm"),
            ("Quantile", "quantiles"),
        ),
    ),
    "b": NumberField("Parameter b", 1.0, low=0.1, high=10.0, log=True, only=("map", ("Clip", "Sigmoid", "Log"))),
    "skew": NumberField("Skewness of the column", 1.0, low=0.0, high=2.0, step=0.1),
    "seed": NumberField("Seed", 0, low=0, high=999, step=1, whole=True),
}
_PARAMETER = {"Clip": "bound", "Sigmoid": "slope", "Log": "offset"}


def skewed_column(skew: float, seed: int) -> np.ndarray:
    """Three hundred values from normal (skew 0) to lognormal."""
    z = np.random.default_rng(seed).normal(size=300)
    return (z if skew == 0 else (np.exp(skew * z) - 1) / skew)[:, None]


def map_of(state: dict[str, Any]) -> Call:
    """Return the transformer as an expression."""
    name = state["map"]
    if name == "Quantile":
        return Call(name, (), {"n_quantiles": 100})
    return Call(name, (), {_PARAMETER[name]: state["b"]} if name in _PARAMETER else {})


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return the values before and after, and both histograms."""
    X = skewed_column(state["skew"], state["seed"])
    Z = np.asarray(map_of(state).build().fit_transform(X))
    order = np.argsort(X[:, 0])
    first = lines("The transformation", [series("values", X[order, 0], Z[order, 0], "points", 0)], "before", "after")
    before, after = (f"mean {V.mean():.3g}, standard deviation {V.std():.3g}, largest {V.max():.3g}" for V in (X, Z))
    text = f"Before: {before}. After: {after}."
    return answered(first, _histogram("Before", X), _histogram("After", Z), result=Z, text=text)


def _histogram(title: str, values: np.ndarray) -> dict[str, Any]:
    counts, edges = np.histogram(values, bins=30)
    return lines(title, [series("rows", (edges[:-1] + edges[1:]) / 2, counts, "bars", 0)], "value", "rows")


def code(state: dict[str, Any]) -> str:
    """Return the program; `result` are the transformed values."""
    made = map_of(state)
    body = [f"X = skewed_column({state['skew']!r}, {state['seed']})", f"result = {made.code()}.fit_transform(X)[:, 0]"]
    return program(*body, imports=import_lines(made), functions=[skewed_column])


TOPIC = Topic("Normalizations", FIELDS, answer, code)
