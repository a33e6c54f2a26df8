"""The least loss a single column allows: logistic and hinge, from weights by bin and class.

Everything here works on many columns at once: `x`, `pos`, `neg` have a row per column and an entry per bin (its place,
the weights of the two classes in it); bins of no weight fill up the rows.
"""

from __future__ import annotations

import numpy as np

_STEPS = 100


def logistic_minimum(x, pos, neg) -> np.ndarray:
    """min over a, c of the sum of pos log(1 + e^-f) + neg log(1 + e^f), f = a x + c, by damped Newton steps."""
    x = _standardized(x, pos + neg)
    constant = np.log(np.maximum(pos.sum(1), 1e-300) / np.maximum(neg.sum(1), 1e-300))
    theta = np.stack([np.zeros(len(x)), np.clip(constant, -700, 700)])
    loss = _logistic(theta, x, pos, neg)
    for _ in range(_STEPS):
        step = _newton_step(theta, x, pos, neg)
        size = np.ones(len(x))
        for _ in range(30):
            trial = theta + size * step
            value = _logistic(trial, x, pos, neg)
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


def _logistic(theta, x, pos, neg):
    f = theta[0][:, None] * x + theta[1][:, None]
    return np.sum(pos * np.logaddexp(0, -f) + neg * np.logaddexp(0, f), axis=1)


def _newton_step(theta, x, pos, neg):
    f = theta[0][:, None] * x + theta[1][:, None]
    p = 0.5 * (1 + np.tanh(0.5 * f))
    slope = neg * p - pos * (1 - p)
    bend = (pos + neg) * p * (1 - p)
    g0, g1 = np.sum(slope * x, 1), np.sum(slope, 1)
    h00, h01, h11 = np.sum(bend * x * x, 1), np.sum(bend * x, 1), np.sum(bend, 1)
    ridge = 1e-12 * (h00 + h11) + 1e-300
    h00, h11 = h00 + ridge, h11 + ridge
    det = h00 * h11 - h01**2
    ok = det > 1e-280
    det = np.where(ok, det, 1.0)
    step = np.stack([-(h11 * g0 - h01 * g1) / det, -(h00 * g1 - h01 * g0) / det])
    return np.where(ok & np.all(np.isfinite(step), axis=0), step, 0.0)


def hinge_minimum(x, pos, neg) -> np.ndarray:
    """min over a, c of the sum of pos max(0, 1 - f) + neg max(0, 1 + f), f = a x + c, exactly up to rounding.

    For a given slope a the best c is a breakpoint, found by sorting. What remains is convex and piecewise linear in a:
    tangents from both sides of the minimum are cut until the minimum lies on them.
    """
    x = _standardized(x, pos + neg)
    total = np.maximum((pos + neg).sum(1), 1e-300)
    zero = np.zeros(len(x))
    best, slope = _best_offset(zero, x, pos, neg)
    low, high = (np.stack([zero, best, slope]) for _ in range(2))  # (a, value, slope) left and right of the minimum
    side = np.where(slope < 0, 1.0, -1.0)
    done = (slope == 0) | (best <= 1e-13 * total)
    reach = side.copy()
    open_ = ~done
    for _ in range(_STEPS):  # outward until the slope turns
        if not open_.any():
            break
        value, slope = _best_offset(reach, x, pos, neg)
        best = np.where(open_ & (value < best), value, best)
        turned = side * slope >= 0
        point = np.stack([reach, value, slope])
        _put(high, point, open_ & (slope >= 0))
        _put(low, point, open_ & (slope < 0))
        open_ &= ~turned & (value > 1e-13 * total)
        reach = np.where(open_, 2 * reach, reach)
    return _cut(low, high, best, done, x, pos, neg, total)


def _cut(low, high, best, done, x, pos, neg, total):
    for round_ in range(_STEPS):
        gap = low[2] - high[2]
        done = done | (gap >= 0) | (best <= 1e-13 * total)
        if done.all():
            break
        safe = np.where(gap < 0, gap, -1.0)
        meet = (high[1] - low[1] + low[2] * low[0] - high[2] * high[0]) / safe
        floor = low[1] + low[2] * (meet - low[0])
        done = done | (best - floor <= 1e-12 * total)
        # The middle, now and then, so that no side creeps.
        a = np.where(done, 0.0, 0.5 * (low[0] + high[0]) if round_ % 3 == 2 else meet)
        value, slope = _best_offset(a, x, pos, neg)
        best = np.where(~done & (value < best), value, best)
        point = np.stack([a, value, slope])
        _put(high, point, ~done & (slope >= 0))
        _put(low, point, ~done & (slope < 0))
    return best


def _put(where, point, mask):
    where[:, mask] = point[:, mask]


def _best_offset(a, x, pos, neg):
    """The least loss over c at slope a, and a subgradient of it in a."""
    shift = a[:, None] * x
    breaks = np.concatenate([1.0 - shift, -1.0 - shift], axis=1)
    weight = np.concatenate([pos, neg], axis=1)
    order = np.argsort(breaks, axis=1, kind="stable")
    sorted_weight = np.take_along_axis(weight, order, axis=1)
    passed = np.cumsum(sorted_weight, axis=1)
    target = pos.sum(1)[:, None]  # the slope in c turns where the weight passed reaches that of the positive class
    k = np.minimum(np.argmax(passed >= target * (1 - 1e-15), axis=1), order.shape[1] - 1)[:, None]
    c = np.take_along_axis(breaks, np.take_along_axis(order, k, axis=1), axis=1)
    f = shift + c
    value = np.sum(pos * np.maximum(0, 1 - f) + neg * np.maximum(0, 1 + f), axis=1)
    share = np.clip((target - (passed - sorted_weight)) / np.where(sorted_weight > 0, sorted_weight, 1.0), 0.0, 1.0)
    gone = np.empty_like(share)
    np.put_along_axis(gone, order, share, axis=1)  # the part of each breakpoint that lies below c
    bins = x.shape[1]
    slope = np.sum(x * (neg * gone[:, bins:] - pos * (1 - gone[:, :bins])), axis=1)
    return value, np.where(np.abs(slope) <= 1e-13 * np.sum(np.abs(x) * (pos + neg), axis=1), 0.0, slope)


def _standardized(x, weight):
    total = np.maximum(weight.sum(1, keepdims=True), 1e-300)
    x = np.where(weight > 0, x, 0.0)
    x = np.where(weight > 0, x - np.sum(weight * x, axis=1, keepdims=True) / total, 0.0)
    largest = np.maximum(np.abs(x).max(axis=1, keepdims=True), 1e-300)
    x = x / largest
    spread = np.sqrt(np.sum(weight * x**2, axis=1, keepdims=True) / total)
    return x / np.where(spread > 0, spread, 1.0)
