"""Minimum logistic and hinge loss of an affine predictor on a single column, from weights by bin and class.

Everything works on many columns at once: `x`, `pos`, `neg` have one row per column and one entry per bin (its value and
the weights of the two classes in it); bins of weight zero pad the rows.
"""

from __future__ import annotations

import numpy as np

from mercer.linear.losses import Hinge, Logistic

_MAX_ITER = 100


def logistic_minimum(x: np.ndarray, pos: np.ndarray, neg: np.ndarray) -> np.ndarray:
    """Minimize the sum of pos log(1 + e^-f) + neg log(1 + e^f), f = a x + c, over a, c by damped Newton steps."""
    x = _standardized(x, pos + neg)
    constant = np.log(np.maximum(pos.sum(1), 1e-300) / np.maximum(neg.sum(1), 1e-300))
    theta = np.stack([np.zeros(len(x)), np.clip(constant, -700, 700)])
    loss = _logistic_loss(theta, x, pos, neg)
    for _ in range(_MAX_ITER):
        step = _newton_step(theta, x, pos, neg)
        size = np.ones(len(x))
        for _ in range(30):
            trial = theta + size * step
            value = _logistic_loss(trial, x, pos, neg)
            worse = value > loss
            if not worse.any():
                break
            size = np.where(worse, size / 2, size)
        better = value < loss
        gain = np.where(better, loss - value, 0.0)
        theta, loss = np.where(better, trial, theta), np.where(better, value, loss)
        if np.all(gain <= 1e-13 * (pos + neg).sum(1)):
            break
    return loss


def _logistic_loss(theta: np.ndarray, x: np.ndarray, pos: np.ndarray, neg: np.ndarray) -> np.ndarray:
    f = theta[0][:, None] * x + theta[1][:, None]
    loss = Logistic().value
    return np.sum(pos * loss(1.0, f) + neg * loss(-1.0, f), axis=1)


def _newton_step(theta: np.ndarray, x: np.ndarray, pos: np.ndarray, neg: np.ndarray) -> np.ndarray:
    f = theta[0][:, None] * x + theta[1][:, None]
    p = 0.5 * (1 + np.tanh(0.5 * f))
    gradient = neg * p - pos * (1 - p)
    hessian = (pos + neg) * p * (1 - p)
    g0, g1 = np.sum(gradient * x, 1), np.sum(gradient, 1)
    h00, h01, h11 = np.sum(hessian * x * x, 1), np.sum(hessian * x, 1), np.sum(hessian, 1)
    ridge = 1e-12 * (h00 + h11) + 1e-300
    h00, h11 = h00 + ridge, h11 + ridge
    det = h00 * h11 - h01**2
    ok = det > 1e-280
    det = np.where(ok, det, 1.0)
    step = np.stack([-(h11 * g0 - h01 * g1) / det, -(h00 * g1 - h01 * g0) / det])
    return np.where(ok & np.all(np.isfinite(step), axis=0), step, 0.0)


def hinge_minimum(x: np.ndarray, pos: np.ndarray, neg: np.ndarray) -> np.ndarray:
    """Minimize the sum of pos max(0, 1 - f) + neg max(0, 1 + f), f = a x + c, over a, c, exactly up to rounding.

    For a given slope a the best c is a breakpoint, found by sorting. The minimum over c is convex and piecewise linear
    in a: cutting planes from both sides close in on its minimum (Kelley).
    """
    x = _standardized(x, pos + neg)
    total = np.maximum((pos + neg).sum(1), 1e-300)
    zero = np.zeros(len(x))
    best, gradient = _best_offset(zero, x, pos, neg)
    low, high = (np.stack([zero, best, gradient]) for _ in range(2))  # (a, value, gradient) left and right of the min
    side = np.where(gradient < 0, 1.0, -1.0)
    done = (gradient == 0) | (best <= 1e-13 * total)
    reach = side.copy()
    open_ = ~done
    for _ in range(_MAX_ITER):  # double the bracket until the gradient changes sign
        if not open_.any():
            break
        value, gradient = _best_offset(reach, x, pos, neg)
        best = np.where(open_ & (value < best), value, best)
        turned = side * gradient >= 0
        point = np.stack([reach, value, gradient])
        _put(high, point, open_ & (gradient >= 0))
        _put(low, point, open_ & (gradient < 0))
        open_ &= ~turned & (value > 1e-13 * total)
        reach = np.where(open_, 2 * reach, reach)
    return _cutting_planes(low, high, best, done, x, pos, neg, total)


def _cutting_planes(
    low: np.ndarray,
    high: np.ndarray,
    best: np.ndarray,
    done: np.ndarray,
    x: np.ndarray,
    pos: np.ndarray,
    neg: np.ndarray,
    total: np.ndarray,
) -> np.ndarray:
    for iteration in range(_MAX_ITER):
        gap = low[2] - high[2]
        done = done | (gap >= 0) | (best <= 1e-13 * total)
        if done.all():
            break
        safe = np.where(gap < 0, gap, -1.0)
        meet = (high[1] - low[1] + low[2] * low[0] - high[2] * high[0]) / safe
        floor = low[1] + low[2] * (meet - low[0])
        done = done | (best - floor <= 1e-12 * total)
        # Bisect every third time, so that neither side stalls.
        a = np.where(done, 0.0, 0.5 * (low[0] + high[0]) if iteration % 3 == 2 else meet)
        value, gradient = _best_offset(a, x, pos, neg)
        best = np.where(~done & (value < best), value, best)
        point = np.stack([a, value, gradient])
        _put(high, point, ~done & (gradient >= 0))
        _put(low, point, ~done & (gradient < 0))
    return best


def _put(target: np.ndarray, point: np.ndarray, mask: np.ndarray) -> None:
    target[:, mask] = point[:, mask]


def _best_offset(a: np.ndarray, x: np.ndarray, pos: np.ndarray, neg: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Minimize over c at slope a; return the loss and a subgradient of it in a."""
    shift = a[:, None] * x
    breaks = np.concatenate([1.0 - shift, -1.0 - shift], axis=1)
    weight = np.concatenate([pos, neg], axis=1)
    order = np.argsort(breaks, axis=1, kind="stable")
    sorted_weight = np.take_along_axis(weight, order, axis=1)
    passed = np.cumsum(sorted_weight, axis=1)
    # The derivative in c changes sign where the weight passed reaches that of the positive class.
    target = pos.sum(1)[:, None]
    k = np.minimum(np.argmax(passed >= target * (1 - 1e-15), axis=1), order.shape[1] - 1)[:, None]
    c = np.take_along_axis(breaks, np.take_along_axis(order, k, axis=1), axis=1)
    f, loss = shift + c, Hinge().value
    value = np.sum(pos * loss(1.0, f) + neg * loss(-1.0, f), axis=1)
    fraction = np.clip((target - (passed - sorted_weight)) / np.where(sorted_weight > 0, sorted_weight, 1.0), 0.0, 1.0)
    below = np.empty_like(fraction)
    np.put_along_axis(below, order, fraction, axis=1)  # the fraction of each breakpoint that lies below c
    bins = x.shape[1]
    gradient = np.sum(x * (neg * below[:, bins:] - pos * (1 - below[:, :bins])), axis=1)
    return value, np.where(np.abs(gradient) <= 1e-13 * np.sum(np.abs(x) * (pos + neg), axis=1), 0.0, gradient)


def _standardized(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    total = np.maximum(weight.sum(1, keepdims=True), 1e-300)
    x = np.where(weight > 0, x, 0.0)
    x = np.where(weight > 0, x - np.sum(weight * x, axis=1, keepdims=True) / total, 0.0)
    largest = np.maximum(np.abs(x).max(axis=1, keepdims=True), 1e-300)
    x = x / largest
    std = np.sqrt(np.sum(weight * x**2, axis=1, keepdims=True) / total)
    return x / np.where(std > 0, std, 1.0)
