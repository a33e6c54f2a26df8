"""From encoded rows to a predictor: search, then the final linear model; and the same configuration on other rows."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache

import numpy as np

from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import Effort, sized
from mercer.auto.budget.progress import Steps
from mercer.auto.budget.time_model import until
from mercer.auto.features.base import FeatureBlock, Refit
from mercer.auto.features.kernel_score import KernelScoreBlock
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.trees import TreeScoreBlock
from mercer.auto.features.union import Features
from mercer.auto.final.averaging import averaged, redrawn
from mercer.auto.final.generalized import constant_response
from mercer.auto.final.linear import fit_linear
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import EncodedRows
from mercer.auto.rows.targets import NumericTarget
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.search import search
from mercer.auto.search.state import SearchResult
from mercer.auto.search.trees import grow_score
from mercer.learn.trees.params import full_intervals


def learn(encoded: EncodedRows, classify: bool, effort: Effort, clock: Clock, seed: int, steps: Steps) -> Predictor:
    """Search on encoded rows, then fit the final linear model to all of them."""
    target, rows, labels = prepared(encoded, classify, seed)
    effort = sized(effort, rows.distinct(), rows.Y.shape[1], rows.wide)
    if not rows.can_compare or target.scale == 0 or not np.any(rows.Y):
        return constant(rows, target)
    found, equations = search(rows, labels, effort, clock, seed, steps)
    with steps("final"):
        start = time.perf_counter()
        first, tried = fit_linear(found, equations, rows, labels, target, seed, clock=clock)
        several = redrawn(first.result, effort, seed, clock, time.perf_counter() - start)
        made = averaged(
            several, lambda part: fit_linear(part, None, rows, labels, target, seed, first, clock)[0], first
        )
    return replace(made, candidates=[*found.candidates, *tried], features=made.features.for_new_rows())


def prepared(encoded: EncodedRows, classify: bool, seed: int) -> tuple[NumericTarget, TrainingRows, np.ndarray | None]:
    """The numeric form of the target, the rows with it, and the class numbers (None for regression)."""
    response = encoded.response
    if response is None:
        target = NumericTarget.of(encoded.y, classify, encoded.weight)
    else:
        target = response.target(encoded.y, encoded.weight)
    numbers = target.numbers(encoded.y)
    known = (encoded.categories, encoded.weight, encoded.plan, encoded.groups)
    rows = TrainingRows(encoded.X, numbers, encoded.ids, seed, *known, signs=encoded.signs, numbers=encoded.numbers)
    rows = rows if response is None else replace(rows, target=target)
    return target, rows, target.labels(encoded.y)


def learn_again(
    predictor: Predictor,
    encoded: EncodedRows,
    effort: Effort,
    seed: int,
    positions: np.ndarray | None = None,
    clock: Clock | None = None,
) -> Predictor:
    """The same configuration on other rows: trees of as many rounds, the same frequencies and penalties, new weights.

    More rows may show more categories: `positions` holds the former index of each encoded column, -1 for a new one.
    `TimeUp` is raised if the trees did not grow in time.
    """
    found = predictor.result
    if found is None:
        return learn(encoded, predictor.classes is not None, effort, Clock(), seed, Steps())
    target, rows, labels = prepared(encoded, predictor.classes is not None, seed)
    effort = _fixed(sized(effort, rows.distinct(), rows.Y.shape[1], rows.wide), found)

    @cache
    def trees() -> tuple[FeatureBlock, np.ndarray]:
        grown = grow_score(rows, labels, effort, seed, until(clock or Clock()))
        return TreeScoreBlock(grown.transformer), grown.scores

    blocks = [block.refit(Refit(rows, positions, trees)) for block in found.features.for_new_rows().blocks]
    kept = [block is not None for block in blocks]
    features = Features([block for block in blocks if block is not None])
    known = [trees()[1]] if features.has("trees") else []
    known += [block.out_of_fold for block in features.blocks if isinstance(block, KernelScoreBlock)]
    scores = np.hstack(known) if known else None
    again = replace(
        found, features=features, penalties=found.penalties[kept], trees=replace(found.trees, scores=scores)
    )
    again = replace(again, linear_penalty=1.0, kernel=None, without_trees=None, simpler=(), thorough=True)
    made = averaged(again, lambda part: fit_linear(part, None, rows, labels, target, seed, predictor, clock)[0])
    return replace(made, candidates=predictor.candidates)


def _fixed(effort: Effort, found: SearchResult) -> Effort:
    """The tree parameters that were found, for as many rounds."""
    if not found.trees.n_rounds:
        return effort
    rounds = full_intervals(max(5, int(np.mean(found.trees.n_rounds))))
    params = effort.tree_params[0] if found.trees.params is None else found.trees.params
    return replace(effort, tree_params=(replace(params, n_estimators=rounds, early_stopping_rounds=10**9),))


def constant(rows: TrainingRows, target: NumericTarget) -> Predictor:
    """The mean, for too few distinct rows or a constant target."""
    features = Features([LinearBlock(rows.X.shape[1])])
    shape = (features.width, rows.Y.shape[1])
    if target.response is not None:
        return constant_response(rows, target, features)
    frequencies = np.clip(target.mean, 1e-3, 1 - 1e-3)
    if target.classes is None:
        intercept = target.mean
    elif len(target.classes) == 1:
        intercept, shape = np.zeros(1), (features.width, 1)
    else:
        two = len(target.classes) == 2
        intercept = np.log(frequencies / (1 - frequencies)) if two else np.log(frequencies)
    return Predictor(features, np.zeros(shape), np.asarray(intercept, dtype=float), target.classes, np.ones(1))
