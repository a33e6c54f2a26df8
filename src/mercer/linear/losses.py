"""Pointwise losses of a score: value, slope and curvature, row by row."""

from __future__ import annotations

import numpy as np
from scipy.special import expit


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
