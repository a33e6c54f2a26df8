"""Pointwise losses of a score: value, gradient and curvature, row by row. The package has no other definition."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, softmax


class Squared:
    """(y - s)^2 / 2."""

    def value(self, y: np.ndarray | float, score: np.ndarray) -> np.ndarray:
        return 0.5 * (y - score) ** 2

    def gradient(self, y: np.ndarray | float, score: np.ndarray) -> np.ndarray:
        return score - y

    def curvature(self, y: np.ndarray | float, score: np.ndarray) -> np.ndarray:
        return np.ones_like(score)


class Logistic:
    """log(1 + exp(-y s)) for y in {-1, +1}."""

    def value(self, y: np.ndarray | float, score: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, -y * score)

    def gradient(self, y: np.ndarray | float, score: np.ndarray) -> np.ndarray:
        return -y * expit(-y * score)

    def curvature(self, y: np.ndarray | float, score: np.ndarray) -> np.ndarray:
        return expit(score) * expit(-score)


class Hinge:
    """max(0, 1 - y s) for y in {-1, +1}; the subgradient at the kink is 0, and so is the curvature."""

    def value(self, y: np.ndarray | float, score: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - y * score)

    def gradient(self, y: np.ndarray | float, score: np.ndarray) -> np.ndarray:
        return np.where(y * score < 1.0, -y, 0.0)

    def curvature(self, y: np.ndarray | float, score: np.ndarray) -> np.ndarray:
        return np.zeros_like(score)


class LogLoss:
    """-log p(class), for class codes 0, 1, ... and scores (rows, ..., outputs).

    One output: two classes, p(1) = 1 / (1 + exp(-s)). Several: p(c) = exp(s_c) / sum of exp(s).
    """

    def bound(self, outputs: int) -> float:
        """Return an upper bound of the Hessian in the scores (of several, on vectors of sum zero): Boehning 1992."""
        return 0.25 if outputs == 1 else 0.5

    def probabilities(self, score: np.ndarray) -> np.ndarray:
        """Return p(1) for one output, else p(c) for each."""
        return expit(score) if score.shape[-1] == 1 else softmax(score, axis=-1)

    def class_probabilities(self, score: np.ndarray) -> np.ndarray:
        """Return p(c) for every class, two of them for one output."""
        p = self.probabilities(score)
        return np.concatenate([1.0 - p, p], axis=-1) if score.shape[-1] == 1 else p

    def value(self, code: np.ndarray, score: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        if score.shape[-1] == 1:
            return _softplus(_margin(code, score))
        top, total, _ = _exponentials(score)
        return _log_of_sum(top, total) - score[np.arange(len(score)), ..., code]

    def value_and_gradient(self, code: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the loss of each row and its derivatives in the scores."""
        if score.shape[-1] == 1:
            margin = _margin(code, score)
            gradient = expit(margin)
            gradient *= _sign(code, margin.ndim)
            return _softplus(margin), gradient[..., None]
        top, total, p = _exponentials(score)
        p /= total
        rows = np.arange(len(score))
        value = _log_of_sum(top, total) - score[rows, ..., code]
        p[rows, ..., code] -= 1.0
        return value, p

    def curvature(self, score: np.ndarray) -> np.ndarray:
        """Return p (1 - p), averaged over the outputs."""
        p = self.probabilities(score)
        return np.mean(p * (1.0 - p), axis=-1)


def _sign(code: np.ndarray, ndim: int) -> np.ndarray:
    """-1 for class 1 and +1 for class 0, with axes of length one after the first."""
    return np.where(np.asarray(code) == 1, -1.0, 1.0).reshape(-1, *[1] * (ndim - 1))


def _margin(code: np.ndarray, score: np.ndarray) -> np.ndarray:
    """The score against the class of each row: large where the model is wrong."""
    return _sign(code, score.ndim - 1) * score[..., 0]


def _softplus(x: np.ndarray) -> np.ndarray:
    """log(1 + exp(x))."""
    value = np.abs(x)
    np.exp(np.negative(value, out=value), out=value)
    np.log1p(value, out=value)
    value += np.maximum(x, 0.0)
    return value


def _exponentials(score: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The largest score, the sum of exp(score - largest) and its terms."""
    top = score.max(axis=-1, keepdims=True)
    p = np.exp(score - top)
    return top, p.sum(axis=-1, keepdims=True), p


def _log_of_sum(top: np.ndarray, total: np.ndarray) -> np.ndarray:
    return (top + np.log(total))[..., 0]
