"""One matrix that stands for the curvature of a loss everywhere: the preconditioner of iterated fits.

For the logistic loss the Hessian is at most kappa Z'Z + 2 alpha, kappa = 1/4 for two classes and 1/2 for more
(Boehning 1992), Z being centered so that the intercept stands apart. One factorization of it, from a sample of the rows
where there are many, makes the step from the class frequencies that of ridge regression, and the later ones short.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mercer.source import Source, in_holdout
from mercer.stats import Gram
from mercer.stats.base import Statistic

#: Beyond this many columns only the diagonal is kept.
MOST_COLUMNS = 4096
_SAMPLE_ROWS = 16_384
_ROWS_PER_COLUMN = 16


@dataclass(frozen=True)
class Curvature:
    """The Hessian of a loss in weights and intercept, without the penalty: H = sum of c (z - m)(z - m)', c = sum of c.

    `H` may be its diagonal alone. `shift` is m less the origin that the intercept is measured from.
    """

    H: np.ndarray
    c: float
    shift: np.ndarray

    def trace(self) -> float:
        """The largest eigenvalue is at most this."""
        return float(np.sum(self.H if self.H.ndim == 1 else np.diag(self.H)))

    def solver(self, alpha: float) -> Callable[[np.ndarray], np.ndarray]:
        """x -> the inverse of the Hessian with the penalty alpha ||w||^2, times x (D + 1 rows, the intercept last)."""
        solve = self._weights_solver(alpha)

        def whole(x):
            weights = solve(x[:-1] - np.outer(self.shift, x[-1]))
            return np.vstack([weights, x[-1:] / self.c - self.shift @ weights])

        return whole

    def _weights_solver(self, alpha):
        if self.H.ndim == 1:
            inverse = 1.0 / (self.H + 2 * alpha)
            return lambda x: inverse[:, None] * x
        from scipy.linalg import cho_factor, cho_solve

        H = self.H.copy()
        # What rounding may have taken from the smallest eigenvalues is given back.
        H[np.diag_indices_from(H)] += 2 * alpha + 1e-14 * self.trace()
        factor = cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
        return lambda x: cho_solve(factor, x, check_finite=False)


def sample_of(source: Source, n: int, n_columns: int, seed: int) -> Source:
    """Enough rows of a source to see its curvature: all of them, or a share chosen by their hashes."""
    share = max(_SAMPLE_ROWS, _ROWS_PER_COLUMN * n_columns) / n
    if share >= 0.8:
        return source
    sample = source.where(lambda block: in_holdout(block, share, seed))
    # Equal rows come together or not at all: of few distinct rows there may be none.
    return sample if sample.fold(_Weight()).n else source


@dataclass(frozen=True)
class Landscape:
    """What the curvature is measured from: rows (perhaps a sample), the total weight of all, their origin and spread.

    `spread`, the weighted sum of squares of each centered column, is all that is used where there are many columns.
    """

    rows: Source
    weight: float
    origin: np.ndarray
    spread: np.ndarray | None

    def bound(self, kappa: float) -> Curvature:
        """The curvature where each row bends by kappa."""
        if self.spread is not None:
            return Curvature(kappa * self.spread, kappa * self.weight, np.zeros(len(self.spread)))
        seen = self.rows.map(lambda block: replace(block, y=None)).fold(Gram(n_folds=1))
        return self._scaled(seen, kappa * self.weight)

    def at(self, bend: Callable, kappa: float) -> Curvature:
        """The curvature where the rows of a block bend by `bend(block)`, at most by kappa."""
        if self.spread is not None:
            return self.bound(kappa)
        seen = self.rows.map(lambda block: _bent(block, bend)).fold(Gram(n_folds=1))
        plain = self.rows.fold(_Weight()).finish()
        return self._scaled(seen, self.weight * seen.finish().total.weight / plain)

    def _scaled(self, seen: Gram, c: float) -> Curvature:
        """The curvature that a Gram matrix of some rows tells of all, whose bends sum to c."""
        gram = seen.finish()
        z_mean, y_mean = gram.total.means()
        H, _, _ = gram.total.about(z_mean, y_mean)
        return Curvature(H * (c / gram.total.weight), c, z_mean + gram.z_origin - self.origin)


@dataclass(frozen=True)
class _Weight(Statistic):
    """The sum of the weights of the rows."""

    n: int = 0
    total: float = 0.0

    def of(self, block):
        return _Weight(len(block), float(len(block) if block.weight is None else np.sum(block.weight)))

    def _merge(self, other):
        return _Weight(self.n + other.n, self.total + other.total)

    def finish(self):
        return self.total


def _bent(block, bend):
    weight = bend(block)
    # Rows so far from the boundary that their bend underflows still count as rows.
    weight = np.maximum(weight if block.weight is None else weight * block.weight, np.finfo(float).tiny)
    return replace(block, y=None, weight=weight)
