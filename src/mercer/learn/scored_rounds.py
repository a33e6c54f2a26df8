"""One round of the learned metric: random features in a metric, ridge regression on them, and its exact K-fold score."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mercer.expand import RandomFeatures
from mercer.learn.gradients import gradient_outer_product, smoothed
from mercer.linear import path
from mercer.linear.factor import Tridiagonal
from mercer.source import Source
from mercer.stats import Gram
from mercer.stats.gram import GramPerFold


@dataclass(frozen=True)
class Trial:
    """A metric that was tried: how it was made, the kernel in it, and what came of it.

    `loss` is the cross-validated squared error at the best penalty `alpha`, as a share of the target's variance.
    """

    round: int
    mode: str
    root: np.ndarray
    bandwidth: float
    alpha: float
    loss: float
    gradients: np.ndarray


class Bench:
    """Where metrics are tried: the rows, with numbers for targets, and the random features to judge by."""

    def __init__(self, rows: Source, sample: np.ndarray, kernel, n_components: int, n_folds: int, seed: int):
        self.rows, self.sample, self.kernel = rows, sample, kernel
        self.n_components, self.n_folds, self.seed = n_components, n_folds, seed

    def trial(self, number: int, mode: str, root: np.ndarray, bandwidth: float, width: float) -> Trial:
        """Fit random features of the kernel in the metric root root' and score them by exact cross-validation."""
        kernel = replace(self.kernel, bandwidth=bandwidth)
        features = self._features(kernel.through(root))
        gram = features.transform(self.rows).fold(Gram(self.n_folds, self.seed)).finish()
        alpha, loss, coef = best_ridge(gram)
        G = gram.total.about(-gram.z_origin, -gram.y_origin)[0]
        lengths = np.linalg.norm(self._features(kernel).frequencies_, axis=1)  # before the map by the root
        damped = smoothed(features.frequencies_, lengths, width)
        gradients = gradient_outer_product(G, coef, damped, gram.total.weight)
        return Trial(number, mode, root, bandwidth, alpha, loss, gradients)

    def _features(self, kernel) -> RandomFeatures:
        return RandomFeatures(kernel, self.n_components, random_state=self.seed).fit(self.sample)


def best_ridge(gram: GramPerFold) -> tuple[float, float, np.ndarray]:
    """The penalty with the least K-fold error, this error as a share of the target's variance, and the weights."""
    others = [gram.total - fold for fold in gram.folds]
    total, *trained = path.factor([gram.total, *others], Tridiagonal)
    alphas = path.default_alphas(total, path.floor(gram, total))
    losses, bars = path.fold_losses(gram, trained, alphas)
    best = path.choose(alphas, losses, bars)
    variance = np.trace(total.Y) / total.weight
    loss = losses[best] / variance if variance > 0 else 0.0
    return float(alphas[best]), float(loss), total.solutions(alphas[best : best + 1])[0]
