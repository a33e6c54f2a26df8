"""Models of tables with wide sparse columns: which encoder they take, and the linear model of texts alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mercer._numeric.block import stack_rows
from mercer.auto.budget.effort import Clock
from mercer.auto.explain.contributions import Explanation
from mercer.auto.features.blocks import Dictionary, Plain
from mercer.auto.final.predictor import Predictor
from mercer.auto.model import Model
from mercer.auto.rows.encoding import Encoded, encoded, encoded_rows, one_row, opened, refuse_wide, weights_of
from mercer.auto.text.scored_encoder import ScoredEncoder, all_sparse, is_wide
from mercer.auto.text.sparse_linear import WideLinear, learn_wide, refit_wide
from mercer.source import Source
from mercer.tables import TableEncoder

#: Terms that an explanation names one by one; the others are summed.
_TERMS = 20


class WideDictionary(Dictionary):
    """The encoded columns as they are, kept sparse."""

    def features(self, X, scores=None):
        return sparse.csr_matrix(X, dtype=np.float64)


class WidePredictor(Predictor):
    """A linear model on sparse columns."""

    def scores(self, X) -> np.ndarray:
        return np.asarray(self.dictionary.features(X) @ self.coef) + self.intercept


class WideModel(Model):
    """A linear model on the terms of texts, sparse throughout; `transform` gives CSR."""

    def __init__(self, task: str, encoder: TableEncoder, predictor: Predictor, X, told: dict, seed=0):
        self.task, self.encoder, self.predictor, self.seed = task, encoder, predictor, seed
        self.classes_ = predictor.classes
        self.baseline = np.asarray(X.mean(axis=0)).ravel()
        self._told = told
        self._importance = self._shares(X)

    def _shares(self, X) -> dict[str, float]:
        """The variance of what each column adds to the scores, as a share of all columns'."""
        columns = self.groups
        parts = {name: X[:, c] @ self.predictor.coef[c] for name, c in columns.items()}
        spread = {name: float(np.sum(np.var(np.asarray(part), axis=0))) for name, part in parts.items()}
        total = sum(spread.values())
        ranked = sorted(spread.items(), key=lambda each: -each[1])
        return {name: value / total if total > 0 else 0.0 for name, value in ranked}

    def explain(self, row, output=None) -> Explanation:
        """What the heaviest terms of one row added to its score: weight times value, from the intercept on.

        Terms beyond the first 20 are summed as "other terms".
        """
        x = self._encoded(one_row(row))
        if x.shape[0] != 1:
            raise ValueError(f"explain takes one row, got {x.shape[0]}.")
        column, sign, name = self._output(x, output)
        names, places = self.get_feature_names_out(), x.indices
        parts = sign * x.data * self.predictor.coef[places, column]
        order = np.argsort(-np.abs(parts), kind="stable")
        each = {str(names[places[k]]): float(parts[k]) for k in order[:_TERMS]}
        if len(order) > _TERMS:
            each["other terms"] = float(parts[order[_TERMS:]].sum())
        start = float(sign * self.predictor.intercept[column])
        return Explanation(start, start + sum(each.values()), each, name)

    def _encoded(self, data) -> Any:
        return sparse.csr_matrix(encoded(self.encoder, data, self._known))

    def _mapped(self, data, function):
        data = one_row(data)
        source = opened(data, self.encoder.schema_, self._known)
        if source is None:
            return function(self._encoded(data))
        parts = [function(block.X) for block in self.encoder.transform(source).blocks() if len(block)]
        if not parts:
            raise ValueError("The source has no rows.")
        return stack_rows(parts)


def learned_rows(
    source: Source, roles, classify: bool, seed, most=10**9, clock: Clock | None = None, like=None
) -> tuple[Any, Encoded]:
    """An encoder learned from the rows, and the rows encoded: sparse for texts alone, else dense with their scores.

    Texts of more than `most` terms are scores even where they are alone. `like` is an encoder of some of the rows,
    whose penalties are taken.
    """
    encoder = TableEncoder(roles=roles, random_state=seed)
    mapped = encoder.fit_transform(source)
    if not is_wide(encoder):
        return encoder, encoded_rows(encoder, mapped, learn=None)
    rows = mapped.collect()
    X, y, ids = rows.X, rows.y, rows.ids
    weight, unit = weights_of(rows.weight)
    if y is None or (all_sparse(encoder) and X.shape[1] <= most):
        return encoder, Encoded(X, y, ids, weight=weight, unit=unit)
    classes = np.unique(y) if classify else None
    scored, narrow = ScoredEncoder.learned(encoder, X, y, ids, classes, seed, weight, clock, like)
    refuse_wide(scored, len(narrow))
    categories = tuple(slice(b.start, b.stop) for b in scored.blocks_ if b.kind == "onehot" and b.stop - b.start > 2)
    return scored, Encoded(narrow, y, ids, categories, weight, unit)


def learn_terms(
    rows: Encoded, classify: bool, seed, like: Predictor | None = None, clock: Clock | None = None
) -> WidePredictor:
    """The linear model of sparse rows; with the penalty and temperature of another model where one is given."""
    classes = np.unique(np.asarray(rows.y)) if classify else None
    if like is None:
        model = learn_wide(rows.X, rows.y, rows.ids, classes, seed, None, rows.weight, clock)[0]
    else:
        before = WideLinear(like.coef, like.intercept, classes, like.alpha, like.temperature, like.candidates)
        model = refit_wide(rows.X, rows.y, classes, seed, before, rows.weight, clock)
    return WidePredictor(
        WideDictionary([Plain(rows.X.shape[1])]),
        model.coef,
        model.intercept,
        model.classes,
        np.array([model.alpha]),
        model.alpha,
        model.temperature,
        model.candidates,
    )


def model_of(task, encoder, predictor, X, told, seed) -> Model:
    """The model of dense or of sparse rows."""
    kind = WideModel if sparse.issparse(X) else Model
    return kind(task, encoder, predictor, X, told, seed)
