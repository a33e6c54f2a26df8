"""Pointwise losses of one score beside the squared error: value, gradient and curvature, row by row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, xlogy

from mercer._numeric.linalg.weighted import weighted_quantile

#: Scores of a logarithmic link are limited to this size: their exponentials are finite.
MAX_LOG = 500.0
#: The smallest mean that a logarithm is taken of.
_MIN_MEAN = 1e-10


class ScoreLoss(ABC):
    """A convex loss of a target y in a score s."""

    @abstractmethod
    def value(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""

    @abstractmethod
    def gradient(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        """Return the derivative of each row's loss in its score."""

    @abstractmethod
    def curvature(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        """Return the second derivative, or the weight of iteratively reweighted least squares."""

    @abstractmethod
    def constant(self, y: np.ndarray, weight: np.ndarray | None = None) -> float:
        """Return the score of smallest loss that is the same for all rows."""


class BernoulliLoss(ScoreLoss):
    """log(1 + exp(s)) - y s for classes y = 0 and 1: the logistic loss."""

    def value(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, score) - y * score

    def gradient(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        return expit(score) - y

    def curvature(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        return expit(score) * expit(-score)

    def constant(self, y: np.ndarray, weight: np.ndarray | None = None) -> float:
        p = np.clip(np.average(y, weights=weight), 1e-6, 1 - 1e-6)
        return float(np.log(p / (1 - p)))


@dataclass(frozen=True)
class HuberLoss(ScoreLoss):
    """r^2 / 2 for residuals r = y - s up to `delta`, delta (|r| - delta / 2) beyond.

    The curvature is min(1, delta / |r|), the weight of iteratively reweighted least squares, a majorizer.
    """

    delta: float = 1.0

    def value(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        size = np.abs(y - score)
        return np.where(size <= self.delta, 0.5 * size**2, self.delta * (size - 0.5 * self.delta))

    def gradient(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        return np.clip(score - y, -self.delta, self.delta)

    def curvature(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        return self.delta / np.maximum(np.abs(y - score), self.delta)

    def constant(self, y: np.ndarray, weight: np.ndarray | None = None) -> float:
        center = weighted_quantile(y, 0.5, weight)
        for _ in range(50):
            pull = self.curvature(y, np.full(len(y), center)) * (1.0 if weight is None else weight)
            before, center = center, float(pull @ y / pull.sum())
            if abs(center - before) <= 1e-12 * max(self.delta, abs(center)):
                break
        return center


@dataclass(frozen=True)
class PinballLoss(ScoreLoss):
    """tau r for residuals r = y - s above zero, (tau - 1) r below: its minimizer is the quantile tau.

    With a `bandwidth` h it is convolved with the logistic density of that scale (He, Pan, Tan, Zhou 2023): the value is
    tau r + h log(1 + exp(-r / h)), which is smooth, and at h = 0 the loss itself.
    """

    tau: float = 0.5
    bandwidth: float = 0.0

    def value(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        r, h = y - score, self.bandwidth
        return self.tau * r + (np.maximum(-r, 0.0) if h == 0 else h * np.logaddexp(0.0, -r / h))

    def gradient(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        r, h = y - score, self.bandwidth
        return ((r < 0) if h == 0 else expit(-r / h)) - self.tau

    def curvature(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        if self.bandwidth == 0:
            return np.zeros_like(score)
        u = (y - score) / self.bandwidth
        return expit(u) * expit(-u) / self.bandwidth

    def constant(self, y: np.ndarray, weight: np.ndarray | None = None) -> float:
        return weighted_quantile(y, self.tau, weight)


@dataclass(frozen=True)
class TweedieLoss(ScoreLoss):
    """Half the unit deviance of the Tweedie family with mean exp(s) and variance mean^power, less what y alone adds.

    power 1 is Poisson, exp(s) - y s; power 2 is gamma, y exp(-s) + s; between them

        exp((2 - p) s) / (2 - p) - y exp((1 - p) s) / (1 - p).
    """

    power: float = 1.0

    def value(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        p, s = self.power, _limited(score)
        if p == 1:
            return np.exp(s) - y * s
        if p == 2:
            return y * np.exp(-s) + s
        return np.exp((2 - p) * s) / (2 - p) - y * np.exp((1 - p) * s) / (1 - p)

    def gradient(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        p, s = self.power, _limited(score)
        return np.exp((2 - p) * s) - y * np.exp((1 - p) * s)

    def curvature(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        p, s = self.power, _limited(score)
        return (2 - p) * np.exp((2 - p) * s) + (p - 1) * y * np.exp((1 - p) * s)

    def constant(self, y: np.ndarray, weight: np.ndarray | None = None) -> float:
        return float(np.log(max(float(np.average(y, weights=weight)), _MIN_MEAN)))

    def deviance(self, y: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Return the unit deviance of each row, which is zero where the mean is y."""
        p = self.power
        if p == 1:
            return 2 * (xlogy(y, y / mean) - y + mean)
        if p == 2:
            return 2 * (y / mean - np.log(y / mean) - 1)
        own = y ** (2 - p) / ((1 - p) * (2 - p))
        return 2 * (own - y * mean ** (1 - p) / (1 - p) + mean ** (2 - p) / (2 - p))


def _limited(score: np.ndarray) -> np.ndarray:
    return np.clip(score, -MAX_LOG, MAX_LOG)
