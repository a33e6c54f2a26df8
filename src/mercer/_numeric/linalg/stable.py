"""Logarithms of stable random variables, whose tails exceed the range of floats."""

import numpy as np


def signed_log_stable(
    shape: int | tuple[int, ...], p: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Signs and log|T| of symmetric p-stable T, E exp(itT) = exp(-|t|^p) (Chambers, Mallows, Stuck 1976)."""
    angle = rng.uniform(-np.pi / 2, np.pi / 2, shape)
    waiting = rng.standard_exponential(shape)
    with np.errstate(divide="ignore"):
        log = np.log(np.abs(np.sin(p * angle))) - np.log(np.cos(angle)) / p
        log += (1 - p) / p * (np.log(np.cos((1 - p) * angle)) - np.log(waiting))
    return np.sign(angle), log


def log_positive_stable(n: int, a: float, rng: np.random.Generator) -> np.ndarray:
    """log S of positive a-stable S, E exp(-uS) = exp(-u^a), 0 < a <= 1 (Kanter 1975)."""
    if a == 1:
        return np.zeros(n)
    angle = rng.uniform(0, np.pi, n)
    waiting = rng.standard_exponential(n)
    with np.errstate(divide="ignore"):
        log = np.log(np.sin(a * angle)) - np.log(np.sin(angle)) / a
        return log + (1 - a) / a * (np.log(np.sin((1 - a) * angle)) - np.log(waiting))
