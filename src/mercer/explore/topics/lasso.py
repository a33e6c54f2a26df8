"""The Lasso path: weights against the penalty."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.explore.fields import Field, NumberField
from mercer.explore.panels import Topic, answered, bars, lines, series
from mercer.explore.source_text import program
from mercer.explore.topics.designs import DESIGN, design, design_call, names_of
from mercer.linear import RidgeRegressor
from mercer.select import Lasso, lasso_path

FIELDS: dict[str, Field] = {**DESIGN, "alpha": NumberField("Penalty α", 0.3, low=1e-3, high=10.0, log=True)}


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return the path, the weights at one penalty beside those of ridge, and the cross-validated error."""
    X, y, w = design(*(state[name] for name in DESIGN))
    path = lasso_path(X, y, n_alphas=60)
    weights = np.asarray(path)
    names = names_of(state["d"])
    curves = [
        series(names[j] if w[j] else "", path.alphas, weights[:, j], "line" if w[j] else "thin", j)
        for j in range(state["d"])
    ]
    picture = lines("Weights along the path", curves, "penalty α", "weight", log_x=True, marks=[(state["alpha"], "α")])
    found = Lasso(alpha=state["alpha"]).fit(X, y)
    ridge = RidgeRegressor(alpha=2 * state["alpha"] * len(y)).fit(X, y)
    beside = {"true": w, "Lasso": found.coef_, "ridge": ridge.coef_}
    chosen = Lasso().fit(X, y)
    losses = chosen.path_.losses
    panels = [picture, bars("Weights at α", names, beside)]
    if losses is not None:
        error = series("cross-validated error", chosen.path_.alphas, losses)
        marks = [(chosen.alpha_, "best"), (state["alpha"], "α")]
        panels.append(lines("Error of prediction", [error], "penalty α", "mean squared error", log_x=True, marks=marks))
    count = int(np.count_nonzero(found.coef_))
    text = (
        f"At α = {state['alpha']:.3g} the Lasso keeps {count} of {state['d']} columns (ridge: all); the duality gap is "
        f"{found.dual_gap_:.1e}. Columns enter in the order {', '.join(names[j] for j in path.entered()[:8])}."
    )
    return answered(*panels, result=found.coef_, text=text)


def code(state: dict[str, Any]) -> str:
    """Return the program; `result` are the weights at the penalty."""
    body = [
        f"X, y, w = {design_call(state)}",
        "path = lasso_path(X, y, n_alphas=60)",
        f"result = Lasso(alpha={state['alpha']!r}).fit(X, y).coef_",
        "print(path.entered(), result)",
    ]
    return program(*body, imports=["from mercer import Lasso, lasso_path"], functions=[design])


TOPIC = Topic("The Lasso path", FIELDS, answer, code)
