"""Least squares fooled by rare large values, and cured (or hurt) by clipping."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.explore.fields import ChoiceField, Field, NumberField
from mercer.explore.numbers import shown
from mercer.explore.panels import Topic, answered, bars, lines, series
from mercer.explore.source_text import program

FIELDS: dict[str, Field] = {
    "a": NumberField("Size a of the large values", 30.0, low=1.0, high=200.0, log=True),
    "example": ChoiceField(
        "Meaning of large values",
        "sign",
        options=(("sign", "none: only the sign of x matters"), ("value", "real: y = x")),
    ),
    "bound": NumberField("Bound of clipping", 1.0, low=0.1, high=200.0, log=True),
    "n": NumberField("Rows", 2000, low=100, high=4000, step=100, whole=True),
    "seed": NumberField("Seed", 0, low=0, high=999, step=1, whole=True),
}


def rare_large_values(n: int, a: float, example: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """s uniform on {-1, 1}; x = s, or a s with probability 1/a; the target is s, or x itself."""
    rng = np.random.default_rng(seed)
    s = rng.choice([-1.0, 1.0], size=n)
    x = np.where(rng.uniform(size=n) < 1 / a, a * s, s)
    return x[:, None], s if example == "sign" else x


def weight_and_error(X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Weight and mean squared error of least squares without intercept."""
    from mercer import GreedySelector

    model = GreedySelector(k=1, fit_intercept=False).fit(X, y)
    return float(model.coef_[0]), float(np.mean((model.predict(X) - y) ** 2))


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return the weight and the error against a, with and without clipping."""
    from mercer.normalize import Clip

    X, y = rare_large_values(state["n"], state["a"], state["example"], state["seed"])
    raw = weight_and_error(X, y)
    clipped = weight_and_error(Clip(bound=state["bound"]).fit_transform(X), y)
    sizes = np.geomspace(1, 200, 25)
    best = (2 * sizes - 1) / (sizes**2 + sizes - 1)
    curves = [series("w* = (2a − 1)/(a² + a − 1)", sizes, best, "line", 0)]
    marks = [(state["a"], "a")]
    first = lines("The best weight without clipping (y = ±1)", curves, "a", "w*", log_x=True, marks=marks)
    second = bars("Mean squared error", ["as is", "clipped"], {"error": [raw[1], clipped[1]]})
    values = np.sort(np.unique(X))
    fits = [
        series("as is: w x", values, raw[0] * values, "line", 1),
        series("clipped", values, clipped[0] * np.clip(values, -state["bound"], state["bound"]), "line", 0),
        series("rows", X[:300, 0], y[:300], "points", 2),
    ]
    third = lines("Predictions", fits, "x", "y")
    text = (
        f"As is: w = {raw[0]:.3g}, error {shown(raw[1])}. Clipped at {state['bound']:g}: w = {clipped[0]:.3g}, "
        f"error {shown(clipped[1])}."
    )
    return answered(third, second, first, result=[*raw, *clipped], text=text)


def code(state: dict[str, Any]) -> str:
    """Return the program; `result` are weight and error without and with clipping."""
    given = f"{state['n']}, {state['a']!r}, {state['example']!r}, {state['seed']}"
    body = [
        f"X, y = rare_large_values({given})",
        f"clipped = Clip(bound={state['bound']!r}).fit_transform(X)",
        "result = [*weight_and_error(X, y), *weight_and_error(clipped, y)]",
        "print(result)",
    ]
    return program(*body, imports=["from mercer import Clip"], functions=[rare_large_values, weight_and_error])


TOPIC = Topic("Outliers and clipping", FIELDS, answer, code)
