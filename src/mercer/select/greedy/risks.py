"""Risks of scores for labels -1 and +1, as selections minimize them.

A risk answers, for scores f and row weights w: its value (a mean over rows), and weights of rows for its slope and its
curvature along any direction.
"""

from __future__ import annotations

import numpy as np

from mercer.linear.losses import Hinge, Logistic

#: The longest step along a candidate of unit spread: half the log-odds of an error of 1e-10. A candidate without any
#: error would else be given an infinite weight.
LONGEST_STEP = 0.5 * float(np.log((1 - 1e-10) / 1e-10))


class MeanRisk:
    """sum_i w_i loss(y_i, f_i) / sum_i w_i."""

    def __init__(self, loss):
        self.loss = loss

    def value(self, y, f, w):
        """The risk of scores f, or of each column of scores."""
        return w @ self.loss.value(np.reshape(y, (-1, *[1] * (f.ndim - 1))), f) / w.sum()

    def slope(self, y, f, w):
        """Derivatives in the scores."""
        return w * self.loss.gradient(y, f) / w.sum()

    def bend(self, y, f, w):
        """h with curvature sum_i h_i z_i^2 along the direction z."""
        return w * self.loss.curvature(y, f) / w.sum()

    def along(self, y, f, w, Z, eta):
        """First and second derivatives at f + eta_j z_j for every column j of Z."""
        score = f[:, None] + Z * eta
        share = w / w.sum()
        y = y[:, None]
        first = share @ (self.loss.gradient(y, score) * Z)
        return first, share @ (self.loss.curvature(y, score) * Z * Z)

    def hessian(self, y, f, w, Z):
        return Z.T @ (self.bend(y, f, w)[:, None] * Z)


class LogisticRisk(MeanRisk):
    """The mean of log(1 + exp(-y f))."""

    def __init__(self):
        super().__init__(Logistic())


class HingeRisk(MeanRisk):
    """The mean of max(0, 1 - y f). It has no curvature: candidates are measured by their squares instead."""

    def __init__(self):
        super().__init__(Hinge())

    def bend(self, y, f, w):
        return w / w.sum()


class ExponentialRisk:
    """log(sum_i w_i exp(-y_i f_i) / sum_i w_i): what AdaBoost lowers. Its minimizers are those of mean exp(-y f)."""

    def value(self, y, f, w):
        against = -np.reshape(y, (-1, *[1] * (f.ndim - 1))) * f
        top = against.max(axis=0)
        return top + np.log(w @ np.exp(against - top) / w.sum())

    def shares(self, y, f, w):
        """The weights AdaBoost gives to rows: w_i exp(-y_i f_i), scaled to sum to one."""
        against = -y * f
        p = w * np.exp(against - against.max())
        return p / p.sum()

    def slope(self, y, f, w):
        return -y * self.shares(y, f, w)

    def bend(self, y, f, w):
        return self.shares(y, f, w)

    def along(self, y, f, w, Z, eta):
        against = -(y * f)[:, None] - y[:, None] * Z * eta
        p = w[:, None] * np.exp(against - against.max(axis=0))
        p /= p.sum(axis=0)
        first = -np.sum(p * y[:, None] * Z, axis=0)
        return first, np.sum(p * Z * Z, axis=0) - first**2

    def hessian(self, y, f, w, Z):
        p = self.shares(y, f, w)
        g = Z.T @ (p * y)
        return Z.T @ (p[:, None] * Z) - np.outer(g, g)


RISKS = {"logistic": LogisticRisk, "hinge": HingeRisk, "exponential": ExponentialRisk}
