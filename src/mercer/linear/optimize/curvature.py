"""One matrix that stands for the curvature of a loss everywhere: the preconditioner of iterated fits.

For the logistic loss the Hessian is at most kappa Z'Z + 2 alpha, kappa = 1/4 for two classes and 1/2 for more
(Boehning 1992), Z being centered so that the intercept stands apart. One factorization of it, from a sample of the rows
where there are many, makes the step from the class frequencies that of ridge regression, and the later ones short.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.source import Source, in_holdout
from mercer.stats import Gram
from mercer.stats.gram import GramPerFold

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


@dataclass(frozen=True)
class Landscape:
    """What the curvature is measured from: rows (perhaps a sample), their Gram matrix, the total weight and an origin.

    `spread`, the weighted sum of squares of each centered column, is all that is used where there are many columns.
    """

    rows: Source
    seen: Any
    weight: float
    origin: np.ndarray
    spread: np.ndarray | None

    @classmethod
    def of(cls, source: Source, n: int, weight: float, origin: np.ndarray, spread, seed: int) -> Landscape:
        """One look at enough of the n rows of a source: all of them, or a share chosen by their hashes."""
        if spread is not None:
            return cls(source, None, weight, origin, spread)
        share = max(_SAMPLE_ROWS, _ROWS_PER_COLUMN * len(origin)) / n
        rows = source if share >= 0.8 else source.where(lambda block: in_holdout(block, share, seed))
        gram = _gram(rows)
        if gram.n == 0:  # equal rows come together or not at all: of few distinct rows there may be none
            rows, gram = source, _gram(source)
        return cls(rows, gram.finish(), weight, origin, None)

    def bound(self, kappa: float) -> Curvature:
        """The curvature where each row bends by kappa."""
        if self.spread is not None:
            return Curvature(kappa * self.spread, kappa * self.weight, np.zeros(len(self.origin)))
        return self._scaled(self.seen, kappa * self.weight)

    def at(self, bend: Callable, kappa: float) -> Curvature:
        """The curvature where the rows of a block bend by `bend(block)`, at most by kappa."""
        if self.spread is not None:
            return self.bound(kappa)
        bent = _gram(self.rows, bend).finish()
        return self._scaled(bent, self.weight * bent.total.weight / self.seen.total.weight)

    def _scaled(self, gram: GramPerFold, c: float) -> Curvature:
        """The curvature that a Gram matrix of some rows tells of all, whose bends sum to c."""
        z_mean, y_mean = gram.total.means()
        H, _, _ = gram.total.about(z_mean, y_mean)
        return Curvature(H * (c / gram.total.weight), c, z_mean + gram.z_origin - self.origin)


def _gram(rows: Source, bend=None) -> Gram:
    return rows.map(lambda block: replace(block, y=None, weight=_bent(block, bend))).fold(Gram(n_folds=1))


def _bent(block, bend):
    """The weights of a block, times its bends if there are any."""
    if bend is None:
        return block.weight
    weight = bend(block) if block.weight is None else bend(block) * block.weight
    # Rows so far from the boundary that their bend underflows still count as rows.
    return np.maximum(weight, np.finfo(float).tiny)
