"""Bootstrap of functions of sums over rows: rows are resampled, or groups of them where rows are many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_N_RESAMPLES = 2000
#: Random groups that rows are resampled in, if there are more than twice as many rows.
_N_GROUPS = 1000
#: Resamples at a time, so that memory does not grow with them.
_BATCH = 250


@dataclass(frozen=True)
class Estimate:
    """A score and its confidence interval."""

    value: float
    low: float
    high: float


class RowGroups:
    """The groups in which n rows are resampled, and the draws: the same for all sums of the rows.

    Sums of random groups have the variance of sums of rows, and cost less to resample. Rows with equal `groups` are
    dependent: they are resampled together.
    """

    def __init__(
        self, n: int, weight: np.ndarray | None = None, random_state: int = 0, groups: np.ndarray | None = None
    ):
        self._rng = np.random.default_rng(random_state)
        self.weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
        self.given = None if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
        units = n if self.given is None else int(self.given.max()) + 1
        sizes = weight if self.given is None else np.bincount(self.given, self.weight)
        self.n_effective = effective_rows(units, sizes)
        self.n_groups = units if units <= 2 * _N_GROUPS else _N_GROUPS
        self._group = np.arange(units) if units <= 2 * _N_GROUPS else self._rng.permutation(units) % _N_GROUPS
        if self.given is not None:
            self._group = self._group[self.given]
        self._columns: list[np.ndarray] = []

    def add(self, values: np.ndarray) -> slice:
        """Add the weighted sums of a value of each row; the position of the sums among those of `draw`."""
        self._columns.append(np.bincount(self._group, values * self.weight, self.n_groups))
        return slice(len(self._columns) - 1, len(self._columns))

    def add_by_class(self, codes: np.ndarray, n_classes: int, values: np.ndarray) -> slice:
        """Add the weighted sums of a value for each class."""
        cells = np.bincount(
            self._group * n_classes + codes, values * self.weight, minlength=self.n_groups * n_classes
        ).reshape(self.n_groups, n_classes)
        self._columns.extend(cells.T)
        return slice(len(self._columns) - n_classes, len(self._columns))

    def draw(self) -> np.ndarray:
        """The sums of all rows in the first line, those of resampled rows in 2,000 others."""
        sums, n = np.column_stack(self._columns), self.n_groups
        draws = (self._rng.multinomial(n, np.full(n, 1 / n), size=_BATCH) for _ in range(_N_RESAMPLES // _BATCH))
        return np.vstack([sums.sum(axis=0), *(times.astype(np.float64) @ sums for times in draws)])

    def percentiles(self, values: np.ndarray, confidence: float = 0.95) -> Estimate:
        """The first of the values, with the percentile interval of the others, widened for few rows."""
        tail = widened_tail((1 - confidence) / 2, self.n_effective)
        low, high = np.quantile(values[1:], [tail, 1 - tail])
        return Estimate(float(values[0]), float(low), float(high))


def effective_rows(n: int, weight: np.ndarray | None) -> float:
    """The effective number of n weighted rows, (sum of w)^2 / (sum of w^2)."""
    return n if weight is None else float(np.sum(weight) ** 2 / np.sum(np.square(weight)))


def widened_tail(tail: float, n: float) -> float:
    """The tail probability of a percentile interval of n rows: Phi(-sqrt(n / (n - 1)) t), t of n - 1 degrees.

    Resampled rows have (n - 1) / n of the variance of new rows, and that is itself estimated: Hesterberg (2015).

    >>> round(widened_tail(0.025, 20), 4), round(widened_tail(0.025, 1e6), 4)
    (0.0159, 0.025)
    """
    from scipy.special import ndtr, stdtrit

    return float(ndtr(np.sqrt(n / (n - 1)) * stdtrit(n - 1, tail))) if n > 1 else tail


def r2_of_sums(error: np.ndarray, total: np.ndarray, scale: float) -> np.ndarray:
    """1 - error / total sum of squares; for constant targets 1 for no error and 0 for any, as in scikit-learn."""
    flat = total <= 1e-12 * scale
    right = error <= np.finfo(float).tiny
    return np.where(flat, np.where(right, 1.0, 0.0), 1 - error / np.where(flat, 1.0, total))
