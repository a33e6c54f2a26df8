"""Evaluation of a metric: ridge regression on random features in it, with its exact K-fold loss."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._numeric.linalg import dense
from mercer.expand import RandomFeatures
from mercer.kernels import Kernel, OnSubsets
from mercer.learn.metric.gradients import gradient_outer_product, smoothed
from mercer.linear.ridge import path
from mercer.source import Source
from mercer.stats import Gram
from mercer.stats.gram import GramPerFold

#: Gradients are taken at the smallest penalty whose loss is at most this multiple of the best: shrinkage flattens weak
#: effects first, and where the loss is near 1 the gradients at the best penalty would be mostly noise.
_LOSS_TOLERANCE = 1.1
#: Maximum number of columns of a masked frequency.
MASK_ORDER = 3


@dataclass(frozen=True)
class MetricForm:
    """The metric root root' of a kernel, and for masked features the probabilities of columns."""

    mode: str
    root: np.ndarray
    probabilities: np.ndarray | None = None

    def applied(self, kernel: Kernel) -> Kernel:
        """The kernel before the map by the root."""
        return kernel if self.probabilities is None else OnSubsets(kernel, MASK_ORDER, self.probabilities.tolist())

    @property
    def distance_fraction(self) -> float:
        """The mean fraction of the squared distance of two rows that the kernel uses."""
        return 1.0 if self.probabilities is None else min(1.0, MASK_ORDER / len(self.root))


@dataclass(frozen=True)
class MetricTrial:
    """A metric that was tried, the kernel in it, and its loss.

    `loss` is the cross-validated squared error at the best penalty `alpha`, as a fraction of the target's variance. The
    metric itself has seen every fold, so trials are compared by `criterion` = loss (1 + degrees of freedom / n): the
    gain of a metric fitted to noise is about its degrees of freedom over n, d of them per direction.
    """

    round: int
    mode: str
    root: np.ndarray
    kernel: Kernel
    doublings: int
    bandwidth: float
    alpha: float
    loss: float
    criterion: float
    gradients: np.ndarray


class MetricEvaluator:
    """Evaluates metrics on rows with numeric targets by ridge regression on random features."""

    def __init__(self, rows: Source, sample: np.ndarray, kernel: Any, n_components: int, n_folds: int, seed: int):
        self.rows, self.sample, self.kernel = rows, sample, kernel
        self.n_components, self.n_folds, self.seed = n_components, n_folds, seed

    def trial(self, number: int, form: MetricForm, doublings: int, bandwidth: float, width: float) -> MetricTrial:
        """Fit random features of the kernel in this form and score them by exact cross-validation."""
        inner = form.applied(replace(self.kernel, bandwidth=bandwidth))
        kernel = inner.through(form.root)
        features = self._features(kernel)
        gram = features.transform(self.rows).fold(Gram(self.n_folds, self.seed)).finish()
        alpha, loss, coef = best_ridge(gram)
        G = gram.total.about(-gram.z_origin, -gram.y_origin)[0]
        lengths = dense.norm(self._features(inner).frequencies_, axis=1)  # before the map by the root
        damped = smoothed(features.frequencies_, lengths, width)
        gradients = gradient_outer_product(G, coef, damped, gram.total.weight)
        criterion = loss * (1.0 + degrees_of_freedom(form.root, form.mode) / gram.n)
        return MetricTrial(
            number, form.mode, form.root, kernel, doublings, bandwidth, alpha, loss, criterion, gradients
        )

    def _features(self, kernel: Kernel) -> RandomFeatures:
        return RandomFeatures(kernel, n_components=self.n_components, random_state=self.seed).fit(self.sample)


def degrees_of_freedom(root: np.ndarray, mode: str) -> float:
    """The degrees of freedom of a metric: 0, d, or d times its effective rank, at most d (d + 1) / 2.

    The effective rank is the participation ratio tr(M)^2 / tr(M^2).
    """
    d = len(root)
    if mode == "identity":
        return 0.0
    if mode in ("diagonal", "masked"):
        return float(d)
    values = dense.eigvalsh(root) ** 2
    return float(min(d * (d + 1) / 2, d * values.sum() ** 2 / np.sum(values**2)))


def best_ridge(gram: GramPerFold) -> tuple[float, float, np.ndarray]:
    """The penalty with the smallest K-fold error, this error over the target's variance, and the weights."""
    total, trained = path.factor_folds(gram, path.lowest(gram))
    alphas = path.default_alphas(total, path.floor(gram, total))
    losses, bars = path.fold_losses(gram, trained, alphas)
    best = path.choose(alphas, losses, bars)
    variance = np.trace(total.Y) / total.weight
    loss = losses[best] / variance if variance > 0 else 0.0
    close = np.flatnonzero((losses > 0) & (losses <= _LOSS_TOLERANCE * losses[best]))
    smallest = close[np.argmin(alphas[close])] if len(close) else best
    return float(alphas[best]), float(loss), total.solutions(alphas[smallest : smallest + 1])[0]
