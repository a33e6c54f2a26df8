"""The error of the approximated kernel against the number of features, with its bound."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mercer.bounds import fourier_dimension, fourier_variance
from mercer.expand import Landmarks, RandomFeatures
from mercer.explore.fields import RequestError
from mercer.explore.kernel_terms import kernel_expression
from mercer.explore.numbers import rounded
from mercer.explore.plane.fitting import training_points

SIZES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
MAX_ROWS = 150
DELTA = 0.05
#: The fields on which the curve depends: neither the learner nor the current number of features is among them.
_DATA = ("data", "n", "noise", "seed", "points")
_MAP = ("kernel", "sampling", "pairing", "map_seed", "choose")


def approximation_answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return the largest and the mean error of kernel values over all pairs of points, per number of features."""
    if state["representation"] not in ("random", "landmarks"):
        raise RequestError("Only random features and landmarks approximate a kernel.")
    if state["representation"] == "landmarks" and state["choose"] == "placed":
        raise RequestError("Landmarks placed by hand have no path: choose RPCholesky or random points.")
    found = _curve(state["representation"], tuple((name, state[name]) for name in (*_DATA, *_MAP)))
    return {**found, "current": state["n_components" if state["representation"] == "random" else "n_landmarks"]}


@lru_cache(maxsize=32)
def _curve(kind: str, key: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    state = dict(key)
    X, _ = training_points(state)
    X = X[:MAX_ROWS]
    kernel = kernel_expression(state["kernel"]).build()
    K = kernel(X)
    if kind == "random":
        sizes = [size for size in SIZES if size > 2 or state["pairing"] == "phase"]
        maps = [_random_map(state, kernel, size) for size in sizes]
    else:
        sizes = [size for size in (1, *SIZES) if size <= len(X)]
        choose = "rpcholesky" if state["choose"] == "all" else state["choose"]
        maps = [Landmarks(size, kernel, choose=choose, random_state=state["map_seed"]) for size in sizes]
    errors = [np.abs(_inner_products(each, X) - K) for each in maps]
    return {
        "kind": kind,
        "sizes": sizes,
        "largest": rounded([error.max() for error in errors]),
        "mean": rounded([error.mean() for error in errors]),
        "bound": _bounds(state, kernel, sizes, len(X)) if kind == "random" else None,
        "delta": DELTA,
        "rows": len(X),
    }


def _random_map(state: dict[str, Any], kernel: Any, size: int) -> RandomFeatures:
    return RandomFeatures(
        kernel,
        n_components=size,
        sampling=state["sampling"],
        pairing=state["pairing"],
        random_state=state["map_seed"],
    )


def _inner_products(features: Any, X: np.ndarray) -> np.ndarray:
    Z = features.fit_transform(X)
    return Z @ Z.T


def _bounds(state: dict[str, Any], kernel: Any, sizes: list[int], n: int) -> list[float] | None:
    """Return for each number of features the error that all pairs of n points keep with probability 1 - delta.

    It is the smallest eps whose `fourier_dimension` is not larger, found by bisection; None for kernels that are not
    shift-invariant, which have no such bound.
    """
    try:
        mass, variance = float(kernel.mass), fourier_variance(kernel)
    except (AttributeError, NotImplementedError, ValueError, TypeError):
        return None
    if not mass > 0:
        return None
    return rounded([mass * _smallest_eps(size, n, variance, state["pairing"]) for size in sizes], 4)


def _smallest_eps(size: int, n: int, variance: float, pairing: str) -> float:
    low, high = 1e-3, 1e3
    for _ in range(40):
        middle = (low * high) ** 0.5
        needed = fourier_dimension(middle, DELTA, n, pairing=pairing, variance=variance)
        low, high = (low, middle) if needed <= size else (middle, high)
    return high
