"""The path of ridge penalties, scored without another pass over the data.

The squared error of weights w on a held-out fold k is Y_k - 2 <w, B_k> + <w, G_k w>, measured from the means of the
training rows: K-fold cross-validation is exact and needs the statistics only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mercer._runtime.pool import ordered_map
from mercer.linear.alpha import Alpha
from mercer.linear.optimize.krylov import Krylov, KrylovWithBounds
from mercer.linear.ridge.factor import Centered, Spectral, Tridiagonal
from mercer.stats.gram import GramPerFold, Normal

Factored = Spectral | Tridiagonal | KrylovWithBounds

N_ALPHAS = 60
#: The smallest penalty of the path, as a fraction of the largest eigenvalue.
_MIN_FRACTION = 1e-10
#: The smallest penalty that rounding allows, in units of the rounding error.
_MIN_ERRORS = 10.0
#: Columns of weights that are scored in one product.
_BATCH = 512


def factor(equations: Iterable[Normal], kind: type[Spectral] | type[Tridiagonal]) -> list[Factored]:
    """Factor several normal equations, one per core with one thread of BLAS each.

    A reduction is hardly faster with more threads, and those of BLAS spin while they wait.
    """
    return list(ordered_map(kind.of, equations))


def factor_folds(gram: GramPerFold, min_alpha: float) -> tuple[Factored, list[Centered]]:
    """Factor the equations of all rows, and of all rows but each fold's, for penalties from `min_alpha` on."""

    def factored(fold: Normal | None) -> Any:
        if fold is None:
            return KrylovWithBounds.of(gram.total, min_alpha)
        return Krylov.of(gram.total - fold, min_alpha)

    *trained, total = ordered_map(factored, [*gram.folds, None])
    return total, trained


def floor(gram: GramPerFold, factor: Factored) -> float:
    """Return the smallest penalty that the rounding of the Gram matrix allows: ten times its error.

    The error is the larger of the one measured by the probes and of the most negative eigenvalue.
    """
    largest = max(factor.values[-1], 0.0)
    error = max(gram.error, -factor.values[0], 4 * np.finfo(float).eps * largest)
    return _MIN_ERRORS * error


def lowest(gram: GramPerFold, asked: Alpha = "path") -> float:
    """Return a lower bound of all penalties without eigenvalues, of which the largest exceeds any diagonal entry."""
    if isinstance(asked, str):
        z_mean, _ = gram.total.means()
        diagonal = np.diagonal(gram.total.G) - gram.total.z * z_mean
        asked = _MIN_FRACTION * np.max(diagonal, initial=0.0)
    return max(float(np.min(asked)), _MIN_ERRORS * gram.error)


def default_alphas(factor: Factored, floor: float) -> np.ndarray:
    """Return penalties from ten times the largest eigenvalue of G down to 1e-10 of it, or to the floor."""
    largest = factor.values[-1]
    if not largest > 0:
        return np.array([1.0])
    return np.geomspace(10.0 * largest, max(_MIN_FRACTION * largest, floor), N_ALPHAS)


def fold_losses(gram: GramPerFold, trained: list[Centered], alphas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean squared K-fold error of each penalty, and its error bar from the rounding of G.

    `trained` holds the factored equations of the rows outside each fold. Sums are taken in the order of the folds.
    """
    pairs = zip(gram.folds, trained, strict=True)
    scored = ordered_map(lambda pair: _held_out(gram, pair[0], pair[1], alphas), pairs)
    losses, bars = np.sum(list(scored), axis=0) / gram.total.weight
    return losses, bars


def _held_out(gram: GramPerFold, fold: Normal, train: Centered, alphas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the squared error on one fold of each penalty fitted to the others, and its error bar."""
    G, B, Y = fold.about(train.z_mean, train.y_mean)
    losses, bars = np.empty(len(alphas)), np.empty(len(alphas))
    step = max(1, _BATCH // max(B.shape[1], 1))
    for start in range(0, len(alphas), step):
        batch = slice(start, start + step)
        W = train.solutions(alphas[batch])
        columns = W.transpose(1, 0, 2).reshape(len(G), -1)
        GW = (G @ columns).reshape(len(G), -1, B.shape[1]).transpose(1, 0, 2)
        losses[batch] = np.trace(Y) + np.sum(W * (GW - 2.0 * B), axis=(1, 2))
        bars[batch] = gram.error * np.sum(W * W, axis=(1, 2)) * fold.weight / gram.total.weight
    unsolved = np.isnan(losses)
    losses[unsolved], bars[unsolved] = np.inf, 0.0
    return losses, bars


def gcv_losses(spectral: Spectral, alphas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the generalized cross-validation n RSS / (n - df)^2 (Golub, Heath and Wahba 1979), and its error bar.

    RSS(alpha) = RSS(0) + sum_i (alpha b_i)^2 / (v_i (v_i + alpha)^2): all terms are positive, so small residuals
    keep their digits.
    """
    values = spectral.values[spectral.reached]
    b2 = np.sum(spectral.rotated_B[spectral.reached] ** 2, axis=1)
    total = np.trace(spectral.Y)
    rounding = 16 * np.finfo(float).eps * total
    unpenalized = total - np.sum(b2 / values)
    unpenalized = unpenalized if unpenalized > rounding else 0.0
    losses, bars = np.empty(len(alphas)), np.empty(len(alphas))
    for i, alpha in enumerate(alphas):
        remaining = spectral.weight - spectral.degrees_of_freedom(alpha)
        scale = spectral.weight / remaining**2 if remaining > 1e-9 * spectral.weight else np.inf
        losses[i] = scale * (unpenalized + np.sum((alpha / (values + alpha)) ** 2 * b2 / values))
        bars[i] = scale * rounding
    return losses, bars


def choose(alphas: np.ndarray, losses: np.ndarray, bars: np.ndarray) -> int:
    """Return the index of the best penalty, error bars counted against it; the largest of those within the bars.

    A negative loss is due to rounding and is never chosen.
    """
    pessimistic = np.where(losses < 0, np.inf, losses + bars)
    if not np.isfinite(pessimistic).any():
        raise ValueError("No penalty could be scored: every cross-validated loss was lost to rounding. Rescale X.")
    best = pessimistic.min()
    candidates = np.flatnonzero((losses >= 0) & (losses - bars <= best))
    return int(candidates[np.argmax(alphas[candidates])])
