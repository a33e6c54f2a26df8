"""Quadratic programs with bounds on the signs of some weights, by an active set.

    minimize  w' M w / 2 - b' w     subject to   sign_j w_j >= 0   where sign_j is not zero.

Weights without a bound are eliminated by a Cholesky factor: what is left is a problem in the bounded weights alone,
with the Schur complement as its matrix. Lawson and Hanson's active set solves it (Bro and de Jong 1997, on the matrix):
weights at their bound are zero exactly.
"""

from __future__ import annotations

import numpy as np

from mercer._numeric.linalg import dense
from mercer.linear.ridge.fold_loss import GramFoldLoss
from mercer.stats.gram import GramPerFold, Normal

#: A multiplier counts as negative below this fraction of the largest.
_TOL = 1e-10


class BoundedQuadratic:
    """The problem for a positive definite matrix M, factored once for any number of vectors b."""

    def __init__(self, M: np.ndarray, signs: np.ndarray):
        self.bounded, self.free = np.flatnonzero(signs != 0), np.flatnonzero(signs == 0)
        self.signs = signs[self.bounded].astype(np.float64)
        self._free_factor = dense.cho_factor(M[np.ix_(self.free, self.free)]) if len(self.free) else None
        self._cross = M[np.ix_(self.free, self.bounded)] * self.signs
        own = M[np.ix_(self.bounded, self.bounded)] * np.outer(self.signs, self.signs)
        self._schur = own - self._cross.T @ self._solved(self._cross)

    def _solved(self, B: np.ndarray) -> np.ndarray:
        return dense.cho_solve(self._free_factor, B) if self._free_factor is not None else np.zeros_like(B)

    def minimum(self, b: np.ndarray) -> np.ndarray:
        """Return the weights of the minimum for a vector b."""
        out = np.zeros(len(b))
        reduced = self.signs * b[self.bounded] - self._cross.T @ self._solved(b[self.free])
        v = nonnegative_minimum(self._schur, reduced)
        out[self.bounded] = self.signs * v
        out[self.free] = self._solved(b[self.free] - self._cross @ v)
        return out


def nonnegative_minimum(S: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the v >= 0 that minimizes v' S v / 2 - q' v for a positive definite S."""
    n = len(q)
    v, inside = np.zeros(n), np.zeros(n, dtype=bool)
    unit = _TOL * max(float(np.abs(q).max(initial=0.0)), np.finfo(float).tiny)
    for _ in range(10 * n + 10):
        pull = np.where(inside, -np.inf, q - S @ v)
        enters = int(np.argmax(pull)) if n else 0
        if not n or pull[enters] <= unit:
            break
        inside[enters] = True
        while True:
            index = np.flatnonzero(inside)
            trial = dense.cho_solve(dense.cho_factor(S[np.ix_(index, index)]), q[index])
            if np.all(trial > 0):
                v[:] = 0.0
                v[index] = trial
                break
            falls = trial <= 0
            step = np.min(v[index][falls] / (v[index][falls] - trial[falls]))
            v[index] += step * (trial - v[index])
            leaves = index[falls & (v[index] <= unit * np.finfo(float).eps + 1e-15 * np.abs(v).max())]
            leaves = index[falls][[int(np.argmin(v[index][falls]))]] if len(leaves) == 0 else leaves
            inside[leaves], v[leaves] = False, 0.0
    return v


class BoundedFoldLoss(GramFoldLoss):
    """`GramFoldLoss` whose weights have the signs asked for; `score` is that without bounds."""

    def __init__(self, gram: GramPerFold, blocks: np.ndarray, signs: np.ndarray):
        super().__init__(gram, blocks)
        self.signs = signs

    def _weights_of(self, rows: Normal, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z_mean, y_mean = rows.means()
        A, B, _ = rows.about(z_mean, y_mean)
        A.flat[:: len(A) + 1] += np.maximum(penalties, self.floor())[self.blocks]
        problem = BoundedQuadratic(A, self.signs)
        self.n_factored += 1
        coef = np.column_stack([problem.minimum(b) for b in B.T])
        return coef, y_mean + self.gram.y_origin - (z_mean + self.gram.z_origin) @ coef

    def bounded_loss(self, penalties: np.ndarray) -> float:
        """Return the mean squared error of held-out rows by the bounded weights without their folds."""
        total = 0.0
        for k in range(self.n_folds):
            W, _ = self.weights_without(k, penalties)
            _, _, G, C, squares = self._centered(k)
            total += float(squares + (W * (G @ W - 2 * C)).sum())
        return total / self.weight
