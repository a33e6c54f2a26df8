"""Empirical risks of scores for labels -1 and +1.

For scores f and row weights w, a risk returns its value (a mean over rows), its gradient in the scores, and the row
weights of its Hessian along any direction. The pointwise losses are those of `mercer.linear.losses`.
"""

from __future__ import annotations

import numpy as np

from mercer.linear.losses import Hinge, Logistic

#: Maximum step along a candidate of unit variance: half the log-odds of an error rate of 1e-10. A candidate without
#: errors would otherwise get an infinite weight.
MAX_STEP = 0.5 * float(np.log((1 - 1e-10) / 1e-10))


class MeanRisk:
    """sum_i w_i loss(y_i, f_i) / sum_i w_i."""

    def __init__(self, loss: Logistic | Hinge):
        self.loss = loss

    def value(self, y: np.ndarray, f: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the risk of scores f, or of each column of scores."""
        return w @ self.loss.value(np.reshape(y, (-1, *[1] * (f.ndim - 1))), f) / w.sum()

    def gradient(self, y: np.ndarray, f: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the derivatives in the scores."""
        return w * self.loss.gradient(y, f) / w.sum()

    def hessian_weights(self, y: np.ndarray, f: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return h with the curvature sum_i h_i z_i^2 along the direction z."""
        return w * self.loss.curvature(y, f) / w.sum()

    def directional_derivatives(
        self, y: np.ndarray, f: np.ndarray, w: np.ndarray, Z: np.ndarray, eta: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return first and second derivatives in eta_j at f + eta_j z_j for every column j of Z."""
        score = f[:, None] + Z * eta
        fraction = w / w.sum()
        y = y[:, None]
        first = fraction @ (self.loss.gradient(y, score) * Z)
        return first, fraction @ (self.loss.curvature(y, score) * Z * Z)

    def hessian(self, y: np.ndarray, f: np.ndarray, w: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Return the Hessian in the weights of the columns of Z."""
        return Z.T @ (self.hessian_weights(y, f, w)[:, None] * Z)


class LogisticRisk(MeanRisk):
    """The mean of log(1 + exp(-y f))."""

    def __init__(self) -> None:
        super().__init__(Logistic())


class HingeRisk(MeanRisk):
    """The mean of max(0, 1 - y f). Its curvature is zero: candidates are scaled by their sums of squares instead."""

    def __init__(self) -> None:
        super().__init__(Hinge())

    def hessian_weights(self, y: np.ndarray, f: np.ndarray, w: np.ndarray) -> np.ndarray:
        return w / w.sum()


class ExponentialRisk:
    """log(sum_i w_i exp(-y_i f_i) / sum_i w_i), the objective of AdaBoost; it has the minimizers of mean exp(-y f)."""

    def value(self, y: np.ndarray, f: np.ndarray, w: np.ndarray) -> np.ndarray:
        exponent = -np.reshape(y, (-1, *[1] * (f.ndim - 1))) * f
        top = exponent.max(axis=0)
        return top + np.log(w @ np.exp(exponent - top) / w.sum())

    def distribution(self, y: np.ndarray, f: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the row weights of AdaBoost: w_i exp(-y_i f_i), scaled to sum to one."""
        exponent = -y * f
        p = w * np.exp(exponent - exponent.max())
        return p / p.sum()

    def gradient(self, y: np.ndarray, f: np.ndarray, w: np.ndarray) -> np.ndarray:
        return -y * self.distribution(y, f, w)

    def hessian_weights(self, y: np.ndarray, f: np.ndarray, w: np.ndarray) -> np.ndarray:
        return self.distribution(y, f, w)

    def directional_derivatives(
        self, y: np.ndarray, f: np.ndarray, w: np.ndarray, Z: np.ndarray, eta: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        exponent = -(y * f)[:, None] - y[:, None] * Z * eta
        p = w[:, None] * np.exp(exponent - exponent.max(axis=0))
        p /= p.sum(axis=0)
        first = -np.sum(p * y[:, None] * Z, axis=0)
        return first, np.sum(p * Z * Z, axis=0) - first**2

    def hessian(self, y: np.ndarray, f: np.ndarray, w: np.ndarray, Z: np.ndarray) -> np.ndarray:
        p = self.distribution(y, f, w)
        g = Z.T @ (p * y)
        return Z.T @ (p[:, None] * Z) - np.outer(g, g)


Risk = LogisticRisk | HingeRisk | ExponentialRisk
RISKS: dict[str, type[Risk]] = {"logistic": LogisticRisk, "hinge": HingeRisk, "exponential": ExponentialRisk}
