"""Errors over a grid of penalties and bandwidths, with the current point in it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mercer.explore.fields import RequestError
from mercer.explore.kernel_terms import LEAVES
from mercer.explore.numbers import rounded
from mercer.explore.plane.fitting import fitted, test_points, training_points
from mercer.explore.plane.state import MODEL_FIELDS

ALPHAS = tuple(np.geomspace(1e-4, 1e2, 7).tolist())
BANDWIDTHS = tuple(np.geomspace(0.05, 5.0, 9).round(4).tolist())
#: More training points than this are thinned out: the map is made of 63 fits.
MAX_ROWS = 120
MAX_TEST = 300


def penalty_map_answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return both errors for each penalty (rows) and bandwidth (columns) of the first kernel that has one."""
    term = bandwidth_term(state)
    if term is None or state["learner"] not in ("ridge", "logistic", "hinge"):
        raise RequestError("The map needs a kernel with a bandwidth, and a learner with a penalty.")
    current = dict(state["kernel"][term])["bandwidth"]
    names = [name for name in (*MODEL_FIELDS, "test_points") if name != "alpha"]
    key = tuple(
        (name, _without_bandwidth(state["kernel"], term) if name == "kernel" else state[name]) for name in names
    )
    return {**_errors(key, term), "alpha": state["alpha"], "bandwidth": current}


def bandwidth_term(state: dict[str, Any]) -> int | None:
    """Return the position of the first term of the kernel that has a bandwidth."""
    if state["representation"] not in ("random", "landmarks", "kernel"):
        return None
    names = [dict(term)["name"] for term in state["kernel"]]
    return next((i for i, name in enumerate(names) if "bandwidth" in LEAVES[name].fields), None)


def with_bandwidth(kernel: tuple[Any, ...], term: int, bandwidth: float) -> tuple[Any, ...]:
    """Return the terms of a kernel with another bandwidth in one of them."""
    changed = tuple((name, bandwidth if name == "bandwidth" else value) for name, value in kernel[term])
    return (*kernel[:term], changed, *kernel[term + 1 :])


def _without_bandwidth(kernel: tuple[Any, ...], term: int) -> tuple[Any, ...]:
    return with_bandwidth(kernel, term, 1.0)


@lru_cache(maxsize=16)
def _errors(key: tuple[tuple[str, Any], ...], term: int) -> dict[str, Any]:
    state = dict(key)
    X_test, y_test = test_points(state)
    X_test, y_test = X_test[:MAX_TEST], y_test[:MAX_TEST]
    X, y = training_points(state)
    if len(X) > MAX_ROWS:
        keep = np.linspace(0, len(X) - 1, MAX_ROWS).astype(int)
        state["points"] = tuple(map(tuple, np.column_stack([X, y])[keep].tolist()))
    train, test = np.full((2, len(ALPHAS), len(BANDWIDTHS)), np.nan)
    for j, bandwidth in enumerate(BANDWIDTHS):
        kernel = with_bandwidth(state["kernel"], term, bandwidth)
        for i, alpha in enumerate(ALPHAS):
            try:
                fit = fitted({**state, "kernel": kernel, "alpha": alpha})
            except RequestError:  # where a fit fails, the map has a gap
                continue
            train[i, j] = fit.error(fit.X, fit.y)
            if len(y_test):
                test[i, j] = fit.error(X_test, y_test)
    return {"alphas": ALPHAS, "bandwidths": BANDWIDTHS, "train": rounded(train, 4), "test": rounded(test, 4)}
