"""Steps of the perceptron and of gradient descent: the ordinary update of w and the special update of alpha."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mercer.expand import Landmarks, lift
from mercer.explore.expressions import import_lines
from mercer.explore.fields import ChoiceField, Field, NumberField, RequestError
from mercer.explore.kernel_terms import has_random_features, kernel_expression
from mercer.explore.numbers import as_floats
from mercer.explore.panels import Topic, answered, bars, lines, plane, series
from mercer.explore.plane.boundary import grid_points
from mercer.explore.plane.fitting import shown_limit, training_points
from mercer.explore.plane.python_code import data_code, used_functions
from mercer.explore.plane.state import DATA, REPRESENTATION
from mercer.explore.source_text import program

GRID = 41
MAX_POINTS = 80
_KERNEL = (
    (("name", "Polynomial"), ("operation", "+"), ("weight", 1.0), ("degree", 2), ("offset", 1.0), ("scale", 1.0)),
)
FIELDS: dict[str, Field] = {
    **{name: DATA[name] for name in ("data", "noise", "seed", "points")},
    "n": NumberField("Number of points", 40, low=2, high=MAX_POINTS, step=1, whole=True),
    "kernel": type(REPRESENTATION["kernel"])("Kernel", _KERNEL),
    "loss": ChoiceField(
        "Loss",
        "perceptron",
        options=(("perceptron", "perceptron"), ("hinge", "hinge"), ("logistic", "logistic")),
    ),
    "rate": NumberField("Step size η", 1.0, low=0.01, high=2.0, log=True),
    "shrink": NumberField("Penalty λ on ‖w‖²", 0.0, low=0.0, high=0.2, step=0.005),
    "passes": NumberField("Passes over the points", 4, low=1, high=12, step=1, whole=True),
    "t": NumberField("Step", 10, low=0, high=MAX_POINTS * 12, step=1, whole=True),
}


def gradient(loss: str, y: float, d: float) -> float:
    """Return the derivative of the loss by the decision value d; at d = 0 the perceptron takes a step."""
    if loss == "perceptron":
        return -y if y * d <= 0 else 0.0
    if loss == "hinge":
        return -y if y * d < 1 else 0.0
    return -y / (1 + np.exp(y * d))


def ordinary_steps(F: np.ndarray, y: np.ndarray, loss: str, rate: float, shrink: float, visits: int) -> np.ndarray:
    """Return w before and after each visit, w <- (1 - 2 rate shrink) w - rate g_k phi(x_k), one row per visit."""
    path = np.zeros((visits + 1, F.shape[1]))
    for t in range(visits):
        k = t % len(y)
        g = gradient(loss, y[k], F[k] @ path[t])
        path[t + 1] = (1 - 2 * rate * shrink) * path[t] - rate * g * F[k]
    return path


def special_steps(K: np.ndarray, y: np.ndarray, loss: str, rate: float, shrink: float, visits: int) -> np.ndarray:
    """Return alpha before and after each visit: the gradient changes one entry, alpha_k <- alpha_k - rate g_k."""
    path = np.zeros((visits + 1, len(y)))
    for t in range(visits):
        k = t % len(y)
        g = gradient(loss, y[k], K[k] @ path[t])
        path[t + 1] = (1 - 2 * rate * shrink) * path[t]
        path[t + 1, k] -= rate * g
    return path


@dataclass(frozen=True, eq=False)
class StepPaths:
    """Both paths on the same points; `phi` and `w` are None for a similarity that is not a kernel."""

    X: np.ndarray
    y: np.ndarray
    kernel: Any
    K: np.ndarray
    alpha: np.ndarray
    phi: Any
    w: np.ndarray | None
    similarity_w: np.ndarray
    updates: np.ndarray


@lru_cache(maxsize=16)
def _paths(key: tuple[tuple[str, Any], ...]) -> StepPaths:
    state = dict(key)
    X, y = training_points(state)
    X, y = X[:MAX_POINTS], y[:MAX_POINTS]
    if len(np.unique(y)) < 2:
        raise RequestError("Steps need points of both classes: add some.")
    kernel = kernel_expression(state["kernel"]).build()
    K = kernel(X)
    how = state["loss"], state["rate"], state["shrink"], state["passes"] * len(y)
    alpha = special_steps(K, y, *how)
    phi = explicit_features(kernel, X) if has_random_features(state["kernel"]) else None
    w = None if phi is None else ordinary_steps(phi.transform(X), y, *how)
    changed = np.flatnonzero(np.any(alpha[1:] != alpha[:-1], axis=1)) + 1
    # The ordinary update on the similarities to the points as features: a different algorithm.
    similarity_w = ordinary_steps(K, y, *how)
    return StepPaths(X, y, kernel, K, alpha, phi, w, similarity_w, changed)


def explicit_features(kernel: Any, X: np.ndarray) -> Any:
    """Return a fitted map with <phi(x), phi(z)> = k(x, z): the exact lift, or coordinates in the span of the points."""
    try:
        return lift(kernel).fit(X)
    except (ValueError, TypeError, NotImplementedError):
        return Landmarks(kernel=kernel, choose="all").fit(X)


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return both planes after t updates, the weights, and the loss along the way."""
    paths = _paths(tuple((name, state[name]) for name in FIELDS if name != "t"))
    t = min(state["t"], len(paths.updates))
    visit = int(paths.updates[t - 1]) if t else 0
    alpha = paths.alpha[visit]
    special = paths.K @ alpha
    limit = shown_limit(paths.X)
    grid = grid_points(limit, GRID)
    points = np.column_stack([paths.X, paths.y])
    active = [int((visit - 1) % len(paths.y))] if t else []
    panels, difference, text = [], None, ""
    similarities = paths.kernel(grid, paths.X)
    if paths.w is not None:
        w = paths.w[visit]
        difference = float(np.abs(paths.phi.transform(paths.X) @ w - special).max())
        scores = paths.phi.transform(grid) @ w
        panels.append(plane("Ordinary update of w", limit, points, as_floats(scores), GRID, active=active))
        text = f"Largest difference between the two predictions: {difference:.1e}. "
    panels.append(plane("Special update of α", limit, points, as_floats(similarities @ alpha), GRID, active=active))
    other = as_floats(similarities @ paths.similarity_w[visit])
    panels.append(plane("Ordinary update on the similarities", limit, points, other, GRID, active=active))
    if paths.w is not None:
        panels.append(_weights(paths, visit))
    names = [str(i + 1) for i in range(len(alpha))]
    panels.append(bars("α, one entry per point", names, {"α": alpha}, highlight=active))
    panels.append(_mistakes(paths, t))
    errors = int(np.sum(special * paths.y <= 0))
    text += f"Step {t} of {len(paths.updates)}, {errors} of {len(paths.y)} points on the wrong side."
    return {**answered(*panels, result=special, text=text), "steps": len(paths.updates)}


def _weights(paths: StepPaths, visit: int) -> dict[str, Any]:
    assert paths.w is not None
    w = paths.w[visit]
    names = [str(name) for name in paths.phi.get_feature_names_out(["x1", "x2"])]
    shown = np.argsort(-np.abs(w), kind="stable")[:12] if len(w) > 12 else np.arange(len(w))
    short = [names[i] if len(w) <= 12 else str(i + 1) for i in shown]
    return bars("w, one entry per feature", short, {"w": w[shown]}, text=f"{len(w)} features")


def _mistakes(paths: StepPaths, t: int) -> dict[str, Any]:
    visits = np.concatenate([[0], paths.updates])
    errors = np.mean(paths.alpha[visits] @ paths.K * paths.y <= 0, axis=1)
    curve = series("training error", np.arange(len(visits)), errors, "steps")
    return lines("Training error after each step", [curve], "step", "error", marks=[(t, "now")], y_range=(0.0, 1.0))


def code(state: dict[str, Any]) -> str:
    """Return the special update as a program; `result` are the decision values of the points."""
    kernel = kernel_expression(state["kernel"])
    paths = _paths(tuple((name, state[name]) for name in FIELDS if name != "t"))
    t = min(state["t"], len(paths.updates))
    visit = int(paths.updates[t - 1]) if t else 0
    how = f"{state['loss']!r}, {state['rate']!r}, {state['shrink']!r}, visits={visit}"
    lines_ = [
        data_code(state),
        f"kernel = {kernel.code()}",
        f"alpha = special_steps(kernel(X), y, {how})[-1]",
        "result = kernel(X) @ alpha",
    ]
    if paths.phi is not None:
        name = "lift(kernel)" if type(paths.phi).__name__ != "Landmarks" else 'Landmarks(kernel=kernel, choose="all")'
        lines_ += [
            f"features = {name}.fit_transform(X)",
            f"w = ordinary_steps(features, y, {how})[-1]",
            'print("largest difference:", np.abs(features @ w - result).max())',
        ]
        extra = [f"from mercer import {'lift' if name.startswith('lift') else 'Landmarks'}"]
    else:
        extra = []
    functions = [*used_functions({**state, "representation": "kernel"}), gradient, ordinary_steps, special_steps]
    return program(*lines_, imports=[*import_lines(kernel), *extra], functions=functions)


TOPIC = Topic("Steps: ordinary and special update", FIELDS, answer, code)
