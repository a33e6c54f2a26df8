"""One round of the learned metric: random features in a metric, ridge regression on them, its exact K-fold score."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mercer.expand import RandomFeatures
from mercer.kernels import Kernel, OnSubsets
from mercer.learn.metric.gradients import gradient_outer_product, smoothed
from mercer.linear.ridge import path
from mercer.source import Source
from mercer.stats import Gram
from mercer.stats.gram import GramPerFold

#: Gradients are taken at the least penalty whose loss is at most this multiple of the best: shrinkage flattens first
#: what is hard to see, and where nothing is seen yet (a loss of 1) the best penalty would leave nothing but noise.
_NEARLY = 1.1
#: How many columns a masked frequency has at most.
MASK_ORDER = 3


@dataclass(frozen=True)
class Form:
    """What is made of a kernel: the metric root root', and for masked features the chances of columns."""

    mode: str
    root: np.ndarray
    chances: np.ndarray | None = None

    def applied(self, kernel):
        """The kernel before the map by the root."""
        return kernel if self.chances is None else OnSubsets(kernel, MASK_ORDER, self.chances.tolist())

    @property
    def typical_share(self) -> float:
        """The share of the squared distance of two rows that the kernel sees."""
        return 1.0 if self.chances is None else min(1.0, MASK_ORDER / len(self.root))


@dataclass(frozen=True)
class Trial:
    """A metric that was tried: how it was made, the kernel in it, and what came of it.

    `loss` is the cross-validated squared error at the best penalty `alpha`, as a share of the target's variance. The
    metric itself has seen every fold, so trials are compared by `criterion` = loss (1 + freedom / n): a metric fitted
    to noise gains about as much as it has numbers to choose, d per direction that it singles out.
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


class Bench:
    """Where metrics are tried: the rows, with numbers for targets, and the random features to judge by."""

    def __init__(self, rows: Source, sample: np.ndarray, kernel, n_components: int, n_folds: int, seed: int):
        self.rows, self.sample, self.kernel = rows, sample, kernel
        self.n_components, self.n_folds, self.seed = n_components, n_folds, seed

    def trial(self, number: int, form: Form, doublings: int, bandwidth: float, width: float) -> Trial:
        """Fit random features of the kernel in this form and score them by exact cross-validation."""
        inner = form.applied(replace(self.kernel, bandwidth=bandwidth))
        kernel = inner.through(form.root)
        features = self._features(kernel)
        gram = features.transform(self.rows).fold(Gram(self.n_folds, self.seed)).finish()
        alpha, loss, coef = best_ridge(gram)
        G = gram.total.about(-gram.z_origin, -gram.y_origin)[0]
        lengths = np.linalg.norm(self._features(inner).frequencies_, axis=1)  # before the map by the root
        damped = smoothed(features.frequencies_, lengths, width)
        gradients = gradient_outer_product(G, coef, damped, gram.total.weight)
        criterion = loss * (1.0 + freedom(form.root, form.mode) / gram.n)
        return Trial(number, form.mode, form.root, kernel, doublings, bandwidth, alpha, loss, criterion, gradients)

    def _features(self, kernel) -> RandomFeatures:
        return RandomFeatures(kernel, n_components=self.n_components, random_state=self.seed).fit(self.sample)


def freedom(root: np.ndarray, mode: str) -> float:
    """The numbers that a metric had to choose: none, d, or d for each of the directions that share its trace.

    Their number is tr(M)^2 / tr(M^2), the participation ratio; all directions together are d (d + 1) / 2 numbers.
    """
    d = len(root)
    if mode == "identity":
        return 0.0
    if mode in ("diagonal", "masked"):
        return float(d)
    values = np.linalg.eigvalsh(root) ** 2
    return float(min(d * (d + 1) / 2, d * values.sum() ** 2 / np.sum(values**2)))


def best_ridge(gram: GramPerFold) -> tuple[float, float, np.ndarray]:
    """The penalty with the least K-fold error, this error as a share of the target's variance, and the weights."""
    total, trained = path.factor_folds(gram, path.lowest(gram))
    alphas = path.default_alphas(total, path.floor(gram, total))
    losses, bars = path.fold_losses(gram, trained, alphas)
    best = path.choose(alphas, losses, bars)
    variance = np.trace(total.Y) / total.weight
    loss = losses[best] / variance if variance > 0 else 0.0
    nearly = np.flatnonzero((losses > 0) & (losses <= _NEARLY * losses[best]))
    least = nearly[np.argmin(alphas[nearly])] if len(nearly) else best
    return float(alphas[best]), float(loss), total.solutions(alphas[least : least + 1])[0]
