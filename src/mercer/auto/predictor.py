"""A linear model on the explicit features of a dictionary: what a search leaves behind, in plain arrays."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning

from mercer._numeric.pool import ordered_map
from mercer.auto.blocks import Dictionary, Pieces, Plain, Score
from mercer.auto.effort import Clock, Effort, sized
from mercer.auto.encoding import Encoded
from mercer.auto.penalties import Equations
from mercer.auto.rows import Rows
from mercer.auto.search import Candidate, Found, Search, grow_score
from mercer.auto.steps import Steps
from mercer.linear import LogisticClassifier

_ROWS = 4096
#: Penalties of the logistic loss to try, relative to those of the squared error. Near even odds the logistic loss of
#: a score is an eighth of the squared error of targets four apart, so an eighth is where the two agree.
_LOGISTIC = (1 / 64, 1 / 16, 1 / 4)
#: Rows that penalty and temperature are chosen on: to learn from, and to be told apart on.
_TRAIN, _TEST = 6000, 4000
_TEMPERATURES = np.geomspace(0.7, 2.0, 22)
_TOL, _STEPS, _FEW_STEPS = 1e-3, 24, 6
_ROUNDING = 1e-7
#: Pairs of waves that penalty and temperature are chosen with.
_FEW = 192


@dataclass
class Target:
    """How targets become numbers of mean 0 and overall variance 1, and the way back."""

    classes: np.ndarray | None
    mean: np.ndarray
    scale: float

    @classmethod
    def of(cls, y, classify: bool, weight=None) -> Target:
        classes = np.unique(y) if classify else None
        Y = _columns(y, classes)
        mean = np.average(Y, axis=0, weights=weight)
        spread = float(np.average(np.sum((Y - mean) ** 2, axis=1), weights=weight))
        return cls(classes, mean, np.sqrt(spread) or 1.0)

    def numbers(self, y) -> np.ndarray:
        return (_columns(y, self.classes) - self.mean) / self.scale

    def labels(self, y):
        return None if self.classes is None else np.searchsorted(self.classes, y)


def _columns(y, classes) -> np.ndarray:
    if classes is None:
        return np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    hot = (np.asarray(y)[:, None] == classes).astype(np.float64)
    return hot[:, 1:] if len(classes) == 2 else hot


@dataclass
class Predictor:
    """scores = features(X) @ coef + intercept. For classes they are log-odds over a temperature."""

    dictionary: Dictionary
    coef: np.ndarray
    intercept: np.ndarray
    classes: np.ndarray | None
    penalties: np.ndarray
    alpha: float = 1.0
    temperature: float = 1.0
    candidates: list[Candidate] = field(default_factory=list)
    found: Any = None
    _transient = ("found",)  # what learning again needs holds scores of the training rows: no part of a file

    def scores(self, X) -> np.ndarray:
        """One column per output for encoded rows. Products in float64, so that a row's score is its own."""
        if len(X) <= _ROWS:
            return self.dictionary.features(X).astype(np.float64) @ self.coef + self.intercept
        spans = [X[i : i + _ROWS] for i in range(0, len(X), _ROWS)]
        return np.concatenate(list(ordered_map(self.scores, spans)))

    def predict(self, X) -> np.ndarray:
        scores = self.scores(X)
        if self.classes is None:
            return scores[:, 0] if scores.shape[1] == 1 else scores
        if len(self.classes) == 2:
            return self.classes[(scores[:, 0] > 0).astype(np.intp)]
        return self.classes[scores.argmax(axis=1)]

    def probabilities(self, X) -> np.ndarray:
        scores = self.scores(X) / self.temperature
        if len(self.classes) == 2:  # type: ignore[arg-type]
            p = 1 / (1 + np.exp(-np.clip(scores, -500, 500)))
            return np.hstack([1 - p, p])
        return softmax(scores, axis=1)


def learn(encoded: Encoded, classify: bool, effort: Effort, clock: Clock, seed: int, steps: Steps) -> Predictor:
    """Search on encoded rows, then fit the head to all of them."""
    target, rows, labels = _prepared(encoded, classify, seed)
    effort = sized(effort, len(np.unique(rows.ids)), rows.Y.shape[1])
    if len(np.unique(rows.folds)) < 2 or target.scale == 0 or not np.any(rows.Y):
        return _constant(rows, target)
    search = Search(rows, labels, effort, clock, seed, steps)
    found = search.run()
    with steps("final weights"):
        made = _head(found, search.equations, rows, labels, target, seed, clock=clock)
    made.candidates = found.candidates
    return made


def _prepared(encoded: Encoded, classify: bool, seed: int):
    """How targets become numbers, the rows with them, and the class numbers (None for a quantity)."""
    target = Target.of(encoded.y, classify, encoded.weight)
    rows = Rows(encoded.X, target.numbers(encoded.y), encoded.ids, seed, encoded.categories, encoded.weight)
    return target, rows, target.labels(encoded.y)


def learn_again(predictor: Predictor, encoded: Encoded, effort: Effort, seed: int, places=None) -> Predictor:
    """The same configuration on other rows: trees of as many rounds, the same waves and penalties, new weights.

    More rows may show more levels: `places` says where each encoded column was before, -1 for a new one.
    """
    found: Found = predictor.found
    if found is None:
        return learn(encoded, predictor.classes is not None, effort, Clock(), seed, Steps())
    target, rows, labels = _prepared(encoded, predictor.classes is not None, seed)
    effort = sized(effort, len(np.unique(rows.ids)), rows.Y.shape[1])
    blocks, scores = [], None
    for block in found.dictionary.blocks:
        if block.kind == "score":
            fixed = _fixed(effort, found.n_rounds)
            block, scores, _ = grow_score(rows, labels, fixed, seed, [])
        elif block.kind == "pieces":
            block = Pieces.learned(rows.X, int(block.bins.n_bins), rows.weight) or block
        elif block.kind == "linear":
            block = Plain(rows.X.shape[1])
        elif block.kind == "waves" and places is not None:
            block = block.along(places)
        blocks.append(block)
    again = Found(Dictionary(blocks), found.penalties, found.scored, scores, found.candidates, found.n_rounds)
    equations = Equations(_gram(again, rows), again.dictionary.block_of_column)
    made = _head(again, equations, rows, labels, target, seed, predictor)
    made.candidates = predictor.candidates
    return made


def _fixed(effort: Effort, n_rounds: list[int]) -> Effort:
    from dataclasses import replace

    rounds = max(5, int(np.mean(n_rounds)))
    return replace(effort, growth=replace(effort.growth, n_trees=rounds, patience=10**9))


def _gram(found: Found, rows: Rows):
    def features(span):
        return found.dictionary.features(rows.X[span], None if found.scores is None else found.scores[span])

    return rows.gram(features)


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


def _head(found, equations, rows, labels, target, seed, like: Predictor | None = None, clock=None) -> Predictor:
    if labels is None:
        coef, intercept = equations.weights(found.penalties)
        coef, intercept = coef * target.scale, intercept * target.scale + target.mean
        return Predictor(found.dictionary, coef, intercept, None, found.penalties, found=found)
    return _logistic(found, rows, labels, target, seed, like, clock)


def _logistic(found, rows, labels, target, seed, like, clock=None) -> Predictor:
    """Multinomial logistic regression on columns divided by the roots of their penalties, with a temperature."""
    dictionary = found.dictionary
    scale = (1.0 / np.sqrt(found.penalties))[dictionary.block_of_column].astype(np.float32)
    Z = np.empty((len(rows), dictionary.width), dtype=np.float32)

    def fill(start):
        span = slice(start, start + _ROWS)
        Z[span] = dictionary.features(rows.X[span], None if found.scores is None else found.scores[span]) * scale

    list(ordered_map(fill, range(0, len(rows), _ROWS)))
    late = clock is not None and not clock.allows(0.9)  # no time to choose a penalty, and for a rough answer only
    if late:
        alpha, temperature = _LOGISTIC[1], 1.0
    elif like is None:
        alpha, temperature = _strength(Z, labels, rows, found, seed)
    else:
        alpha, temperature = like.alpha, like.temperature
    model = _solved(Z, labels, alpha, seed, rows.weight, _FEW_STEPS if late else _STEPS)
    coef = model.coef_.T * scale[:, None].astype(np.float64)
    return Predictor(
        dictionary, coef, model.intercept_, target.classes, found.penalties, alpha, temperature, found=found
    )


def _solved(Z, labels, alpha, seed, weight=None, steps=_STEPS) -> LogisticClassifier:
    """A quick fit: the search has no use for more digits than the folds can tell apart.

    Columns of nearly no penalty are long: a penalty that drowns in the rounding of their float32 products is raised.
    """
    heavy = Z if weight is None else Z * weight[:, None].astype(Z.dtype)
    floor = _ROUNDING * float(np.sum(np.einsum("ij,ij->j", Z, heavy, dtype=np.float64)))
    model = LogisticClassifier(max(alpha, floor), tol=_TOL, max_iter=steps, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(Z, labels, weight)


def _strength(Z, labels, rows: Rows, found: Found, seed) -> tuple[float, float]:
    """The penalty and the temperature with the least log loss on one held-out fold, waves cut to a few hundred."""
    columns = _narrow(found.dictionary)
    held = rows.folds == np.argmax(np.bincount(rows.folds, rows.counts))
    order = rows.smallest(len(rows))
    train, test = order[~held[order]][:_TRAIN], order[held[order]][:_TEST]
    if len(np.unique(labels[train])) <= labels.max() or len(np.unique(rows.ids[test])) < 10:
        return _LOGISTIC[1], 1.0
    Z_train, Z_test = Z[np.ix_(train, columns)], Z[np.ix_(test, columns)]
    best = (np.inf, _LOGISTIC[1], 1.0)
    for alpha in _LOGISTIC:
        model = _solved(Z_train, labels[train], alpha, seed, None if rows.weight is None else rows.weight[train])
        scores = model.decision_function(Z_test).astype(np.float64).reshape(len(test), -1)
        for temperature in _TEMPERATURES:
            loss = _log_loss(scores / temperature, labels[test], None if rows.weight is None else rows.weight[test])
            best = min(best, (loss, alpha, float(temperature)))
    return best[1], best[2]


def _narrow(dictionary: Dictionary) -> np.ndarray:
    """The columns of all blocks but with the first waves only (a shorter map is the beginning of a longer one)."""
    chosen = []
    for block, columns in zip(dictionary.blocks, dictionary.slices(), strict=True):
        places = np.arange(columns.start, columns.stop)
        if block.kind == "waves" and block.width > 2 * _FEW:
            half = block.width // 2
            places = np.concatenate([places[:_FEW], places[half : half + _FEW]])
        chosen.append(places)
    return np.concatenate(chosen)


def _log_loss(scores, labels, weight=None) -> float:
    if scores.shape[1] == 1:
        losses = np.logaddexp(0, np.where(labels > 0, -scores[:, 0], scores[:, 0]))
    else:
        losses = logsumexp(scores, axis=1) - scores[np.arange(len(scores)), labels]
    return float(np.average(losses, weights=weight))


__all__ = ["Effort", "Predictor", "Score", "Target", "learn", "learn_again"]
