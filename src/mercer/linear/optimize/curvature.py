"""Matrices that stand for the curvature of a loss: the preconditioners of iterated fits.

For the logistic loss the Hessian is at most kappa Z'Z + 2 alpha, kappa = 1/4 for two classes and 1/2 for more
(Boehning 1992), Z being centered so that the intercept separates. One factorization of it, from a sample of the rows
if there are many, makes the first step from the class frequencies that of ridge regression, and the later ones short.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._numeric.linalg import dense
from mercer.source import Source, in_holdout
from mercer.stats import Gram
from mercer.stats.gram import GramPerFold

#: With more columns than this only the diagonal is kept.
MAX_COLUMNS = 4096
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
        """Return tr H, an upper bound of the largest eigenvalue."""
        return float(np.sum(self.H if self.H.ndim == 1 else np.diag(self.H)))

    def solver(self, alpha: float) -> Callable[[np.ndarray], np.ndarray]:
        """Return x -> the inverse of the Hessian with penalty alpha ||w||^2, times x (D + 1 rows, intercept last)."""
        solve = self._weights_solver(alpha)

        def whole(x: np.ndarray) -> np.ndarray:
            weights = solve(x[:-1] - np.outer(self.shift, x[-1]))
            return np.vstack([weights, x[-1:] / self.c - self.shift @ weights])

        return whole

    def _weights_solver(self, alpha: float) -> Callable[[np.ndarray], np.ndarray]:
        if self.H.ndim == 1:
            inverse = 1.0 / (self.H + 2 * alpha)
            return lambda x: inverse[:, None] * x
        H = self.H.copy()
        # The second term makes up for what rounding may have taken from the smallest eigenvalues.
        H[np.diag_indices_from(H)] += 2 * alpha + 1e-14 * self.trace()
        factor = dense.cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
        return lambda x: dense.cho_solve(factor, x, check_finite=False)


@dataclass(frozen=True)
class LossPreconditioner:
    """Rows (perhaps a sample) that the curvature is estimated from, their Gram matrix, the total weight and an origin.

    With many columns `squares`, the weighted sum of squares of each centered column, replaces the Gram matrix.
    """

    rows: Source
    gram: Any
    weight: float
    origin: np.ndarray
    squares: np.ndarray | None

    @classmethod
    def of(
        cls, source: Source, n: int, weight: float, origin: np.ndarray, squares: np.ndarray | None, seed: int
    ) -> LossPreconditioner:
        """Take one pass over the n rows of a source, or over a fraction of them chosen by their hashes."""
        if squares is not None:
            return cls(source, None, weight, origin, squares)
        fraction = max(_SAMPLE_ROWS, _ROWS_PER_COLUMN * len(origin)) / n
        rows = source if fraction >= 0.8 else source.where(lambda block: in_holdout(block, fraction, seed))
        gram = _gram(rows)
        if gram.n == 0:  # equal rows are sampled together: of few distinct rows there may be none
            rows, gram = source, _gram(source)
        return cls(rows, gram.finish(), weight, origin, None)

    def bound(self, kappa: float) -> Curvature:
        """Return the curvature if that of each row is kappa."""
        if self.squares is not None:
            return Curvature(kappa * self.squares, kappa * self.weight, np.zeros(len(self.origin)))
        return self._scaled(self.gram, kappa * self.weight)

    def at(self, curvature: Callable[[Block], np.ndarray], kappa: float) -> Curvature:
        """Return the curvature if that of the rows of a block is `curvature(block)`, at most kappa."""
        if self.squares is not None:
            return self.bound(kappa)
        weighted = _gram(self.rows, curvature).finish()
        return self._scaled(weighted, self.weight * weighted.total.weight / self.gram.total.weight)

    def _scaled(self, gram: GramPerFold, c: float) -> Curvature:
        """Return the curvature of all rows, of total c, estimated from the Gram matrix of some."""
        z_mean, y_mean = gram.total.means()
        H, _, _ = gram.total.about(z_mean, y_mean)
        return Curvature(H * (c / gram.total.weight), c, z_mean + gram.z_origin - self.origin)


def _gram(rows: Source, curvature: Callable[[Block], np.ndarray] | None = None) -> Gram:
    return rows.map(lambda block: replace(block, y=None, weight=_weights(block, curvature))).fold(Gram(n_folds=1))


def _weights(block: Block, curvature: Callable[[Block], np.ndarray] | None) -> np.ndarray | None:
    """Return the weights of a block, times the curvature of its rows."""
    if curvature is None:
        return block.weight
    weight = curvature(block) if block.weight is None else curvature(block) * block.weight
    # Rows so far from the boundary that their curvature underflows still count as rows.
    return np.maximum(weight, np.finfo(float).tiny)
