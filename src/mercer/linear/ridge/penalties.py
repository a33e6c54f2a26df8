"""One penalty per block of columns, chosen by the exact K-fold loss and its exact gradient.

`FoldLoss` gives the loss and its derivatives in all log penalties at once, so a dozen evaluations find them: no grid,
no further pass over the data.
"""

from __future__ import annotations

import numpy as np

from mercer.linear.ridge.fold_loss import FoldLoss, FoldScore, OutOfTime

#: Bounds of the penalties, relative to `FoldLoss.scale`.
_MIN_PENALTY, _MAX_PENALTY = 1e-9, 1e3
#: First guesses of a common penalty: e^shift times 1e-3 of the scale.
_COMMON_SHIFTS = (-7.0, -3.5, 0.0, 3.5)
#: Relative penalties that each block is restarted from: far from its best value the loss is flat.
_RESTARTS = (1e-4, 0.03, 100.0)
#: Relative penalties that new blocks are tried at, from the middle two outward.
_GRID = (1e-6, 3e-5, 1e-3, 0.03, 1.0, 30.0, 1000.0)
_MIDDLE = (2, 3)
#: Up to this matrix size, known penalties are restarted as well.
_MAX_RESTART_SIZE = 700
#: Unit of the log penalties: the first step of L-BFGS-B has length at most one.
_UNIT = 4.0


class UnsolvableError(ValueError):
    """The equations of some fold cannot be solved with any penalty that was tried."""


def best_penalties(
    losses: FoldLoss, start: np.ndarray | None = None, max_iter: int = 12, tol: float = 1e-6, restart: bool = True
) -> tuple[np.ndarray, FoldScore]:
    """Return the penalties of smallest K-fold loss found, and their score.

    A common factor comes first, then restarts block by block, then L-BFGS-B on the log penalties.

    Parameters
    ----------
    losses : FoldLoss
    start : first guess, one per block, NaN for an unknown block; None if all are unknown
    max_iter : upper bound on the evaluations of L-BFGS-B
    tol : L-BFGS-B stops at this relative decrease, or gradient, of the log loss
    restart : whether known penalties are restarted block by block where that costs little
    """
    try:
        return _search(losses, start, max_iter, tol, restart)
    except OutOfTime:
        assert losses.best is not None
        return losses.best


def _search(
    losses: FoldLoss, start: np.ndarray | None, max_iter: int, tol: float, restart: bool
) -> tuple[np.ndarray, FoldScore]:
    from scipy.optimize import minimize

    scale, floor = losses.scale(), losses.floor()
    low = np.log(np.maximum(_MIN_PENALTY * scale, floor))
    high = np.log(np.maximum(_MAX_PENALTY * scale, 10 * floor))
    first = _first_guess(losses, start, scale, low, high, restart)
    best: list = [np.inf, first, None]

    def objective(u: np.ndarray) -> tuple[float, np.ndarray]:
        point = u * _UNIT
        score = losses.score(np.exp(point))
        if score.loss < best[0]:
            best[:] = score.loss, point.copy(), score
        if not np.isfinite(score.loss) or score.loss <= 0:
            return 1e3, np.zeros(len(point)) * _UNIT
        return np.log(score.loss), score.gradient / score.loss * _UNIT

    minimize(
        objective,
        first / _UNIT,
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(low / _UNIT, high / _UNIT, strict=True)),
        options={"maxfun": max_iter, "maxiter": max_iter, "ftol": tol, "gtol": tol},
    )
    if best[2] is None:
        raise UnsolvableError("No penalty could be scored: every cross-validated loss was lost to rounding. Rescale X.")
    return np.exp(best[1]), best[2]


def _first_guess(
    losses: FoldLoss, start: np.ndarray | None, scale: np.ndarray, low: np.ndarray, high: np.ndarray, restart: bool
) -> np.ndarray:
    """Return log penalties to start from."""
    if start is None:
        guess = np.log(1e-3 * scale)
        points = [np.clip(guess + shift, low, high) for shift in _COMMON_SHIFTS]
        values = [_value(losses, point) for point in points]
        return _restarted(losses, points[int(np.argmin(values))], min(values), scale, low, high)
    first, loss = _completed(losses, np.log(np.asarray(start, dtype=np.float64)), np.log(scale), low, high)
    if losses.size > _MAX_RESTART_SIZE or not restart:
        return first
    # A strong new block may make an old one, trusted so far, worth little.
    loss = _value(losses, first) if loss is None else loss
    return _restarted(losses, first, loss, scale, low, high)


def _value(losses: FoldLoss, point: np.ndarray) -> float:
    return losses.score(np.exp(point), gradient=False).loss


def _restarted(
    losses: FoldLoss, point: np.ndarray, loss: float, scale: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Move one penalty after the other to a restart value wherever that lowers the loss."""
    for block in range(len(point)) if len(point) > 1 else ():
        for value in np.log(np.array(_RESTARTS) * scale[block]):
            trial = point.copy()
            trial[block] = np.clip(value, low[block], high[block])
            if abs(trial[block] - point[block]) < 2:
                continue
            found = _value(losses, trial)
            if found < loss:
                point, loss = trial, found
    return point


def _completed(
    losses: FoldLoss, point: np.ndarray, log_scale: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, float | None]:
    """Fill in unknown log penalties by a common walk along the grid while the loss falls.

    Returns the point and its loss, which is None if nothing was unknown.
    """
    unknown = np.isnan(point)
    if not unknown.any():
        return np.clip(point, low, high), None

    def at(index: int) -> np.ndarray:
        return np.clip(np.where(unknown, log_scale + np.log(_GRID[index]), point), low, high)

    values = {index: _value(losses, at(index)) for index in _MIDDLE}
    step = 1 if values[_MIDDLE[1]] < values[_MIDDLE[0]] else -1
    index = _MIDDLE[1] if step > 0 else _MIDDLE[0]
    while 0 <= index + step < len(_GRID):
        values[index + step] = _value(losses, at(index + step))
        if not values[index + step] < values[index]:
            break
        index += step
    return at(index), values[index]
