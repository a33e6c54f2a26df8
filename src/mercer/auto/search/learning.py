"""From encoded rows to a predictor: search, then the head; and the same configuration once more on other rows."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from mercer.auto.budget.effort import Clock, Effort, sized
from mercer.auto.budget.progress import Steps
from mercer.auto.budget.time_model import until
from mercer.auto.features.blocks import Dictionary, Pieces, Plain, TreeScoreBlock
from mercer.auto.final.averaging import averaged, redrawn
from mercer.auto.final.linear import fit_head
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import Encoded
from mercer.auto.rows.targets import Target
from mercer.auto.rows.training import Rows
from mercer.auto.search.search import Found, Search
from mercer.auto.search.trees import grow_score
from mercer.learn.trees.params import full_intervals


def learn(encoded: Encoded, classify: bool, effort: Effort, clock: Clock, seed: int, steps: Steps) -> Predictor:
    """Search on encoded rows, then fit the head to all of them."""
    target, rows, labels = _prepared(encoded, classify, seed)
    effort = sized(effort, rows.distinct(), rows.Y.shape[1], rows.wide)
    if len(np.unique(rows.folds)) < 2 or target.scale == 0 or not np.any(rows.Y):
        return _constant(rows, target)
    search = Search(rows, labels, effort, clock, seed, steps)
    found = search.run()
    with steps("final weights"):
        start = time.perf_counter()
        first = fit_head(found, search.equations, rows, labels, target, seed, clock=clock)
        several = redrawn(first.found, effort, seed, clock, time.perf_counter() - start)
        made = averaged(several, lambda part: fit_head(part, None, rows, labels, target, seed, first, clock), first)
    made.candidates, made.dictionary = found.candidates, made.dictionary.settled()
    return made


def _prepared(encoded: Encoded, classify: bool, seed: int):
    """How targets become numbers, the rows with them, and the class numbers (None for a quantity)."""
    target = Target.of(encoded.y, classify, encoded.weight)
    rows = Rows(encoded.X, target.numbers(encoded.y), encoded.ids, seed, encoded.categories, encoded.weight)
    return target, rows, target.labels(encoded.y)


def learn_again(
    predictor: Predictor, encoded: Encoded, effort: Effort, seed: int, places=None, clock: Clock | None = None
) -> Predictor:
    """The same configuration on other rows: trees of as many rounds, the same waves and penalties, new weights.

    More rows may show more levels: `places` says where each encoded column was before, -1 for a new one.
    `TimeUp` says that the trees did not grow in time.
    """
    found: Found = predictor.found
    if found is None:
        return learn(encoded, predictor.classes is not None, effort, Clock(), seed, Steps())
    target, rows, labels = _prepared(encoded, predictor.classes is not None, seed)
    effort = sized(effort, rows.distinct(), rows.Y.shape[1], rows.wide)
    blocks, scores = [], None
    for block in found.dictionary.settled().blocks:
        if block.kind == "score":
            grown = grow_score(rows, labels, _fixed(effort, found), seed, until(clock or Clock()))
            block, scores = TreeScoreBlock(grown.transformer), grown.scores
        elif block.kind == "pieces":
            block = Pieces.learned(rows.X, int(block.bins.n_bins), rows.weight) or block
        elif block.kind == "linear":
            block = Plain(rows.X.shape[1])
        elif block.kind in ("chosen", "products", "waves") and places is not None:
            block = block.along(places)
        blocks.append(block)
    again = Found(
        Dictionary(blocks), found.penalties, found.scored, scores, found.candidates, found.n_rounds, found.tree_params
    )
    made = averaged(again, lambda part: fit_head(part, None, rows, labels, target, seed, predictor, clock))
    made.candidates = predictor.candidates
    return made


def _fixed(effort: Effort, found: Found) -> Effort:
    """The effort with the tree parameters that were found, for as many rounds."""
    rounds = full_intervals(max(5, int(np.mean(found.n_rounds))))
    params = effort.tree_params[0] if found.tree_params is None else found.tree_params
    return replace(effort, tree_params=(replace(params, n_estimators=rounds, early_stopping_rounds=10**9),))


def _constant(rows: Rows, target: Target) -> Predictor:
    """Too few different rows, or a target that never changes: the mean is all there is to say."""
    dictionary = Dictionary([Plain(rows.X.shape[1])])
    shape = (dictionary.width, rows.Y.shape[1])
    shares = np.clip(target.mean, 1e-3, 1 - 1e-3)
    if target.classes is None:
        intercept = target.mean
    elif len(target.classes) == 1:
        intercept, shape = np.zeros(1), (dictionary.width, 1)
    else:
        intercept = np.log(shares / (1 - shares)) if len(target.classes) == 2 else np.log(shares)
    return Predictor(dictionary, np.zeros(shape), np.asarray(intercept, dtype=float), target.classes, np.ones(1))
