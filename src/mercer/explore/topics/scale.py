"""Ridge regression fooled by the scale of a column, and cured by standardizing."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.explore.fields import ChoiceField, Field, NumberField
from mercer.explore.panels import Topic, answered, bars, lines, series
from mercer.explore.source_text import program

FIELDS: dict[str, Field] = {
    "scale": NumberField("Scale of x2 = scale · y", 1e-4, low=1e-6, high=1.0, log=True),
    "penalty": NumberField("Penalty λ of the mean loss", 1e-4, low=1e-12, high=1.0, log=True),
    "normalize": ChoiceField(
        "Normalization",
        "Standardize",
        options=(("Standardize", "standardize"), ("UnitRange", "unit range"), ("Center", "center only")),
    ),
    "n": NumberField("Rows", 200, low=20, high=1000, step=10, whole=True),
    "seed": NumberField("Seed", 0, low=0, high=999, step=1, whole=True),
}


def noisy_and_exact(n: int, scale: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """x1 = y + a/2 with y and a uniform on {-1, 1}, and x2 = scale * y, which knows y exactly."""
    y, a = np.random.default_rng(seed).choice([-1.0, 1.0], size=(2, n))
    return np.column_stack([y + a / 2, scale * y]), y


def ridge_before_and_after(X: np.ndarray, y: np.ndarray, penalty: float, normalizer: Any) -> np.ndarray:
    """Weights and mean squared error of (1/m)||Xw - y||^2 + penalty ||w||^2, without and with normalization."""
    from mercer import RidgeRegressor

    rows = []
    for Z in (X, normalizer.fit_transform(X)):
        model = RidgeRegressor(alpha=penalty * len(y)).fit(Z, y)
        rows.append([*model.coef_, np.mean((model.predict(Z) - y) ** 2)])
    return np.array(rows)


def _normalizer(name: str) -> Any:
    from mercer import normalize

    return getattr(normalize, name)()


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return the error against the penalty before and after, and the fraction of each prediction due to each column."""
    X, y = noisy_and_exact(state["n"], state["scale"], state["seed"])
    here = ridge_before_and_after(X, y, state["penalty"], _normalizer(state["normalize"]))
    penalties = np.geomspace(1e-12, 1, 19)
    errors = np.array([ridge_before_and_after(X, y, each, _normalizer(state["normalize"]))[:, 2] for each in penalties])
    curves = [
        series("as is", penalties, errors[:, 0], "line", 1),
        series("normalized", penalties, errors[:, 1], "line", 0),
    ]
    first = lines(
        "Mean squared error",
        curves,
        "penalty λ",
        "error",
        log_x=True,
        marks=[(state["penalty"], "λ")],
        y_range=(0.0, 1.05),
    )
    Z = _normalizer(state["normalize"]).fit_transform(X)
    parts = [np.abs(here[0, :2]) * X.std(axis=0), np.abs(here[1, :2]) * Z.std(axis=0)]
    second = bars(
        "Standard deviation of w·x per column",
        ["x1 (noisy)", "x2 (exact)"],
        {"as is": parts[0], "normalized": parts[1]},
    )
    text = (
        f"As is: w = ({here[0, 0]:.3g}, {here[0, 1]:.3g}), error {here[0, 2]:.3g}. "
        f"Normalized: w = ({here[1, 0]:.3g}, {here[1, 1]:.3g}), error {here[1, 2]:.3g}."
    )
    return answered(first, second, result=here, text=text)


def code(state: dict[str, Any]) -> str:
    """Return the program; `result` are weights and error without and with normalization."""
    body = [
        f"X, y = noisy_and_exact({state['n']}, {state['scale']!r}, {state['seed']})",
        f"result = ridge_before_and_after(X, y, {state['penalty']!r}, {state['normalize']}())",
        "print(result)",
    ]
    imports = [f"from mercer import {state['normalize']}"]
    return program(*body, imports=imports, functions=[noisy_and_exact, ridge_before_and_after])


TOPIC = Topic("Ridge fooled by scale", FIELDS, answer, code)
