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
from mercer.auto.final.all_rows import StreamedRows, classes_of_all
from mercer.auto.final.linear import fit_linear
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import EncodedRows
from mercer.auto.rows.training import N_FOLDS, TrainingRows
from mercer.auto.search.state import Candidate, SearchResult, TreeSearch
from mercer.linear.ridge.fold_loss import GramFoldLoss
from mercer.linear.ridge.penalties import best_penalties
from mercer.stats import Gram

LINEAR_IS_BETTER = (
    "The linear model of the columns, fitted to all training rows, has a smaller cross-validated loss than what was "
    "found with the sample in the time budget: it is the model."
)
#: Columns whose Gram matrices, one per fold, take about 160 MB; those of 10,000 columns took 4 GB.
MAX_COLUMNS = 2000


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

    The predictor of `rows` is not used. Of more than MAX_COLUMNS columns there is none: memory is for the search.
    """
    if rows.sample.X.shape[1] > MAX_COLUMNS:
        return None
    sample, target, seed = rows.sample, rows.target, rows.seed
    features = rows.predictor.features
    inside = TrainingRows(sample.X, target.numbers(sample.y), sample.ids, seed, sample.categories, sample.weight)

    def numbered(block: Any) -> Any:
        return replace(block, y=target.numbers(np.asarray(block.y)))

    try:
        total = inside.summed(features.over(sample.X, None))
        total = total.merge(rows.others().map(numbered).fold(Gram(N_FOLDS, seed)))
        equations = GramFoldLoss(total.finish(), features.block_of_column)
        found = _result(features, *best_penalties(equations))
        predictor, _ = fit_linear(found, equations, inside, target.labels(sample.y), target, seed, clock=rows.clock)
        if target.classes is not None:  # the weights of the sample so far
            predictor = classes_of_all(replace(rows, predictor=predictor))[0]
    except TimeUp:
        return None
    loss = _loss_on(inside, equations, found)
    return LinearOfAll(replace(predictor, candidates=[replace(each, loss=loss) for each in found.candidates]), loss)


def _loss_on(rows: TrainingRows, equations: GramFoldLoss, found: SearchResult) -> float:
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
