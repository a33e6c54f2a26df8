"""Greedy selection, column by column: matching pursuit and forward stepwise least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.explore.fields import Field, NumberField
from mercer.explore.panels import Topic, answered, bars, lines, series
from mercer.explore.source_text import program
from mercer.explore.topics.designs import DESIGN, design, design_call, names_of
from mercer.select import GreedySelector, OrthogonalMatchingPursuit

FIELDS: dict[str, Field] = {
    **DESIGN,
    "t": NumberField("Step", 2, low=0, high=12, step=1, whole=True),
}


def selection_scores(X: np.ndarray, y: np.ndarray, chosen: list) -> tuple[np.ndarray, np.ndarray]:
    """Scores <x, r>^2 / ||x||^2 and <x, r>^2 / ||u||^2 of all columns x, u = x less its projection on those chosen."""
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    Q = np.linalg.qr(Xc[:, chosen])[0] if chosen else np.zeros((len(y), 0))
    U, r = Xc - Q @ (Q.T @ Xc), yc - Q @ (Q.T @ yc)
    squares = np.sum(U**2, axis=0)
    usable = squares > 1e-9 * np.sum(Xc**2, axis=0)
    pursuit = np.where(usable, (Xc.T @ r) ** 2 / np.sum(Xc**2, axis=0), 0.0)
    stepwise = np.where(usable, (Xc.T @ r) ** 2 / np.where(usable, squares, 1.0), 0.0)
    return pursuit, stepwise


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return the scores at a step, the risk along both paths, and the weights so far."""
    X, y, w = design(*(state[name] for name in DESIGN))
    steps = min(state["d"], 12)
    pursuit = OrthogonalMatchingPursuit(k=steps).fit(X, y)
    stepwise = GreedySelector(k=steps).fit(X, y)
    orders = [[int(j) for j in model.path_.feature] for model in (pursuit, stepwise)]
    t = min(state["t"], len(orders[0]))
    names = names_of(state["d"])
    scores = selection_scores(X, y, orders[0][:t])
    following = orders[0][t : t + 1]
    first = bars(
        f"Scores before step {t + 1}",
        names,
        {"matching pursuit": scores[0] / len(y), "forward stepwise": scores[1] / len(y)},
        y="decrease of the error",
        highlight=following,
        text=f"Next: {names[following[0]]}." if following else "All columns are chosen.",
    )
    curves = [
        series("matching pursuit", np.arange(1, len(pursuit.path_) + 1), pursuit.path_.risk, "line", 0),
        series("forward stepwise", np.arange(1, len(stepwise.path_) + 1), stepwise.path_.risk, "dash", 1),
    ]
    second = lines("Mean squared error after each step", curves, "columns chosen", "error", marks=[(t, "now")])
    weights = _least_squares(X, y, orders[0][:t])
    third = bars("Weights so far", names, {"true": w, "chosen": weights})
    shown = [", ".join(names[j] for j in order[:6]) for order in orders]
    text = f"Matching pursuit: {shown[0]}. Forward stepwise: {shown[1]}."
    return {**answered(first, second, third, result=pursuit.path_.risk, text=text), "steps": len(orders[0])}


def _least_squares(X: np.ndarray, y: np.ndarray, chosen: list[int]) -> np.ndarray:
    w = np.zeros(X.shape[1])
    if chosen:
        w[chosen] = GreedySelector(k=len(chosen)).fit(X[:, chosen], y).coef_
    return w


def code(state: dict[str, Any]) -> str:
    """Return the program; `result` are the errors along the path."""
    body = [
        f"X, y, w = {design_call(state)}",
        f"pursuit = OrthogonalMatchingPursuit(k={min(state['d'], 12)}).fit(X, y)",
        "result = pursuit.path_.risk",
        "print(pursuit.path_.feature, result)",
    ]
    return program(*body, imports=["from mercer import OrthogonalMatchingPursuit"], functions=[design])


TOPIC = Topic("Greedy selection", FIELDS, answer, code)
