"""The mean of models that differ in the waves they were given: still one linear model, on all their features.

With u the features that S models share and z_s the waves of the s-th,

    mean over s of (<v_s, u> + <w_s, z_s>)  =  <mean of v_s, u> + sum over s of <w_s / S, z_s>.

A penalty lambda ||w_s||^2 / S for each is S lambda ||w_s / S||^2: that of the waves' weights in the mean is S lambda.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mercer.auto.budget.effort import Clock, Effort
from mercer.auto.features.blocks import Dictionary
from mercer.auto.search.search import Found


def redrawn(found: Found, effort: Effort, seed: int, clock: Clock, seconds: float) -> Found:
    """The same dictionary with waves of several seeds, as many as features and time allow.

    `seconds` is what a fit of the weights takes where the Gram matrix, if they need one, is known.
    """
    waves = [block for block in found.dictionary.blocks if block.kind == "waves"]
    if effort.wave_seeds < 2 or not waves or found.lens is None:
        return found
    each = seconds + max((tried.seconds for tried in found.candidates if tried.stage == "waves"), default=0.0)
    room = (effort.most_features - found.dictionary.width) // waves[0].width
    more = int(max(0, min(effort.wave_seeds - 1, room, clock.left() / max(each, 1e-9))))
    drawn = [found.lens.waves(waves[0].width, seed + k) for k in range(1, 1 + more)]
    is_wave = np.array([block.kind == "waves" for block in found.dictionary.blocks])
    penalties = found.penalties * np.where(is_wave, 1.0 + more, 1.0)
    penalties = np.append(penalties, np.repeat(penalties[is_wave][0], more))
    return replace(found, dictionary=Dictionary([*found.dictionary.blocks, *drawn]), penalties=penalties)


def members(found: Found) -> list[tuple[Found, np.ndarray]]:
    """The configurations whose mean is the model, and the places of their features in its dictionary."""
    blocks, slices = found.dictionary.blocks, found.dictionary.slices()
    waves = [place for place, block in enumerate(blocks) if block.kind == "waves"]
    if len(waves) < 2:
        return [(found, np.arange(found.dictionary.width))]
    parts = []
    for mine in waves:
        kept = [place for place in range(len(blocks)) if place == mine or place not in waves]
        penalties = found.penalties[kept] / np.where([place == mine for place in kept], len(waves), 1)
        part = replace(found, dictionary=Dictionary([blocks[place] for place in kept]), penalties=penalties)
        parts.append((part, np.concatenate([np.arange(slices[p].start, slices[p].stop) for p in kept])))
    return parts


def averaged(found: Found, fit_one: Callable, first=None):
    """The mean of what `fit_one` makes of each member of a configuration; the first one may be known."""
    parts = members(found)
    first = fit_one(parts[0][0]) if first is None else first
    if len(parts) == 1 or first.dictionary.width < parts[0][0].dictionary.width:  # the plain columns were enough
        return first
    models = [first, *(fit_one(part) for part, _ in parts[1:])]
    coef = np.zeros((found.dictionary.width, first.coef.shape[1]))
    for made, (_, columns) in zip(models, parts, strict=True):
        coef[columns] += made.coef / len(parts)
    intercept = np.mean([made.intercept for made in models], axis=0)
    return replace(
        first, dictionary=found.dictionary, coef=coef, intercept=intercept, penalties=found.penalties, found=found
    )
