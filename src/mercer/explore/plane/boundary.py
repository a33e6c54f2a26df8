"""The decision boundary: scores on a grid of the plane, margins, errors, weights, the recovered region."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from mercer._numeric.linalg import dense
from mercer.explore.numbers import as_floats, rounded
from mercer.explore.plane.conics import recovered_region
from mercer.explore.plane.fitting import FittedState, fitted, shown_limit, test_points, training_points

#: Points of the grid along one axis.
GRID = 61
MAX_BARS = 24


def grid_points(limit: float, size: int = GRID) -> np.ndarray:
    """Return the points of a square grid, row by row from the lowest second coordinate upwards."""
    axis = np.linspace(-limit, limit, size)
    first, second = np.meshgrid(axis, axis)
    return np.stack([first.ravel(), second.ravel()], axis=1)


def points_answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return the points alone: what can be shown before, or without, a fit."""
    X, y = training_points(state)
    X_test, y_test = test_points(state)
    test = np.column_stack([X_test, y_test]) if state["show_test"] else np.empty((0, 3))
    # The frame does not jump when the first point of a generated set is moved.
    generated = training_points({**state, "points": None})[0]
    limit = shown_limit(np.concatenate([X, X_test, generated]))
    return {"points": rounded(np.column_stack([X, y])), "test": rounded(test), "limit": limit}


def boundary_answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return everything that the plane shows of a fit."""
    found = points_answer(state)
    fit = fitted(state)
    grid = grid_points(found["limit"])
    X_test, y_test = test_points(state)
    scores = fit.scores(fit.X)
    return found | {
        "grid": as_floats(fit.scores(grid)),
        "size": GRID,
        "scores": rounded(scores),
        "levels": [] if state["learner"] in ("perceptron", "hand") else [-1.0, 1.0],
        "train_error": float(np.mean(scores * fit.y <= 0)),
        "test_error": fit.error(X_test, y_test) if len(y_test) else None,
        "n_test": len(y_test),
        "support": _support(fit),
        "landmarks": _landmarks(fit),
        "weights": weight_bars(fit),
        "region": recovered_region(state, fit),
        "nearest": _nearest(state, fit, grid, X_test, y_test) if state["nearest"] else None,
        "facts": _facts(fit),
        "notes": list(fit.notes),
    }


def _support(fit: FittedState) -> list[int]:
    """Return the rows with a nonzero coefficient, where the learner has few of them."""
    learner = fit.learner
    if hasattr(learner, "support_"):
        return [int(i) for i in learner.support_]
    if hasattr(learner, "dual_coef_") and hasattr(learner, "dual_gap_"):
        return np.flatnonzero(np.ravel(learner.dual_coef_) > 1e-8).tolist()
    return []


def landmark_map(fit: FittedState) -> Any:
    """Return the fitted landmarks of a representation, or None."""
    parts = [fit.representation, *(part for _, part in getattr(fit.representation, "transformer_list", []))]
    return next((part for part in parts if hasattr(part, "landmarks_")), None)


def _landmarks(fit: FittedState) -> list[list[float]]:
    found = landmark_map(fit)
    return [] if found is None or len(found.landmarks_) == len(fit.X) > 24 else rounded(found.landmarks_)


def feature_names(fit: FittedState) -> list[str]:
    """Return short names of the explicit features."""
    if fit.representation is None:
        return ["x1", "x2"]
    assert fit.weights is not None
    landmarks = landmark_map(fit)
    if landmarks is not None:
        similarities = [f"k(x, s{i + 1})" for i in range(len(landmarks.landmarks_))]
        extra = len(fit.weights) - len(similarities)
        return [*["x1", "x2"][:extra], *similarities]
    names = [str(name) for name in fit.representation.get_feature_names_out(["x1", "x2"])]
    if names[0].startswith("randomfeatures"):
        return [f"z{i + 1}" for i in range(len(names))]
    return ["x1² + x2²" if name == "squared_norm" else _monomial(name) for name in names]


def _monomial(name: str) -> str:
    """Return x1^2 x2 as x1²x2."""
    power = re.sub(r"\^(\d)", lambda found: "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(found[1])], name)
    return power.replace(" ", "")


def weight_bars(fit: FittedState) -> dict[str, Any]:
    """Return the weights of the features, or the coefficients of the points: the largest first if there are many."""
    if fit.weights is None:
        coefficients, names, what = _coefficients(fit)
    else:
        coefficients, names, what = fit.weights, feature_names(fit), "features"
    order = np.arange(len(coefficients))
    if len(order) > MAX_BARS:
        order = np.argsort(-np.abs(coefficients), kind="stable")[:MAX_BARS]
    return {
        "of": what,
        "names": [names[i] for i in order],
        "index": order.tolist(),
        "values": rounded(coefficients[order]),
        "intercept": rounded(fit.intercept) if fit.weights is not None else None,
        "total": len(coefficients),
    }


def _coefficients(fit: FittedState) -> tuple[np.ndarray, list[str], str]:
    learner = fit.learner
    values = np.ravel(learner.dual_coef_)
    rows = learner.support_ if hasattr(learner, "support_") else np.arange(len(values))
    return values, [f"point {i + 1}" for i in rows], "points"


def _nearest(
    state: dict[str, Any], fit: FittedState, grid: np.ndarray, X_test: np.ndarray, y_test: np.ndarray
) -> dict[str, Any]:
    """Return the rule of the nearest neighbor beside the fit: its classes on the grid, and where both agree."""
    neighbor = KNeighborsClassifier(1).fit(fit.X, fit.y)
    classes = neighbor.predict(grid)
    agree = float(np.mean(classes * fit.scores(grid) > 0))
    error = float(np.mean(neighbor.predict(X_test) != y_test)) if len(y_test) else None
    return {"grid": as_floats(classes), "agreement": agree, "test_error": error}


def _facts(fit: FittedState) -> list[list[str]]:
    """Return pairs (what, value) of the fit."""
    facts = [["points", f"{len(fit.X)}"]]
    if fit.weights is not None:
        facts += [["features", f"{len(fit.weights)}"], ["‖w‖", f"{dense.norm(fit.weights):.4g}"]]
    learner = fit.learner
    support = _support(fit)
    if support:
        facts.append(["support vectors", f"{len(support)}"])
    if hasattr(learner, "converged_"):
        facts.append(["separated" if "erceptron" in type(learner).__name__ else "converged", _yes(learner.converged_)])
    for name, label in (("mistakes_", "updates"), ("mistake_rows_", "updates")):
        if hasattr(learner, name) and (name == "mistake_rows_" or hasattr(learner, "epoch_mistakes_")):
            facts.append([label, f"{len(getattr(learner, name))}"])
    return facts


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"
