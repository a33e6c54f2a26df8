"""Conformity scores of rows that a model has not seen, and the bounds that follow from them.

With scores s_i of mass m_i = w_i / (sum of w + mean of w), the score of a new exchangeable row is at most

    q = min { t : sum of the m_i with s_i <= t  is at least `level` }

with probability `level` at least (Vovk, Gammerman, Shafer 2005); with equal weights q is the ceil((n + 1) level)-th
smallest score. If the masses sum to less than `level`, q is infinite. Rows of a group share the weight of one, and a
new row belongs to a new group (Lee, Barber, Willett 2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from mercer._runtime.errors import ParameterError

#: Scores that are kept of each fold, at most.
_MAX_SCORES = 1000
#: Halvings of the range between the bounds of single folds.
_HALVINGS = 48


def checked_level(level: Any) -> float:
    """The level of an interval, or an error."""
    if not isinstance(level, Real) or isinstance(level, bool) or not 0 < float(level) < 1:
        raise ParameterError("level", level, "must be a probability between 0 and 1, such as 0.9")
    return float(level)


def row_masses(weight: np.ndarray, groups: np.ndarray | None = None) -> np.ndarray:
    """The mass of each row beside a new one of mean weight; of groups, each has mass one in all."""
    if groups is not None:
        _, index, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        return 1.0 / (sizes[index] * (len(sizes) + 1.0))
    return weight / (weight.sum() + weight.mean())


@dataclass
class CalibrationScores:
    """Sorted scores with cumulated masses; of more than a thousand, as many quantiles, rounded up."""

    values: np.ndarray
    masses: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, masses: np.ndarray) -> CalibrationScores:
        """Sort, and thin: the mass of the scores left out goes to the next larger one."""
        order = np.argsort(scores, kind="stable")
        values, total = scores[order].astype(np.float64), np.cumsum(masses[order])
        if len(values) > _MAX_SCORES:
            chosen = np.unique(np.ceil(np.linspace(0, len(values) - 1, _MAX_SCORES)).astype(np.int64))
            values, total = values[chosen], total[chosen]
        return cls(values, total)

    def _check_loaded(self) -> None:
        n, ordered = len(self.values), all(np.all(np.diff(each) >= 0) for each in (self.values, self.masses))
        if self.masses.shape != (n,) or not ordered or not np.all((self.masses >= 0) & (self.masses <= 1)):
            raise ValueError("The conformity scores of the model are not sorted, or their masses are no probabilities.")

    @property
    def mass(self) -> float:
        """The mass of all scores: below one by that of a new row, if there are no other scores."""
        return float(self.masses[-1]) if len(self.masses) else 0.0

    def quantile(self, level: float) -> float:
        """The smallest score up to which the masses sum to `level`; infinite if they do not."""
        index = int(np.searchsorted(self.masses, level * (1 - 1e-12)))
        return float(self.values[index]) if index < len(self.values) else np.inf

    def below(self, scores: np.ndarray) -> np.ndarray:
        """The mass of the scores that are at most as large as these."""
        return np.concatenate([[0.0], self.masses])[np.searchsorted(self.values, scores, side="right")]


def upper_bounds(folds: list[CalibrationScores], center: np.ndarray, scale: np.ndarray, level: float) -> np.ndarray:
    """The smallest t of each row with sum over folds k of mass {s in fold k : center_k + s scale_k <= t} >= level.

    This is the upper end of CV+ (Barber, Candes, Ramdas, Tibshirani 2021). `center` and `scale` have a row for each
    row and a column for each fold. The bound lies between those of single folds and is found by bisection, from above.
    """
    kept = [k for k, fold in enumerate(folds) if fold.mass > 0]
    folds, center, scale = [folds[k] for k in kept], center[:, kept], scale[:, kept]
    total = sum(fold.mass for fold in folds)
    if total < level * (1 - 1e-12):
        return np.full(len(center), np.inf)
    singles = np.array([fold.quantile(level / total * fold.mass) for fold in folds])
    ends = center + scale * singles
    low, high = ends.min(axis=1), ends.max(axis=1)
    if len(folds) == 1:
        return high
    for _ in range(_HALVINGS):
        middle = low + 0.5 * (high - low)
        mass = sum(fold.below((middle - center[:, k]) / scale[:, k]) for k, fold in enumerate(folds))
        reached = mass >= level * (1 - 1e-12)
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return high
