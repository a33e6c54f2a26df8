"""Designs of the topics on selection: columns with a given correlation, few of which matter."""

from __future__ import annotations

import numpy as np

from mercer.explore.fields import Field, NumberField

DESIGN: dict[str, Field] = {
    "n": NumberField("Rows", 60, low=10, high=300, step=1, whole=True),
    "d": NumberField("Columns", 10, low=3, high=30, step=1, whole=True),
    "k": NumberField("Columns that matter", 3, low=1, high=8, step=1, whole=True),
    "correlation": NumberField("Correlation of neighbors", 0.3, low=0.0, high=0.95, step=0.05),
    "noise": NumberField("Noise", 0.5, low=0.0, high=3.0, step=0.1),
    "seed": NumberField("Seed", 0, low=0, high=999, step=1, whole=True),
}


def design(
    n: int, d: int, k: int, correlation: float, noise: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gaussian columns, each correlated with its neighbor; the weights 3, -2, 1.5, ... sit on k random ones."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    w = np.zeros(d)
    chosen = rng.permutation(d)[: min(k, d)]
    w[chosen] = (3.0 / (1 + 0.5 * np.arange(len(chosen)))) * np.where(np.arange(len(chosen)) % 2, -1, 1)
    return X, X @ w + noise * rng.normal(size=n), w


def design_call(state: dict) -> str:
    """Return the call of `design` as Python code."""
    return f"design({', '.join(repr(state[name]) for name in DESIGN)})"


def names_of(d: int) -> list[str]:
    """Return short names of the columns."""
    return [f"x{j + 1}" for j in range(d)]
