"""One penalty per block of columns, chosen by the exact K-fold error and its exact gradient.

With A and B the centered normal equations of the rows outside fold k, and G_k, B_k, Y_k the sums of the fold itself,

    W = (A + diag(lambda))^{-1} B,      L_k = tr Y_k - 2 <W, B_k> + <W, G_k W>,
    V = (A + diag(lambda))^{-1} (G_k W - B_k),
    dL_k / d log lambda_b = -2 lambda_b sum over the columns j of block b of <V_j, W_j>.

One Cholesky factor per fold gives the loss and its slope along every penalty at once, so a handful of factorizations
finds them all: no grid, no other look at the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer._numeric.pool import ordered_map
from mercer.stats.gram import GramPerFold, Normal

#: Penalties stay within these bounds, relative to the mean square of a block's columns times the weight of all rows.
_LEAST, _MOST = 1e-9, 1e3
#: How many times the floor may be raised tenfold where rounding leaves equations without a solution.
_RAISED = 6
#: Folds whose matrices together are larger than this (numbers) are centered anew at each step instead of being kept.
_KEEP = 6e7


class _Enough(Exception):
    """There is no time for another score."""


@dataclass(frozen=True)
class Scored:
    """Squared error of held-out rows: per fold (sums over rows and targets), their mean per row, and its slope."""

    per_fold: np.ndarray
    loss: float
    slope: np.ndarray


@dataclass(frozen=True)
class Fitted:
    """Penalties of the blocks, the K-fold score they reached, and the weights of all rows with them."""

    penalties: np.ndarray
    scored: Scored
    coef: np.ndarray
    intercept: np.ndarray
    n_factored: int


class Equations:
    """Normal equations per fold with one penalty per block; `blocks` says for each column which block it is of.

    `enough` is asked before each score once there is one: true ends the search for penalties at the best so far.
    """

    def __init__(self, gram: GramPerFold, blocks: np.ndarray, enough: Callable[[], bool] = lambda: False):
        self.gram, self.blocks = gram, np.asarray(blocks)
        self.n_blocks = int(self.blocks.max()) + 1 if len(self.blocks) else 0
        self.n_factored = 0
        self._kept: list | None = None
        self._enough = enough
        self._best: tuple[np.ndarray, Scored] | None = None

    def scale(self) -> np.ndarray:
        """The mean square of each block's centered columns, summed over rows: what penalties are relative to."""
        total = self.gram.total
        squares = np.maximum(np.diag(total.G) - total.z**2 / total.weight, 0.0)
        sums = np.bincount(self.blocks, weights=squares, minlength=self.n_blocks)
        counts = np.bincount(self.blocks, minlength=self.n_blocks)
        return np.where(sums > 0, sums / np.maximum(counts, 1), 1.0)

    def floor(self) -> np.ndarray:
        """Ten times the rounding error of the Gram matrix, as far as it is a block's: no penalty goes below.

        The entry G_ij rounds by about eps sqrt(G_ii G_jj), so the whole by E = eps tr G, and columns divided by their
        lengths by sqrt(D) E / tr G: long columns of one block say nothing of short ones of another.
        """
        squares = np.diag(self.gram.total.G)
        counts = np.maximum(np.bincount(self.blocks, minlength=self.n_blocks), 1)
        mean = np.bincount(self.blocks, weights=squares, minlength=self.n_blocks) / counts
        relative = self.gram.error * np.sqrt(len(squares)) / max(float(squares.sum()), np.finfo(float).tiny)
        return 10.0 * np.maximum(relative * mean, 4 * np.finfo(float).eps * float(np.max(squares, initial=0.0)))

    def score(self, penalties: np.ndarray, slope: bool = True) -> Scored:
        """The exact K-fold loss of these penalties, one per block, and its slope along their logarithms."""
        if self._best is not None and self._enough():
            raise _Enough
        diagonal = np.asarray(penalties, dtype=np.float64)[self.blocks]
        parts = list(ordered_map(lambda k: self._held_out(k, diagonal, slope), range(len(self.gram.folds))))
        self.n_factored += len(parts)
        per_fold = np.array([loss for loss, _ in parts])
        slopes = np.sum([each for _, each in parts], axis=0) * penalties / self.gram.total.weight
        scored = Scored(per_fold, float(per_fold.sum() / self.gram.total.weight), slopes)
        if np.isfinite(scored.loss) and (self._best is None or scored.loss < self._best[1].loss):
            self._best = np.array(penalties, dtype=np.float64), scored
        return scored

    def _held_out(self, k: int, diagonal: np.ndarray, slope: bool):
        A, B, G, C, Y = self._fold(k)
        factor = _factor(A, diagonal)
        if factor is None:
            return np.inf, np.zeros(self.n_blocks)
        W = _solve(factor, B)
        rest = G @ W - C
        loss = float(np.trace(Y) + np.sum(W * (rest - C)))
        if loss < 0:  # nothing but rounding
            return np.inf, np.zeros(self.n_blocks)
        if not slope:
            return loss, np.zeros(self.n_blocks)
        along = np.sum(_solve(factor, rest) * W, axis=1)
        return loss, -2.0 * np.bincount(self.blocks, weights=along, minlength=self.n_blocks)

    def _fold(self, k: int):
        keep = 2.0 * len(self.gram.folds) * len(self.blocks) ** 2 <= _KEEP
        if not keep:
            return self._centered(k)
        if self._kept is None:
            self._kept = [None] * len(self.gram.folds)
        if self._kept[k] is None:
            self._kept[k] = self._centered(k)
        return self._kept[k]

    def _centered(self, k: int):
        fold = self.gram.folds[k]
        train = self.gram.total - fold
        means = train.means()
        A, B, _ = train.about(*means)
        return A, B, *fold.about(*means)

    def weights(self, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercepts fitted to all rows."""
        return self._weights_of(self.gram.total, penalties)

    def weights_without(self, k: int, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercepts fitted to the rows outside of the k-th of the folds that have any."""
        return self._weights_of(self.gram.total - self.gram.folds[k], penalties)

    def _weights_of(self, rows: Normal, penalties) -> tuple[np.ndarray, np.ndarray]:
        z_mean, y_mean = rows.means()
        A, B, _ = rows.about(z_mean, y_mean)
        factor, floor = _factor(A, np.asarray(penalties)[self.blocks]), self.floor()
        for _ in range(_RAISED if factor is None else 0):  # they were chosen on fewer rows, which round by less
            penalties, floor = np.maximum(penalties, floor), 10 * floor
            factor = _factor(A, penalties[self.blocks])
            if factor is not None:
                break
        if factor is None:
            raise ValueError("The normal equations cannot be solved with these penalties: raise them.")
        self.n_factored += 1
        coef = _solve(factor, B)
        return coef, y_mean + self.gram.y_origin - (z_mean + self.gram.z_origin) @ coef


def best_penalties(equations: Equations, start=None, steps: int = 12) -> tuple[np.ndarray, Scored]:
    """Penalties of least K-fold loss: a common factor first, then all by a quasi-Newton search along their logarithms.

    Parameters
    ----------
    equations : Equations
    start : first guess, one per block, NaN for a block that has none yet; None knows nothing of any
    steps : the most evaluations of the search
    """
    try:
        return _searched(equations, start, steps)
    except _Enough:
        assert equations._best is not None
        return equations._best


def _searched(equations: Equations, start, steps: int) -> tuple[np.ndarray, Scored]:
    from scipy.optimize import minimize

    scale, floor = equations.scale(), equations.floor()
    low, high = np.log(np.maximum(_LEAST * scale, floor)), np.log(np.maximum(_MOST * scale, 10 * floor))
    if start is None:
        guess = np.log(1e-3 * scale)
        tries = [np.clip(guess + shift, low, high) for shift in (-7.0, -3.5, 0.0, 3.5)]
        first = _better_apart(equations, *_best_of(equations, tries), scale, low, high)
    else:
        first = _placed(equations, np.log(np.asarray(start, dtype=np.float64)), np.log(scale), low, high)
        if len(equations.blocks) <= _CHEAP:  # a strong new block may make an old one, trusted so far, worth little
            loss = equations.score(np.exp(first), slope=False).loss
            first = _better_apart(equations, first, loss, scale, low, high)
    best: list = [np.inf, first, None]

    def objective(point):
        scored = equations.score(np.exp(point))
        if scored.loss < best[0]:
            best[:] = scored.loss, point.copy(), scored
        if not np.isfinite(scored.loss) or scored.loss <= 0:
            return 1e3, np.zeros(len(point))
        return np.log(scored.loss), scored.slope / scored.loss

    # In units of e^2 the first step of the search, of length at most one, is not timid.
    minimize(
        lambda u: _chained(objective, u),
        first / _UNIT,
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(low / _UNIT, high / _UNIT, strict=True)),
        options={"maxfun": steps, "maxiter": steps, "ftol": 1e-6, "gtol": 1e-6},
    )
    if best[2] is None:
        raise ValueError("No penalty could be scored: every cross-validated loss was lost to rounding. Rescale X.")
    return np.exp(best[1]), best[2]


_UNIT = 4.0
#: Where each penalty is tried at the start, relative to its block's scale: far from its best value a loss is flat.
_LEVELS = (1e-4, 0.03, 100.0)
#: The levels that the penalty of a new block walks along, from the middle two on.
_WALK = (1e-6, 3e-5, 1e-3, 0.03, 1.0, 30.0, 1000.0)
_MIDDLE = (2, 3)
#: Up to this many columns, another look at every penalty costs little.
_CHEAP = 700


def _best_of(equations, points) -> tuple[np.ndarray, float]:
    losses = [equations.score(np.exp(point), slope=False).loss for point in points]
    return points[int(np.argmin(losses))], min(losses)


def _better_apart(equations, point, loss, scale, low, high) -> np.ndarray:
    """Move one penalty after the other to another level where that is better."""
    for block in range(len(point)) if len(point) > 1 else ():
        for level in np.log(np.array(_LEVELS) * scale[block]):
            leap = point.copy()
            leap[block] = np.clip(level, low[block], high[block])
            if abs(leap[block] - point[block]) < 2:
                continue
            moved, found = _best_of(equations, [leap])
            if found < loss:
                point, loss = moved, found
    return point


def _placed(equations, point, scale, low, high) -> np.ndarray:
    """A first guess completed: unknown penalties walk together from level to level as long as the loss falls."""
    unknown = np.isnan(point)

    def at(level):
        return np.clip(np.where(unknown, scale + np.log(level), point), low, high)

    if not unknown.any():
        return np.clip(point, low, high)
    losses = {k: equations.score(np.exp(at(_WALK[k])), slope=False).loss for k in _MIDDLE}
    step = 1 if losses[_MIDDLE[1]] < losses[_MIDDLE[0]] else -1
    place = _MIDDLE[1] if step > 0 else _MIDDLE[0]
    while 0 <= place + step < len(_WALK):
        losses[place + step] = equations.score(np.exp(at(_WALK[place + step])), slope=False).loss
        if not losses[place + step] < losses[place]:
            break
        place += step
    return at(_WALK[place])


def _chained(objective, u):
    value, slope = objective(u * _UNIT)
    return value, slope * _UNIT


def fit_blocks(gram: GramPerFold, blocks: np.ndarray, start=None, steps: int = 12) -> Fitted:
    """Penalties by the folds, then weights from all rows."""
    equations = Equations(gram, blocks)
    penalties, scored = best_penalties(equations, start, steps)
    coef, intercept = equations.weights(penalties)
    return Fitted(penalties, scored, coef, intercept, equations.n_factored)


def _factor(A: np.ndarray, diagonal: np.ndarray):
    from scipy.linalg import lapack

    shifted = A.copy()
    shifted.flat[:: len(A) + 1] += diagonal
    factor, failed = lapack.dpotrf(shifted.T, lower=0, clean=0, overwrite_a=1)
    return None if failed else factor


def _solve(factor: np.ndarray, B: np.ndarray) -> np.ndarray:
    from scipy.linalg import lapack

    return lapack.dpotrs(factor, B, lower=0)[0]


def principal(normal: Normal, columns: np.ndarray) -> Normal:
    """The equations of some of the columns."""
    return Normal(
        normal.weight,
        normal.z[columns],
        normal.y,
        normal.G[np.ix_(columns, columns)],
        normal.B[columns],
        normal.Y,
    )
