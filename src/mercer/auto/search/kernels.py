"""Kernels to look at the columns with: in an even metric, in one that trees suggest, on few columns at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mercer import kernels
from mercer.auto.features.blocks import Block, Waves
from mercer.auto.features.cross_fitted import ByFold
from mercer.expand.random.sampling import applicable, draw_frequencies
from mercer.kernels.stationary import Stationary, median_distance
from mercer.kernels.subsets import OnSubsets

#: The least weight of a column that trees made no use of, and the part of masked draws that is made evenly.
_LEAST, _EVEN = 1e-3, 0.1
#: Columns that a masked wave runs along, at most.
_ORDER = 3


@dataclass(frozen=True)
class Lens:
    """A kernel on rows times a matrix: frequencies omega of it become root omega. A vector stands for its diagonal.

    `apart` is what the lens would be without each fold, where it depends on targets and that is known.
    """

    kernel: kernels.Kernel
    root: np.ndarray
    apart: tuple[Lens, ...] = ()

    def rows(self, X: np.ndarray) -> np.ndarray:
        """What the kernel is given of the rows X."""
        return X * self.root if self.root.ndim == 1 else X @ self.root

    def bent(self, kernel: kernels.Kernel, matrix: np.ndarray) -> Lens:
        """A kernel on these rows times a matrix."""
        return Lens(kernel, self.root[:, None] * matrix if self.root.ndim == 1 else self.root @ matrix)

    @property
    def bends(self) -> bool:
        """True if a metric can be learned for the kernel."""
        return isinstance(self.kernel, Stationary)

    def waves(self, width: int, seed: int) -> Block:
        m = max(1, width // 2)
        rng = np.random.default_rng([seed, 0x574156])
        drawn = draw_frequencies(self.kernel, m, self.root.shape[-1], applicable(self.kernel, "orthogonal"), rng)
        made = Waves(drawn * self.root if self.root.ndim == 1 else drawn @ self.root.T, repr(self.kernel))
        return ByFold(made, [lens.waves(width, seed) for lens in self.apart]) if self.apart else made


def lenses(X: np.ndarray, gains, names, multiples, masked: bool, apart=()) -> list[list[tuple[str, Lens]]]:
    """Families of lenses with titles: one kernel in one metric at multiples of the median distance of the rows X.

    gains : what trees gained by each column, or None; apart : the same of trees that have not seen a fold, for each
    """
    even, plain = np.ones(X.shape[1]), median_distance(X) or 1.0
    families = [_stationary(name, multiples, "even columns", even, plain) for name in names]
    led = _led_by_gains(X, gains, names, multiples, masked, plain)
    others = [_led_by_gains(X, each, names, multiples, masked, plain) for each in apart]
    if any(len(other) != len(led) for other in others):  # no tree of some fold was worth growing
        others = []
    for f, family in enumerate(led):
        apart = [tuple(other[f][k][1] for other in others) for k in range(len(family))]
        families.append([(title, replace(lens, apart=same)) for (title, lens), same in zip(family, apart, strict=True)])
    return families


def _stationary(name, multiples, metric, root, median) -> list[tuple[str, Lens]]:
    made = [Lens(getattr(kernels, name)(bandwidth=multiple * median), root) for multiple in multiples]
    return _titled(name, multiples, metric, made)


def _led_by_gains(X: np.ndarray, gains, names, multiples, masked: bool, plain: float) -> list[list[tuple[str, Lens]]]:
    """The families for which gains matter, where there are any; `plain` is the median distance in the even metric."""
    d, families = X.shape[1], []
    known = gains is not None and gains.sum() > 0 and d > 1
    if known:
        root = np.sqrt(np.maximum(gains / gains.sum() * d, _LEAST))
        median = median_distance(X * root) or 1.0
        families += [_stationary(name, multiples, "columns weighted by the trees", root, median) for name in names]
    if masked and d > _ORDER:
        shares = gains / gains.sum() if known else np.full(d, 1.0 / d)
        chances = ((1 - _EVEN) * shares + _EVEN / d).tolist()
        few = plain * np.sqrt(_ORDER / d)
        gaussians = [kernels.Gaussian(bandwidth=float(multiple * few)) for multiple in multiples]
        made = [Lens(OnSubsets(each, order=_ORDER, probabilities=chances), np.ones(d)) for each in gaussians]
        families.append(_titled("Gaussian", multiples, f"on {_ORDER} columns at a time", made))
    return families


def _titled(name, multiples, where, made) -> list[tuple[str, Lens]]:
    titles = [f"{name}, {multiple:g} x median, {where}" for multiple in multiples]
    return list(zip(titles, made, strict=True))
