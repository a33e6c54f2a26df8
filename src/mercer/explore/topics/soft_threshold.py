"""The Lasso in one dimension: soft thresholding, beside ridge regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.explore.fields import Field, NumberField
from mercer.explore.panels import Topic, answered, lines, series
from mercer.explore.source_text import program

FIELDS: dict[str, Field] = {
    "x": NumberField("Covariance x of feature and target", 1.0, low=-3.0, high=3.0, step=0.05),
    "penalty": NumberField("Penalty λ", 0.6, low=0.0, high=3.0, step=0.05),
}


def one_column(x: float) -> tuple[np.ndarray, np.ndarray]:
    """A centered column with mean square 1 and a target whose mean product with it is x."""
    column = np.array([1.0, -1.0, 1.0, -1.0])
    return column[:, None], x * column


def lasso_weight(x: float, penalty: float) -> float:
    """The weight of the Lasso on that column."""
    from mercer import Lasso

    X, y = one_column(x)
    return float(Lasso(alpha=penalty).fit(X, y).coef_[0]) if penalty > 0 else x


def ridge_weight(x: float, penalty: float) -> float:
    """The weight of (1/2m) sum of squares + penalty w^2: ridge with alpha = 2 m penalty."""
    from mercer import RidgeRegressor

    X, y = one_column(x)
    return float(RidgeRegressor(alpha=2 * len(y) * penalty).fit(X, y).coef_[0])


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return both weights as functions of x, and the objective at the current x."""
    x, penalty = state["x"], state["penalty"]
    # Both weights are linear between these points.
    axis = np.unique([-3.0, -penalty, 0.0, penalty, 3.0, x])
    soft = np.array([lasso_weight(each, penalty) for each in axis])
    ridge = np.array([ridge_weight(each, penalty) for each in axis])
    curves = [
        series("least squares: x", axis, axis, "dash", 2),
        series("Lasso: sign(x)[|x| − λ]₊", axis, soft, "line", 0),
        series("ridge: x/(1 + 2λ)", axis, ridge, "line", 1),
    ]
    here = [lasso_weight(x, penalty), ridge_weight(x, penalty)]
    first = lines("The weight as a function of x", curves, "x", "w", marks=[(x, "x")])
    w = np.linspace(-3, 3, 121)
    objectives = [
        series("½w² − xw + λ|w|", w, 0.5 * w**2 - x * w + penalty * np.abs(w), "line", 0),
        series("½w² − xw + λw²", w, 0.5 * w**2 - x * w + penalty * w**2, "line", 1),
    ]
    marks = [(here[0], "Lasso"), (here[1], "ridge")]
    second = lines("The objective at this x", objectives, "w", "objective", marks=marks)
    text = f"Lasso: w = {here[0]:.4g}, zero while |x| ≤ λ. Ridge: w = {here[1]:.4g}, zero only at x = 0."
    return answered(first, second, result=here, text=text)


def code(state: dict[str, Any]) -> str:
    """Return the program; `result` are the weights of the Lasso and of ridge regression."""
    given = f"{state['x']!r}, {state['penalty']!r}"
    body = [f"result = [lasso_weight({given}), ridge_weight({given})]", "print(result)"]
    return program(*body, functions=[one_column, lasso_weight, ridge_weight])


TOPIC = Topic("Soft thresholding", FIELDS, answer, code)
