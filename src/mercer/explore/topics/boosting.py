"""AdaBoost as forward greedy selection of decision stumps."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mercer.explore.caught import caught_warnings
from mercer.explore.data_sets import GENERATORS
from mercer.explore.fields import ChoiceField, Field, NumberField
from mercer.explore.numbers import as_floats
from mercer.explore.panels import Topic, answered, lines, plane, series
from mercer.explore.plane.boundary import grid_points
from mercer.explore.plane.fitting import shown_limit
from mercer.explore.source_text import program
from mercer.select import AdaBoost

MAX_ROUNDS = 100
GRID = 61
FIELDS: dict[str, Field] = {
    "data": ChoiceField("Points", "circles", options=tuple((name, label) for name, (label, _) in GENERATORS.items())),
    "n": NumberField("Number of points", 120, low=10, high=300, step=1, whole=True),
    "noise": NumberField("Noise", 0.1, low=0.0, high=0.6, step=0.01),
    "seed": NumberField("Seed", 0, low=0, high=999, step=1, whole=True),
    "t": NumberField("Rounds", 10, low=1, high=MAX_ROUNDS, step=1, whole=True),
}


@lru_cache(maxsize=256)
def _boosted(data: str, n: int, noise: float, seed: int, rounds: int) -> Any:
    X, y = GENERATORS[data][1](n, noise, seed)
    with caught_warnings():  # rounds that end early
        return AdaBoost(n_rounds=rounds).fit(X, y)


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return the boundary after t rounds, and the objective log sum exp(-y f) along the way."""
    given = state["data"], state["n"], state["noise"], state["seed"]
    X, y = GENERATORS[state["data"]][1](*given[1:])
    model = _boosted(*given, state["t"])
    scores = model.decision_function(X)
    limit = shown_limit(X)
    grid = as_floats(model.decision_function(grid_points(limit, GRID)))
    rounds = [r for r in (1, 2, 3, 5, 8, 12, 18, 25, 35, 50, 70, 100) if r <= MAX_ROUNDS]
    margins = [y * _boosted(*given, r).decision_function(X) for r in rounds]
    risks = [float(np.log(np.mean(np.exp(-np.clip(each, -500, 500))))) for each in margins]
    errors = [float(np.mean(each <= 0)) for each in margins]
    marks = [(state["t"], "now")]
    return answered(
        plane(f"{state['t']} stumps", limit, np.column_stack([X, y]), grid, GRID),
        lines("R(w) = log mean exp(−y f)", [series("objective", rounds, risks)], "rounds", "objective", marks=marks),
        lines("Training error", [series("error", rounds, errors)], "rounds", "error", marks=marks, y_range=(0.0, 0.55)),
        result=scores,
        text=f"{np.mean(scores * y <= 0):.1%} of the points are on the wrong side after {state['t']} rounds.",
    )


def code(state: dict[str, Any]) -> str:
    """Return the program; `result` are the scores of the points."""
    given = f"{state['n']}, {state['noise']!r}, {state['seed']}"
    body = [
        f"X, y = {state['data']}({given})",
        f"result = AdaBoost(n_rounds={state['t']}).fit(X, y).decision_function(X)",
        'print("training error:", np.mean(result * y <= 0))',
    ]
    return program(*body, imports=["from mercer import AdaBoost"], functions=[GENERATORS[state["data"]][1]])


TOPIC = Topic("AdaBoost as greedy selection", FIELDS, answer, code)
