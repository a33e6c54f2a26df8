"""Every ridge penalty at once, scored without another look at the data.

With the spectral decomposition G = Q diag(v) Q' of the centered Gram matrix, the minimizer of
sum of (y - <w, z> - b)^2 + alpha ||w||^2 is w = Q (v + alpha)^{-1} Q' B for every alpha. The squared error on a
held-out fold k is Y_k - 2 <w, B_k> + <w, G_k w>, measured from the means of the rows that were trained on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._numeric.pool import ordered_map
from mercer.stats.gram import GramPerFold, Normal

N_ALPHAS = 60


@dataclass(frozen=True)
class Spectral:
    """Normal equations in the basis where they are diagonal."""

    z_mean: np.ndarray
    y_mean: np.ndarray
    values: np.ndarray
    vectors: np.ndarray
    rotated_B: np.ndarray
    weight: float
    Y: np.ndarray

    @classmethod
    def of(cls, normal: Normal) -> Spectral:
        from scipy.linalg import eigh

        z_mean, y_mean = normal.means()
        G, B, Y = normal.about(z_mean, y_mean)
        values, vectors = eigh(G, overwrite_a=True, check_finite=False, driver="evd")
        return cls(z_mean, y_mean, values, vectors, vectors.T @ B, normal.weight, Y)

    def rotated_solution(self, alpha: float) -> np.ndarray:
        """Q' w, one column per target; directions the data do not reach get no weight."""
        reached = self.values > 0 if alpha > 0 else self.values > _cutoff(self.values)
        inverse = np.where(reached, 1.0 / np.where(reached, self.values + alpha, 1.0), 0.0)
        return inverse[:, None] * self.rotated_B

    def degrees_of_freedom(self, alpha: float) -> float:
        """tr G (G + alpha)^{-1}, and one for the intercept."""
        positive = np.maximum(self.values, 0.0)
        return 1.0 + float(np.sum(positive / np.maximum(positive + alpha, np.finfo(float).tiny)))


def floor(gram: GramPerFold, spectral: Spectral) -> float:
    """The least penalty that the rounding of the Gram matrix allows: ten times its error.

    The error is the larger of what the probes measured and of the most negative eigenvalue.
    """
    largest = max(spectral.values[-1], 0.0)
    error = max(gram.error, -spectral.values[0], 4 * np.finfo(float).eps * largest)
    return 10.0 * error


def default_alphas(spectral: Spectral, least: float) -> np.ndarray:
    """Penalties from far above the largest eigenvalue of G down to 1e-10 of it, or to the floor."""
    largest = spectral.values[-1]
    if not largest > 0:
        return np.array([1.0])
    return np.geomspace(10.0 * largest, max(1e-10 * largest, least), N_ALPHAS)


def fold_losses(gram: GramPerFold, alphas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean squared K-fold error of each penalty, and the error bar that rounding of G puts on it."""
    # One fold per core with a single thread of BLAS each: an eigensolver hardly gains from more, and the threads of
    # BLAS spin while they wait. Sums are taken in the order of the folds.
    scored = ordered_map(lambda fold: _held_out(gram, fold, alphas), gram.folds)
    losses, bars = np.sum(list(scored), axis=0) / gram.total.weight
    return losses, bars


def _held_out(gram: GramPerFold, fold: Normal, alphas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared error on one fold of each penalty fitted to the others, and its error bar."""
    losses, bars = np.empty(len(alphas)), np.empty(len(alphas))
    train = Spectral.of(gram.total - fold)
    G, B, Y = fold.about(train.z_mean, train.y_mean)
    H, C = train.vectors.T @ G @ train.vectors, train.vectors.T @ B
    for i, alpha in enumerate(alphas):
        w = train.rotated_solution(alpha)
        losses[i] = np.trace(Y) - 2.0 * np.sum(w * C) + np.sum(w * (H @ w))
        bars[i] = gram.error * np.sum(w * w) * fold.weight / gram.total.weight
    return losses, bars


def gcv_losses(spectral: Spectral, alphas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Generalized cross-validation n RSS / (n - df)^2 (Golub, Heath and Wahba 1979), with its rounding.

    RSS(alpha) = RSS(0) + sum_i (alpha b_i)^2 / (v_i (v_i + alpha)^2): the sum cancels nothing, so small residuals
    keep their digits.
    """
    reached = spectral.values > _cutoff(spectral.values)
    values, b2 = spectral.values[reached], np.sum(spectral.rotated_B[reached] ** 2, axis=1)
    total = np.trace(spectral.Y)
    rounding = 16 * np.finfo(float).eps * total
    least = total - np.sum(b2 / values)
    least = least if least > rounding else 0.0
    losses, bars = np.empty(len(alphas)), np.empty(len(alphas))
    for i, alpha in enumerate(alphas):
        left = spectral.weight - spectral.degrees_of_freedom(alpha)
        scale = spectral.weight / left**2 if left > 1e-9 * spectral.weight else np.inf
        losses[i] = scale * (least + np.sum((alpha / (values + alpha)) ** 2 * b2 / values))
        bars[i] = scale * rounding
    return losses, bars


def choose(alphas: np.ndarray, losses: np.ndarray, bars: np.ndarray) -> int:
    """The best penalty, counting the error bar against it; where bars overlap, the largest.

    A negative loss is rounding, never a winner.
    """
    pessimistic = np.where(losses < 0, np.inf, losses + bars)
    if not np.isfinite(pessimistic).any():
        raise ValueError("No penalty could be scored: every cross-validated loss was lost to rounding. Rescale X.")
    level = pessimistic.min()
    as_good = np.flatnonzero((losses >= 0) & (losses - bars <= level))
    return int(as_good[np.argmax(alphas[as_good])])


def _cutoff(values: np.ndarray) -> float:
    return len(values) * np.finfo(float).eps * max(values[-1], 0.0)
