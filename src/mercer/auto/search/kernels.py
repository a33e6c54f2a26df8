"""Kernel candidates: in the metric of the columns, in one that trees suggest, on a few columns at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mercer import kernels
from mercer.auto.constants import MIN_COLUMN_WEIGHT, SUBSET_SIZE, UNIFORM_FRACTION
from mercer.auto.features.base import FeatureBlock
from mercer.auto.features.cross_fitted import CrossFitted
from mercer.auto.features.fourier import FourierBlock
from mercer.expand.random.sampling import applicable, draw_frequencies
from mercer.kernels.stationary import Stationary, median_distance
from mercer.kernels.subsets import OnSubsets

#: Key of the random stream that frequencies are drawn from.
_STREAM = 0x574156


@dataclass(frozen=True)
class KernelCandidate:
    """The kernel k(Ax, Ax'), A = root': frequencies omega of k become root omega. A vector stands for a diagonal.

    `per_fold` holds the candidate without each fold, where it depends on targets and that is known.
    """

    kernel: kernels.Kernel
    root: np.ndarray
    per_fold: tuple[KernelCandidate, ...] = ()

    def rows(self, X: np.ndarray) -> np.ndarray:
        """The rows X as the kernel takes them."""
        return X * self.root if self.root.ndim == 1 else X @ self.root

    def transformed(self, kernel: kernels.Kernel, matrix: np.ndarray) -> KernelCandidate:
        """A kernel on these rows times a matrix."""
        return KernelCandidate(kernel, self.root[:, None] * matrix if self.root.ndim == 1 else self.root @ matrix)

    def restricted(self, free: np.ndarray) -> KernelCandidate:
        """The kernel of the columns where `free` is 1, constant in those where it is 0; for a diagonal root."""
        return KernelCandidate(self.kernel, self.root * free)

    @property
    def supports_metric(self) -> bool:
        """True if a metric can be learned for the kernel."""
        return isinstance(self.kernel, Stationary)

    def features(self, width: int, seed: int) -> FeatureBlock:
        """A block of `width` random Fourier features."""
        m = max(1, width // 2)
        rng = np.random.default_rng([seed, _STREAM])
        drawn = draw_frequencies(self.kernel, m, self.root.shape[-1], applicable(self.kernel, "orthogonal"), rng)
        made = FourierBlock(drawn * self.root if self.root.ndim == 1 else drawn @ self.root.T, repr(self.kernel))
        return CrossFitted(made, [each.features(width, seed) for each in self.per_fold]) if self.per_fold else made


#: Candidates of one kernel in one metric with their titles, at several bandwidths.
Family = list[tuple[str, KernelCandidate]]


def kernel_candidates(
    X: np.ndarray,
    gains: np.ndarray | None,
    names: Sequence[str],
    multiples: Sequence[float],
    subsets: bool,
    gains_per_fold: Sequence[np.ndarray] = (),
) -> list[Family]:
    """Families of kernels at multiples of the median distance of the rows X.

    gains : of trees by each column, or None; gains_per_fold : those of trees grown without each fold; subsets : whether
    kernels on a few columns at a time are among them
    """
    uniform, median = np.ones(X.shape[1]), median_distance(X) or 1.0
    families = [_stationary(name, multiples, "unweighted columns", uniform, median) for name in names]
    weighted = _by_gains(X, gains, names, multiples, subsets, median)
    others = [_by_gains(X, each, names, multiples, subsets, median) for each in gains_per_fold]
    if any(len(other) != len(weighted) for other in others):  # in some fold no tree was worth growing
        others = []
    for f, family in enumerate(weighted):
        per_fold = [tuple(other[f][k][1] for other in others) for k in range(len(family))]
        families.append(
            [(title, replace(each, per_fold=same)) for (title, each), same in zip(family, per_fold, strict=True)]
        )
    return families


def _stationary(name: str, multiples: Sequence[float], metric: str, root: np.ndarray, median: float) -> Family:
    made = [KernelCandidate(getattr(kernels, name)(bandwidth=multiple * median), root) for multiple in multiples]
    return _titled(name, multiples, metric, made)


def _by_gains(
    X: np.ndarray,
    gains: np.ndarray | None,
    names: Sequence[str],
    multiples: Sequence[float],
    subsets: bool,
    median: float,
) -> list[Family]:
    """The families that depend on gains; `median` is the median distance of unweighted columns."""
    d, families = X.shape[1], []
    known = gains is not None and gains.sum() > 0 and d > 1
    if known:
        root = np.sqrt(np.maximum(gains / gains.sum() * d, MIN_COLUMN_WEIGHT))  # type: ignore[union-attr]
        weighted = median_distance(X * root) or 1.0
        families += [_stationary(name, multiples, "columns weighted by trees", root, weighted) for name in names]
    if subsets and d > SUBSET_SIZE:
        fractions = gains / gains.sum() if known else np.full(d, 1.0 / d)  # type: ignore[union-attr]
        probabilities = ((1 - UNIFORM_FRACTION) * fractions + UNIFORM_FRACTION / d).tolist()
        scale = median * np.sqrt(SUBSET_SIZE / d)
        gaussians = [kernels.Gaussian(bandwidth=float(multiple * scale)) for multiple in multiples]
        on_subsets = (OnSubsets(each, order=SUBSET_SIZE, probabilities=probabilities) for each in gaussians)
        made = [KernelCandidate(kernel, np.ones(d)) for kernel in on_subsets]
        families.append(_titled("Gaussian", multiples, f"on {SUBSET_SIZE} columns at a time", made))
    return families


def _titled(name: str, multiples: Sequence[float], where: str, made: list[KernelCandidate]) -> Family:
    titles = [f"{name}, {multiple:g} x median, {where}" for multiple in multiples]
    return list(zip(titles, made, strict=True))
