"""A linear model on the explicit features of a dictionary: what a search leaves behind, in plain arrays."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning

from mercer._numeric.pool import ordered_map
from mercer.auto.blocks import Dictionary, Pieces, Plain, Score
from mercer.auto.effort import Clock, Effort, sized
from mercer.auto.encoding import Encoded
from mercer.auto.growing import grow_score
from mercer.auto.pace import LogisticPace, until
from mercer.auto.penalties import Equations
from mercer.auto.rows import N_FOLDS, Rows
from mercer.auto.search import Candidate, Found, Search
from mercer.auto.steps import Steps
from mercer.linear import LogisticClassifier

_ROWS = 4096
#: Penalties of the logistic loss to try, relative to those of the squared error. Near even odds the logistic loss of
#: a score is an eighth of the squared error of targets four apart, so an eighth is where the two agree.
_LOGISTIC = (1 / 64, 1 / 16, 1 / 4)
#: Rows that penalty and temperature are chosen on: to learn from, and to be told apart on.
_TRAIN, _TEST = 6000, 4000
_TEMPERATURES = np.geomspace(0.7, 2.0, 22)
_TOL, _STEPS = 1e-3, 24
_ROUNDING = 1e-7
#: Pairs of waves that penalty and temperature are chosen with.
_FEW = 192
#: Up to so many rows, each fold is held out in turn, and stronger penalties are tried: classes may well be separable.
_FEW_ROWS = 1500
_STRONG = (1.0, 8.0)


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
    effort = sized(effort, len(np.unique(rows.ids)), rows.Y.shape[1])
    blocks, scores = [], None
    for block in found.dictionary.blocks:
        if block.kind == "score":
            grown = grow_score(rows, labels, _fixed(effort, found), seed, until(clock or Clock()))
            block, scores = grown.block, grown.scores
        elif block.kind == "pieces":
            block = Pieces.learned(rows.X, int(block.bins.n_bins), rows.weight) or block
        elif block.kind == "linear":
            block = Plain(rows.X.shape[1])
        elif block.kind == "waves" and places is not None:
            block = block.along(places)
        blocks.append(block)
    again = Found(
        Dictionary(blocks), found.penalties, found.scored, scores, found.candidates, found.n_rounds, found.growth
    )
    equations = Equations(_gram(again, rows), again.dictionary.block_of_column)
    made = _head(again, equations, rows, labels, target, seed, predictor, clock)
    made.candidates = predictor.candidates
    return made


def _fixed(effort: Effort, found: Found) -> Effort:
    """The growth that was found, for as many rounds."""
    rounds = max(5, int(np.mean(found.n_rounds)))
    growth = effort.growths[0] if found.growth is None else found.growth
    return replace(effort, growths=(replace(growth, n_trees=rounds, patience=10**9),))


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
    """Multinomial logistic regression on columns divided by the roots of their penalties, with a temperature.

    The choices so far were those of the squared error: whether the columns alone do better by the logistic loss is
    asked once more, and then they are all there is.
    """
    steps, late = _steps_in_time(found, rows, labels, clock)
    if like is not None:
        alpha, temperature = like.alpha, like.temperature
    elif late:
        alpha, temperature = _LOGISTIC[1], 1.0
    else:
        plain = found.alone()
        found, alpha, temperature = _chosen_head([found, plain] if plain else [found], rows, labels, seed)
    Z, scale = _scaled(found, rows), _scale(found)
    model = _solved(Z, labels, alpha, seed, rows.weight, steps)
    coef = model.coef_.T * scale[:, None].astype(np.float64)
    return Predictor(
        found.dictionary, coef, model.intercept_, target.classes, found.penalties, alpha, temperature, found=found
    )


def _steps_in_time(found, rows: Rows, labels, clock: Clock | None) -> tuple[int, bool]:
    """Steps that there is time for, and whether there is none to choose a penalty as well."""
    if clock is None or clock.budget is None:
        return _STEPS, False
    scores = found.scores

    def features(span):
        return found.dictionary.features(rows.X[span], None if scores is None else scores[span])

    classes = int(labels.max()) + 1
    pace = LogisticPace.of(features, len(rows), 1 if classes == 2 else classes, clock)
    narrow = len(_narrow(found.dictionary)) / max(found.dictionary.width, 1)
    few = rows.distinct() <= _FEW_ROWS  # then every fold is held out in turn, for more penalties
    fits = N_FOLDS * (len(_LOGISTIC) + len(_STRONG)) if few else len(_LOGISTIC)
    chosen = fits * (1 + narrow) * pace.seconds(min(len(rows), _TRAIN + _TEST), _STEPS)
    late = chosen + pace.seconds(len(rows), _STEPS) > clock.left()
    return (pace.steps(len(rows), clock.left(), _STEPS) if late else _STEPS), late


def _scale(found: Found) -> np.ndarray:
    return (1.0 / np.sqrt(found.penalties))[found.dictionary.block_of_column].astype(np.float32)


def _scaled(found: Found, rows: Rows, scores=None) -> np.ndarray:
    """All features of the rows, each divided by the root of its penalty."""
    Z, scale = np.empty((len(rows), found.dictionary.width), dtype=np.float32), _scale(found)
    scores = found.scores if scores is None else scores

    def fill(start):
        span = slice(start, start + _ROWS)
        Z[span] = found.dictionary.features(rows.X[span], None if scores is None else scores[span]) * scale

    list(ordered_map(fill, range(0, len(rows), _ROWS)))
    return Z


def _solved(Z, labels, alpha, seed, weight=None, steps=_STEPS) -> LogisticClassifier:
    """A quick fit: the search has no use for more digits than the folds can tell apart.

    Columns of nearly no penalty are long: a penalty that drowns in the rounding of their float32 products is raised.
    """
    squares = np.einsum("ij,ij->i", Z, Z, dtype=np.float64)  # by rows: nothing is copied to weigh them
    floor = _ROUNDING * float(np.sum(squares) if weight is None else weight @ squares)
    model = LogisticClassifier(max(alpha, floor), tol=_TOL, max_iter=steps, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(Z, labels, weight)


def _chosen_head(heads: list[Found], rows: Rows, labels, seed) -> tuple[Found, float, float]:
    """The dictionary, penalty and temperature with the least log loss on held-out rows, waves cut to a few hundred.

    One fold is held out, every one in turn where rows are few.
    """
    folds, order = rows.folds, rows.smallest(len(rows))
    few = rows.distinct() <= _FEW_ROWS
    asked = np.unique(folds) if few else [np.argmax(np.bincount(folds, rows.counts))]
    parts = []
    for fold in asked:
        held = folds[order] == fold
        train, test = order[~held][:_TRAIN], order[held][:_TEST]
        if len(np.unique(labels[train])) <= labels.max() or len(test) == 0:
            return heads[0], _LOGISTIC[1], 1.0
        parts.append((train, test))
    best: list[tuple] = []
    for head in heads:
        start = time.perf_counter()
        found = min(_losses(head, parts, rows, labels, seed))
        best.append((*found, head))
        name = " + ".join(block.kind for block in head.dictionary.blocks)
        seconds = time.perf_counter() - start
        heads[0].candidates.append(Candidate("head", f"logistic on {name}", found[0], seconds, head.dictionary.width))
    place = int(np.argmin([each[0] for each in best]))
    for k, candidate in enumerate(heads[0].candidates[-len(heads) :]):
        candidate.kept = k == place
        candidate.why = "log loss of held-out rows: " + ("the least" if k == place else "not the least")
    _, alpha, temperature, head = best[place]
    return head, alpha, temperature


def _losses(head: Found, parts, rows: Rows, labels, seed):
    """(log loss, penalty, temperature) of all choices, over all the held-out rows of the parts."""
    columns = _narrow(head.dictionary)
    alphas = (*_LOGISTIC, *_STRONG) if rows.distinct() <= _FEW_ROWS else _LOGISTIC
    total = dict.fromkeys(((alpha, t) for alpha in alphas for t in _TEMPERATURES), 0.0)
    for train, test in parts:
        Z_train, Z_test = (
            _scaled(head, rows.at(each), None if head.scores is None else head.scores[each])[:, columns]
            for each in (train, test)
        )
        weight, counts = rows.weight_of(train), rows.counts[test]
        for alpha in alphas:
            model = _solved(Z_train, labels[train], alpha, seed, weight)
            scores = model.decision_function(Z_test).astype(np.float64).reshape(len(test), -1)
            for t in _TEMPERATURES:
                total[alpha, t] += counts.sum() * _log_loss(scores / t, labels[test], counts)
    heavy = sum(rows.counts[test].sum() for _, test in parts)
    return [(loss / heavy, alpha, float(t)) for (alpha, t), loss in total.items()]


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
