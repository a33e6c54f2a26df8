"""Finitely many features of an infinite kernel: partial sums of the exponential series."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.explore.fields import Field, NumberField
from mercer.explore.panels import Topic, answered, lines, series
from mercer.explore.source_text import program

FIELDS: dict[str, Field] = {
    "x": NumberField("x′", 1.5, low=-6.0, high=6.0, step=0.1),
    "z": NumberField("x″", 2.0, low=-6.0, high=6.0, step=0.1),
    "degree": NumberField("Degree of the Gaussian features in R³", 8, low=0, high=16, step=1, whole=True),
}


def partial_sums(x: float, z: float, n_features: int) -> np.ndarray:
    """Inner products of the first 1, 2, ... features phi_s(x) = x^s / sqrt(s!) of x and z."""
    terms = np.cumprod(np.concatenate([[1.0], x * z / np.arange(1, n_features)]))
    return np.cumsum(terms)


def gaussian_features(X: np.ndarray, degree: int) -> np.ndarray:
    """Features with <phi(x), phi(z)> = exp(-||x - z||^2) up to terms of higher degree: scaled monomials."""
    from scipy.special import gammaln

    from mercer import PolynomialLift

    monomials = PolynomialLift(degree).fit(X)
    powers = monomials.powers_
    logarithms = powers.sum(axis=1) * np.log(2) - gammaln(powers + 1.0).sum(axis=1)
    return np.exp(-np.sum(X**2, axis=1))[:, None] * np.exp(logarithms / 2) * monomials.transform(X)


def largest_errors(degree: int, radii: np.ndarray) -> np.ndarray:
    """Largest error of the kernel over pairs of 40 points in a ball of R^3, for each radius."""
    U = np.random.default_rng(0).normal(size=(40, 3))
    U /= np.linalg.norm(U, axis=1)[:, None]
    errors = []
    for radius in radii:
        X = radius * U
        F = gaussian_features(X, degree)
        exact = np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=2))
        errors.append(np.abs(F @ F.T - exact).max())
    return np.array(errors)


RADII = np.linspace(0.2, 3.0, 15)


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return partial sums against e^{x'x''}, and the error of the features in R^3 against the radius."""
    sums = partial_sums(state["x"], state["z"], 60)
    exact = float(np.exp(state["x"] * state["z"]))
    count = np.arange(1, 61)
    curves = [
        series("first F features", count, sums, "line", 0),
        series("exp(x′x″)", count, np.full(60, exact), "dash", 1),
    ]
    first = lines("⟨φ(x′), φ(x″)⟩ with F features x^s/√s!", curves, "F", "similarity")
    errors = largest_errors(state["degree"], RADII)
    n_features = (state["degree"] + 1) * (state["degree"] + 2) * (state["degree"] + 3) // 6
    second = lines(
        f"{n_features} features of exp(−‖x − z‖²) in R³",
        [series("largest error", RADII, np.maximum(errors, 1e-17), "line", 0)],
        "radius of the points",
        "error",
        log_y=True,
        text="Close to the origin 969 features (degree 16) are exact up to rounding; far from it no 1000 features are.",
    )
    text = f"exp(x′x″) = {exact:.6g}; 60 features give {sums[-1]:.6g}."
    return answered(first, second, result=sums, text=text)


def code(state: dict[str, Any]) -> str:
    """Return the program; `result` are the partial sums."""
    body = [
        f"result = partial_sums({state['x']!r}, {state['z']!r}, 60)",
        f"print(result[-1], np.exp({state['x']!r} * {state['z']!r}))",
        f"print(largest_errors({state['degree']}, np.linspace(0.2, 3.0, 15)))",
    ]
    return program(*body, functions=[partial_sums, gaussian_features, largest_errors])


TOPIC = Topic("A thousand features", FIELDS, answer, code)
