"""One penalty per block of columns, chosen by the exact K-fold error and its exact gradient.

`PerFold` gives the loss and its slope along every penalty at once, so a handful of factorizations finds them all: no
grid, no other look at the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.auto.ridge.equations import Enough, Equations, PerFold, Scored
from mercer.stats.gram import GramPerFold

#: Penalties stay within these bounds, relative to the mean square of a block's columns times the weight of all rows.
_LEAST, _MOST = 1e-9, 1e3


@dataclass(frozen=True)
class Fitted:
    """Penalties of the blocks, the K-fold score they reached, and the weights of all rows with them."""

    penalties: np.ndarray
    scored: Scored
    coef: np.ndarray
    intercept: np.ndarray
    n_factored: int


def best_penalties(equations: PerFold, start=None, steps: int = 12) -> tuple[np.ndarray, Scored]:
    """Penalties of least K-fold loss: a common factor first, then all by a quasi-Newton search along their logarithms.

    Parameters
    ----------
    equations : Equations
    start : first guess, one per block, NaN for a block that has none yet; None knows nothing of any
    steps : the most evaluations of the search
    """
    try:
        return _searched(equations, start, steps)
    except Enough:
        assert equations._best is not None
        return equations._best


def _searched(equations: PerFold, start, steps: int) -> tuple[np.ndarray, Scored]:
    from scipy.optimize import minimize

    scale, floor = equations.scale(), equations.floor()
    low, high = np.log(np.maximum(_LEAST * scale, floor)), np.log(np.maximum(_MOST * scale, 10 * floor))
    if start is None:
        guess = np.log(1e-3 * scale)
        tries = [np.clip(guess + shift, low, high) for shift in (-7.0, -3.5, 0.0, 3.5)]
        first = _better_apart(equations, *_best_of(equations, tries), scale, low, high)
    else:
        first, loss = _placed(equations, np.log(np.asarray(start, dtype=np.float64)), np.log(scale), low, high)
        if equations.size <= _CHEAP:  # a strong new block may make an old one, trusted so far, worth little
            loss = equations.score(np.exp(first), slope=False).loss if loss is None else loss
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


def _placed(equations, point, scale, low, high) -> tuple[np.ndarray, float | None]:
    """A first guess completed: unknown penalties walk together from level to level as long as the loss falls.

    The loss there, which is None if nothing was unknown.
    """
    unknown = np.isnan(point)

    def at(level):
        return np.clip(np.where(unknown, scale + np.log(level), point), low, high)

    if not unknown.any():
        return np.clip(point, low, high), None
    losses = {k: equations.score(np.exp(at(_WALK[k])), slope=False).loss for k in _MIDDLE}
    step = 1 if losses[_MIDDLE[1]] < losses[_MIDDLE[0]] else -1
    place = _MIDDLE[1] if step > 0 else _MIDDLE[0]
    while 0 <= place + step < len(_WALK):
        losses[place + step] = equations.score(np.exp(at(_WALK[place + step])), slope=False).loss
        if not losses[place + step] < losses[place]:
            break
        place += step
    return at(_WALK[place]), losses[place]


def _chained(objective, u):
    value, slope = objective(u * _UNIT)
    return value, slope * _UNIT


def fit_blocks(gram: GramPerFold, blocks: np.ndarray, start=None, steps: int = 12) -> Fitted:
    """Penalties by the folds, then weights from all rows."""
    equations = Equations(gram, blocks)
    penalties, scored = best_penalties(equations, start, steps)
    coef, intercept = equations.weights(penalties)
    return Fitted(penalties, scored, coef, intercept, equations.n_factored)
