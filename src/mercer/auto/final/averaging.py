"""The mean of models that differ in their random features: still one linear model, on all their features.

With u the features that S models share and z_s the random features of the s-th,

    mean over s of (<v_s, u> + <w_s, z_s>)  =  <mean of v_s, u> + sum over s of <w_s / S, z_s>.

A penalty lambda ||w_s||^2 / S for each is S lambda ||w_s / S||^2: in the mean, the penalty of random features is
S lambda.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import Effort
from mercer.auto.conformal.calibration import IntervalCalibration
from mercer.auto.features.union import Features
from mercer.auto.final.predictor import Predictor
from mercer.auto.search.state import SearchResult


def redrawn(found: SearchResult, effort: Effort, seed: int, clock: Clock, seconds: float) -> SearchResult:
    """The same features with random features of several seeds, as many as features and time allow.

    `seconds` is what a fit of the weights takes where the Gram matrix, if they need one, is known.
    """
    drawn = [block for block in found.features.blocks if block.kind == "fourier"]
    if effort.n_fourier_seeds < 2 or not drawn or found.kernel is None:
        return found
    each = seconds + max((tried.seconds for tried in found.candidates if tried.stage == "fourier"), default=0.0)
    room = (effort.max_features - found.features.width) // drawn[0].width
    more = int(max(0, min(effort.n_fourier_seeds - 1, room, clock.left() / max(each, 1e-9))))
    others = [found.kernel.features(drawn[0].width, seed + k) for k in range(1, 1 + more)]
    is_drawn = np.array([block.kind == "fourier" for block in found.features.blocks])
    penalties = found.penalties * np.where(is_drawn, 1.0 + more, 1.0)
    penalties = np.append(penalties, np.repeat(penalties[is_drawn][0], more))
    return replace(found, features=found.features.plus(*others), penalties=penalties)


def members(found: SearchResult) -> list[tuple[SearchResult, np.ndarray]]:
    """The configurations whose mean is the model, and the indices of their features among all."""
    blocks, slices = found.features.blocks, found.features.slices()
    drawn = [k for k, block in enumerate(blocks) if block.kind == "fourier"]
    if len(drawn) < 2:
        return [(found, np.arange(found.features.width))]
    parts = []
    for own in drawn:
        kept = [k for k in range(len(blocks)) if k == own or k not in drawn]
        penalties = found.penalties[kept] / np.where([k == own for k in kept], len(drawn), 1)
        part = replace(found, features=Features([blocks[k] for k in kept]), penalties=penalties)
        parts.append((part, np.concatenate([np.arange(slices[k].start, slices[k].stop) for k in kept])))
    return parts


def averaged(
    found: SearchResult, fit_one: Callable[[SearchResult], Predictor], first: Predictor | None = None
) -> Predictor:
    """The mean of the models that `fit_one` fits to each member of a configuration; the first one may be known."""
    parts = members(found)
    first = fit_one(parts[0][0]) if first is None else first
    if len(parts) == 1 or first.features.width < parts[0][0].features.width:  # the encoded columns were enough
        return first
    models = [first, *(fit_one(part) for part, _ in parts[1:])]
    coef = np.zeros((found.features.width, first.coef.shape[1]))
    for made, (_, columns) in zip(models, parts, strict=True):
        coef[columns] += made.coef / len(parts)
    intercept = np.mean([made.intercept for made in models], axis=0)
    calibration = first.calibration
    if isinstance(
        calibration, IntervalCalibration
    ):  # the intervals of the first model are valid, and widened to contain the mean
        calibration = calibration.scattered(parts[0][1], found.features.width)
    return replace(
        first, features=found.features, coef=coef, intercept=intercept, penalties=found.penalties, result=found,
        calibration=calibration,
    )  # fmt: skip
