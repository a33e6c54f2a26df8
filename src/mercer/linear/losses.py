"""Pointwise losses of a score: value, slope and curvature, row by row."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, softmax


class Squared:
    """(y - s)^2 / 2."""

    def value(self, y, score):
        return 0.5 * (y - score) ** 2

    def slope(self, y, score):
        return score - y

    def curvature(self, y, score):
        return np.ones_like(score)


class Logistic:
    """log(1 + exp(-y s)) for y in {-1, +1}."""

    def value(self, y, score):
        return np.logaddexp(0.0, -y * score)

    def slope(self, y, score):
        return -y * expit(-y * score)

    def curvature(self, y, score):
        return expit(score) * expit(-score)


class Hinge:
    """max(0, 1 - y s) for y in {-1, +1}; its slope at the kink is taken as 0, its curvature is 0."""

    def value(self, y, score):
        return np.maximum(0.0, 1.0 - y * score)

    def slope(self, y, score):
        return np.where(y * score < 1.0, -y, 0.0)

    def curvature(self, y, score):
        return np.zeros_like(score)


class LogLoss:
    """-log of the probability of the class, for class numbers and scores (..., outputs).

    One output: classes 0 and 1, p(1) = 1 / (1 + exp(-s)). Several: p(c) = exp(s_c) / sum of exp(s).
    `value_and_slope` takes scores (rows, models, outputs).
    """

    #: The Hessian in the scores is at most this (on vectors that sum to zero, for several): Boehning 1992.
    def bound(self, outputs: int) -> float:
        return 0.25 if outputs == 1 else 0.5

    def probabilities(self, score: np.ndarray) -> np.ndarray:
        """p(1) for one output, else p(c) for each."""
        return expit(score) if score.shape[-1] == 1 else softmax(score, axis=-1)

    def value_and_slope(self, code, score):
        if score.shape[-1] == 1:
            sign = np.where(np.asarray(code) == 1, -1.0, 1.0)[:, None]
            against = sign * score[..., 0]
            value = np.abs(against)
            np.exp(np.negative(value, out=value), out=value)
            np.log1p(value, out=value)
            value += np.maximum(against, 0.0)
            slope = expit(against)
            slope *= sign
            return value, slope[..., None]
        top = score.max(axis=-1, keepdims=True)
        p = np.exp(score - top)
        total = p.sum(axis=-1, keepdims=True)
        p /= total
        rows = np.arange(len(score))
        value = (top + np.log(total))[..., 0] - score[rows, :, code]
        p[rows, :, code] -= 1.0
        return value, p

    def bend(self, score):
        """p (1 - p), averaged over the outputs: how curved the loss is at each row's scores (..., outputs)."""
        p = self.probabilities(score)
        return np.mean(p * (1.0 - p), axis=-1)
