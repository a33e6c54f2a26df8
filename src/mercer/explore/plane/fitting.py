"""Points and fitted models of a state, kept in a cache: views of the same state share one fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mercer.explore.caught import caught_warnings
from mercer.explore.data_sets import GENERATORS, OWN, TEST_ROWS, TEST_SEED
from mercer.explore.fields import RequestError
from mercer.explore.plane.models import model_expression, representation_expression
from mercer.explore.plane.state import fit_key

#: Half of the width of the plane that is shown, if all points are within it.
_LIMIT = 1.6
_STEP = 0.4
#: With more whitened landmarks, the whitening is folded into the weights.
_MANY_LANDMARKS = 40


@dataclass(frozen=True, eq=False)
class FittedState:
    """The training points, the fitted representation and learner, and the warnings of the fit.

    `representation` is None where the points are used as they are; `weights` and `intercept` are those of the explicit
    features, None for kernel machines.
    """

    X: np.ndarray
    y: np.ndarray
    model: Any
    representation: Any
    weights: np.ndarray | None
    intercept: float
    notes: tuple[str, ...]

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the decision function f(x) of each row; positive is the class 1."""
        if self.model is None:
            assert self.weights is not None
            return self.features(X) @ self.weights + self.intercept
        if self.weights is not None and len(getattr(self.representation, "whitening_", ())) > _MANY_LANDMARKS:
            # <w, L^-1 k> = <L^-T w, k>: one product per row instead of one per row and landmark.
            map_ = self.representation
            coefficients = map_.whitening_ @ self.weights
            return map_.kernel_(X, map_.landmarks_) @ coefficients + self.intercept
        if hasattr(self.model, "decision_function"):
            return np.asarray(self.model.decision_function(X), dtype=np.float64)
        return np.asarray(self.model.predict(X), dtype=np.float64)

    def features(self, X: np.ndarray) -> np.ndarray:
        """Return the explicit features of each row."""
        return X if self.representation is None else np.asarray(self.representation.transform(X))

    @property
    def learner(self) -> Any:
        """The last step of the model."""
        return self.model[-1] if hasattr(self.model, "steps") else self.model

    def error(self, X: np.ndarray, y: np.ndarray) -> float:
        """Return the fraction of rows on the wrong side; a score of zero counts as wrong."""
        return float(np.mean(self.scores(X) * y <= 0))


def training_points(state: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the points and their labels -1 and 1: those edited by hand, or those of the generator."""
    if state["points"] is not None:
        rows = np.array(state["points"], dtype=np.float64).reshape(-1, 3)
        return np.ascontiguousarray(rows[:, :2]), rows[:, 2]
    if state["data"] == OWN:
        return np.empty((0, 2)), np.empty(0)
    return GENERATORS[state["data"]][1](state["n"], state["noise"], state["seed"])


def test_points(state: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return points that no learner sees: a fresh draw of the generator, or rows held out from a table."""
    if state["data"] != OWN:
        return GENERATORS[state["data"]][1](TEST_ROWS, state["noise"], state["seed"] + TEST_SEED)
    rows = np.array(state["test_points"] or [], dtype=np.float64).reshape(-1, 3)
    return np.ascontiguousarray(rows[:, :2]), rows[:, 2]


def shown_limit(X: np.ndarray) -> float:
    """Return half of the width of a square around the origin that holds all points; it changes in steps only."""
    farthest = 1.05 * float(np.abs(X).max(initial=0.0))
    return _LIMIT if farthest <= _LIMIT else float(np.ceil(round(farthest / _STEP, 9)) * _STEP)


def fitted(state: dict[str, Any]) -> FittedState:
    """Return the fit of a state; the last ones are kept."""
    return _fitted(fit_key(state))


@lru_cache(maxsize=64)
def _fitted(key: tuple[tuple[str, Any], ...]) -> FittedState:
    state = dict(key)
    X, y = training_points(state)
    if len(np.unique(y)) < 2:
        raise RequestError("A fit needs points of both classes: add some.")
    with caught_warnings() as notes:
        try:
            parts = _by_hand(state, X) if state["learner"] == "hand" else _learned(state, X, y)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            raise RequestError(f"This fit is not possible: {error}") from None
    model, representation, weights, intercept = parts
    return FittedState(X, y, model, representation, weights, intercept, tuple(notes))


def _learned(state: dict[str, Any], X: np.ndarray, y: np.ndarray) -> tuple[Any, Any, np.ndarray | None, float]:
    expression = model_expression(state)
    assert expression is not None
    model = expression.build().fit(X, y)
    has_steps = hasattr(model, "steps")
    learner = model[-1] if has_steps else model
    if not hasattr(learner, "coef_"):
        return model, None, None, 0.0
    return model, model[0] if has_steps else None, np.ravel(learner.coef_), float(np.ravel(learner.intercept_)[0])


def _by_hand(state: dict[str, Any], X: np.ndarray) -> tuple[None, Any, np.ndarray, float]:
    expression = representation_expression(state)
    if state["representation"] == "kernel":
        raise RequestError("Weights set by hand need explicit features: choose a lift, random features or landmarks.")
    representation = None if expression is None else expression.build().fit(X)
    width = 2 if representation is None else representation.transform(X[:1]).shape[1]
    weights = np.zeros(width + 1)
    given = np.array(state["weights"] or [], dtype=np.float64)
    if len(given) > len(weights):
        raise RequestError(f"There are {width} features and the intercept, but {len(given)} weights.")
    # The intercept is the last weight given, also if some of the features have none.
    weights[: len(given)] = given
    return None, representation, weights[:-1], float(weights[-1])
