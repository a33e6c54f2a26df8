"""Curves through points: polynomials, kernel least squares and kernel ridge regression in one dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.explore.expressions import Call, import_lines
from mercer.explore.fields import ChoiceField, Field, NumberField, RequestError
from mercer.explore.kernel_terms import KernelField, functions_of, kernel_expression
from mercer.explore.numbers import shown
from mercer.explore.panels import Topic, answered, bars, lines, series
from mercer.explore.source_text import program

FIELDS: dict[str, Field] = {
    "n": NumberField("Number of points", 15, low=2, high=60, step=1, whole=True),
    "noise": NumberField("Noise", 0.15, low=0.0, high=1.0, step=0.01),
    "seed": NumberField("Seed", 0, low=0, high=999, step=1, whole=True),
    "gap": NumberField("Gap without points", 0.0, low=0.0, high=1.6, step=0.05),
    "model": ChoiceField(
        "Model", "polynomial", options=(("polynomial", "polynomial of degree k"), ("kernel", "kernel"))
    ),
    "degree": NumberField("Degree k", 3, low=1, high=15, step=1, whole=True, only=("model", ("polynomial",))),
    "kernel": KernelField(
        "Kernel",
        ((("name", "Gaussian"), ("operation", "+"), ("weight", 1.0), ("bandwidth", 0.2)),),
        only=("model", ("kernel",)),
    ),
    "alpha": NumberField("Penalty α", 1e-3, low=1e-8, high=100.0, log=True),
    "exact": ChoiceField(
        "Fit",
        "ridge",
        options=(("ridge", "with the penalty"), ("least squares", "kernel least squares, α = 0")),
        only=("model", ("kernel",)),
    ),
}


def curve_points(n: int, noise: float, seed: int, gap: float) -> tuple[np.ndarray, np.ndarray]:
    """Points of sin(3x) on [-1, 1] with noise; none within gap / 2 of x = 0.2."""
    rng = np.random.default_rng(seed)
    x = -1 + 2 * (np.arange(n) + rng.uniform(0.1, 0.9, n)) / n
    x = np.where(np.abs(x - 0.2) < gap / 2, np.where(x < 0.2, x - gap / 2, x + gap / 2), x).round(3)
    return x[:, None], (np.sin(3 * x) + noise * rng.normal(size=n)).round(3)


def model_of(state: dict[str, Any]) -> Call:
    """Return the model as an expression."""
    if state["model"] == "kernel":
        alpha = 0 if state["exact"] == "least squares" else state["alpha"]
        return Call("KernelRegressor", (kernel_expression(state["kernel"]),), {"alpha": alpha})
    lifted = Call("PolynomialLift", (state["degree"],), {"include_bias": False})
    ridge = Call("RidgeRegressor", (), {"alpha": state["alpha"]})
    return Call("make_pipeline", (lifted, ridge), home="sklearn.pipeline")


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return the curve with its points, and the weights."""
    X, y = curve_points(state["n"], state["noise"], state["seed"], state["gap"])
    try:
        model = model_of(state).build().fit(X, y)
    except ValueError as error:
        raise RequestError(f"This fit is not possible: {error}") from None
    wide = np.linspace(-1.5, 1.5, 241)
    fitted = model.predict(wide[:, None])
    low, high = float(y.min()) - 0.5, float(y.max()) + 0.5
    curves = [
        series("sin(3x), without noise", wide, np.sin(3 * wide), "dash", 2),
        series("fit", wide, np.clip(fitted, low - 5, high + 5), "line", 0),
        series("points", X[:, 0], y, "points", 1),
    ]
    picture = lines("Fit", curves, "x", "y", y_range=(low, high))
    result = model.predict(X)
    fresh = np.linspace(-1, 1, 201)
    test = float(np.mean((model.predict(fresh[:, None]) - np.sin(3 * fresh)) ** 2))
    text = (
        f"Mean squared error: {shown(np.mean((result - y) ** 2))} on the points, {test:.3g} against sin(3x) on [-1, 1]."
    )
    return answered(picture, _weights(state, model), result=result, text=text)


def _weights(state: dict[str, Any], model: Any) -> dict[str, Any]:
    if state["model"] == "kernel":
        values = np.ravel(model.dual_coef_)
        norm = float(np.sqrt(max(values @ model.kernel_(model.X_fit_) @ values, 0.0)))
        names = [str(i + 1) for i in range(len(values))]
        return bars("Coefficients of the points", names, {"a": values}, text=f"‖f‖ = {norm:.3g}")
    values = np.ravel(model[-1].coef_)
    names = ["1", *(f"x{_POWERS[i + 1] if i else ''}" for i in range(len(values)))]
    return bars("Weights of the monomials", names, {"w": np.concatenate([[model[-1].intercept_], values])})


_POWERS = [*"⁰¹²³⁴⁵⁶⁷⁸⁹", "¹⁰", "¹¹", "¹²", "¹³", "¹⁴", "¹⁵"]


def code(state: dict[str, Any]) -> str:
    """Return the program; `result` are the values of the fit at the points."""
    model = model_of(state)
    functions = functions_of(state["kernel"]) if state["model"] == "kernel" else []
    given = f"{state['n']}, {state['noise']!r}, {state['seed']}, {state['gap']!r}"
    body = [f"X, y = curve_points({given})", f"model = {model.code()}.fit(X, y)", "result = model.predict(X)"]
    return program(*body, imports=import_lines(model), functions=[curve_points, *functions])


TOPIC = Topic("Curves through points", FIELDS, answer, code)
