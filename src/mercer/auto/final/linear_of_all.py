"""The linear model of the encoded columns with weights of all rows, for when time is short.

A search with a small sample may end below what the linear model of all rows reaches. Both have a K-fold loss on the
rows of the sample, each predicted without the rows of its fold, and the smaller one decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.auto.budget.time_model import TimeUp
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.final.all_rows import StreamedRows, classes_of_all, equations_of_all
from mercer.auto.final.linear import fit_linear
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import EncodedRows
from mercer.auto.rows.training import N_FOLDS, TrainingRows
from mercer.auto.search.state import Candidate, SearchResult, TreeSearch
from mercer.linear.ridge.fold_loss import FoldLoss
from mercer.linear.ridge.penalties import best_penalties

LINEAR_IS_BETTER = (
    "The linear model of the columns, fitted to all training rows, has a smaller cross-validated loss than what was "
    "found with the sample in the time budget: it is the model."
)
#: Time of the factors of all folds and a dozen penalties over that of a pass, for as many rows as columns.
_FACTORS = 20.0


@dataclass(frozen=True)
class LinearOfAll:
    """The model, and its K-fold squared error on the rows of the sample, in the unit of `SearchResult.score`."""

    predictor: Predictor
    loss: float

    def beats(self, other: Predictor) -> bool:
        """Whether the K-fold loss is smaller than that of a model that was searched for on the sample."""
        return other.result is None or self.loss < other.result.score.loss

    def instead_of(self, other: Predictor) -> Predictor:
        """The model, with the candidates of the other one on record."""
        why = "the linear model of all rows has a smaller loss than what was found with a sample"
        dropped = [replace(each, kept=False, why=why if each.kept else each.why) for each in other.candidates]
        return replace(self.predictor, candidates=[*dropped, *self.predictor.candidates])


def linear_of_all(rows: StreamedRows) -> LinearOfAll | None:
    """Fit the encoded columns of all rows in one pass, or a few for classes; None if time ends before.

    The weights of the predictor of `rows` are not used. There is none of columns whose equations exceed the memory, nor
    of more columns than rows: the weights of what the search finds will come from all rows as well.
    """
    if rows.n_rows <= rows.predictor.features.width or not rows.fit_into_memory(N_FOLDS):
        return None
    sample, target, seed = rows.sample, rows.target, rows.seed
    features = rows.predictor.features
    inside = TrainingRows(sample.X, target.numbers(sample.y), sample.ids, seed, sample.categories, sample.weight)
    try:
        started = rows.clock.spent()
        equations = equations_of_all(rows, None)
        if _FACTORS * (rows.clock.spent() - started) * features.width / rows.n_rows > rows.clock.left():
            return None
        found = _result(features, *best_penalties(equations))
        predictor, _ = fit_linear(found, equations, inside, target.labels(sample.y), target, seed, clock=rows.clock)
        if target.classes is not None:  # the weights of the sample so far
            predictor = classes_of_all(replace(rows, predictor=predictor))[0]
    except TimeUp:
        return None
    loss = _loss_on(inside, equations, found)
    return LinearOfAll(replace(predictor, candidates=[replace(each, loss=loss) for each in found.candidates]), loss)


def _loss_on(rows: TrainingRows, equations: FoldLoss, found: SearchResult) -> float:
    """The mean squared error of the rows, by the weights of all rows outside their folds."""
    Z, total, weight = found.features.features(rows.X), 0.0, rows.counts
    if equations.n_folds < N_FOLDS:  # too few distinct rows to compare
        return np.inf
    for k in range(equations.n_folds):
        coef, intercept = equations.weights_without(k, found.penalties)
        inside = rows.folds == k
        errors = np.sum((rows.Y[inside] - Z[inside] @ coef - intercept) ** 2, axis=1)
        total += float(weight[inside] @ errors)
    return total / float(weight.sum())


def columns_alone(rows: EncodedRows, classify: bool) -> Predictor:
    """A predictor of the encoded columns without weights, to be fitted by `linear_of_all`."""
    features = Features([LinearBlock(rows.X.shape[1])])
    classes = np.unique(np.asarray(rows.y)) if classify else None
    return Predictor(features, np.zeros((features.width, 1)), np.zeros(1), classes, np.ones(1))


def _result(features: Features, penalties: np.ndarray, score: Any) -> SearchResult:
    name = "encoded columns of all rows, linear"
    candidate = Candidate("columns", name, score.loss, 0.0, features.width, True, "", True, score.per_fold)
    return SearchResult(features, penalties, score, TreeSearch(), (candidate,), float(penalties[0]), thorough=False)
