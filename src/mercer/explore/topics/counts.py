"""Numbers of multiplications: explicit features against the kernel trick."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.explore.fields import Field, NumberField
from mercer.explore.panels import Topic, answered, lines, series, table
from mercer.explore.source_text import program

FIELDS: dict[str, Field] = {
    "d": NumberField("Raw features d", 784, low=2, high=5000, step=1, whole=True, log=True),
    "n": NumberField("Training points N", 1000, low=2, high=100_000, step=1, whole=True, log=True),
    "support": NumberField("Points with α ≠ 0", 200, low=1, high=100_000, step=1, whole=True, log=True),
}


def quadratic_features(d: int) -> int:
    """Number of monomials of degree at most 2 in d variables."""
    return 1 + 2 * d + d * (d - 1) // 2


def update_counts(d: int, n: int, steps: np.ndarray) -> np.ndarray:
    """Multiplications of T steps: ordinary, special with given features, special with the kernel (1 + <x, z>)^2."""
    p = quadratic_features(d)
    pairs = n * (n + 1) / 2
    return np.stack([2.0 * p * steps, p * pairs + n * steps, (d + 1) * pairs + n * steps])


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return the counts of one prediction and of T updates."""
    d, n, support = state["d"], state["n"], min(state["support"], state["n"])
    p = quadratic_features(d)
    steps = np.geomspace(1, 1e9, 55)
    ordinary, special, closed = update_counts(d, n, steps)
    curves = [
        series("ordinary: 2pT", steps, ordinary, "line", 0),
        series("special, features given: pN(N+1)/2 + NT", steps, special, "dash", 1),
        series("special, kernel trick: (d+1)N(N+1)/2 + NT", steps, closed, "line", 2),
    ]
    training = lines("T updates", curves, "T", "multiplications", log_x=True, log_y=True)
    rows = [
        ["⟨φ(x), φ(z)⟩ from the features", f"p = {p:,}"],
        ["the same by (1 + ⟨x, z⟩)²", f"d + 1 = {d + 1:,}"],
        ["prediction with w", f"p = {p:,}"],
        ["prediction with α", f"{support:,} × (d + 1) = {support * (d + 1):,}"],
    ]
    single = table("One inner product and one prediction", ["what", "multiplications"], rows)
    text = (
        f"d = {d} gives p = {p:,} quadratic features. The kernel perceptron predicts faster than w while fewer than "
        f"{p // (d + 1):,} points have α ≠ 0."
    )
    return answered(training, single, result=[ordinary, special, closed], text=text)


def code(state: dict[str, Any]) -> str:
    """Return the program; `result` are the three counts for each number of steps."""
    body = ["steps = np.geomspace(1, 1e9, 55)", f"result = update_counts({state['d']}, {state['n']}, steps)"]
    return program(*body, functions=[quadratic_features, update_counts])


TOPIC = Topic("What the kernel trick costs", FIELDS, answer, code)
