"""Explanations of rows by a fitted model: contributions in the units of `predict` and `predict_proba`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.auto.explain.contributions import contributions_of_many, contributions_of_rows
from mercer.auto.explain.explanation import Explanations
from mercer.auto.features.terms import TermsBlock, terms_block

if TYPE_CHECKING:
    from mercer.auto.model import Model

#: Columns from which on the rows of an explanation's path would take gigabytes.
_MANY_COLUMNS = 1000
_MEAN_ROW = "the mean row of the training data"
_MEAN_SCORE = "the mean score of the training rows"
_NO_TERM = "a row without any term"
#: Terms that an explanation lists; the others are summed.
_MAX_TERMS = 20


@dataclass(frozen=True)
class ExplainedOutputs:
    """For each row: the column of the scores that is explained, its factor, the class or target, and the unit.

    The factor is 1 / temperature for classes, negative for the first of two, and 1 for regression.
    """

    columns: np.ndarray
    factors: np.ndarray
    names: list[Any]
    units: list[str]
    #: The index of the class of each row.
    classes: np.ndarray | None = None


def explain_rows(model: Model, X: np.ndarray, output: Any = None) -> Explanations:
    """The explanations of encoded rows; `output` as in `Model.explain`."""
    predictor, groups = model.predictor, model.groups
    scores = predictor.scores(X)
    chosen = explained_outputs(model, scores, output)
    rows = np.arange(len(X))
    terms = terms_block(predictor.features)
    if terms is not None:
        return _explained_points(model, terms, X, scores, chosen)
    if len(groups) > _MANY_COLUMNS:
        base = predictor.scores(model.baseline[None])[0]
        parts = np.zeros((len(X), len(groups), len(base)))
        for i, x in enumerate(X):
            parts[i] = contributions_of_many(predictor, x, model.baseline, groups, model.seed)[1]
    else:
        base, parts = contributions_of_rows(predictor.scores, X, model.baseline, groups, model.seed)
    start = chosen.factors * base[chosen.columns]
    end = chosen.factors * scores[rows, chosen.columns]
    each = _adjusted(chosen.factors[:, None] * parts[rows, :, chosen.columns], end - start)
    return _explanations(model, list(groups), start, end, each, chosen, scores, _MEAN_ROW)


def _explained_points(
    model: Model, terms: TermsBlock, X: np.ndarray, scores: np.ndarray, chosen: ExplainedOutputs
) -> Explanations:
    """The points of columns and pairs: exactly what the score is the sum of, from the intercept on."""
    names, rows = terms.term_names(), np.arange(len(X))
    points = terms.features(X).astype(np.float64).reshape(len(X), len(names), -1)[rows, :, chosen.columns]
    order = list(dict.fromkeys([*model.groups, *names]))  # a column may have several axes
    each = np.zeros((len(X), len(order)))
    for position, name in enumerate(names):
        each[:, order.index(name)] += points[:, position]
    start = chosen.factors * model.predictor.intercept[chosen.columns]
    end = chosen.factors * scores[rows, chosen.columns]
    return _explanations(model, order, start, end, chosen.factors[:, None] * each, chosen, scores, _MEAN_SCORE)


def explain_terms(model: Model, X: Any, output: Any = None) -> Explanations:
    """The explanations of sparse rows of terms: weight times value, from the intercept on."""
    predictor, groups = model.predictor, model.groups
    scores = predictor.scores(X)
    chosen = explained_outputs(model, scores, output)
    rows = np.arange(X.shape[0])
    start = chosen.factors * predictor.intercept[chosen.columns]
    end = chosen.factors * scores[rows, chosen.columns]
    group_of = np.empty(X.shape[1], dtype=np.intp)
    for g, columns in enumerate(groups.values()):
        group_of[columns] = g
    names, terms = model.get_feature_names_out(), []
    each = np.zeros((len(rows), len(groups)))
    for i in rows:
        span = slice(X.indptr[i], X.indptr[i + 1])
        positions = X.indices[span]
        parts = chosen.factors[i] * X.data[span] * predictor.coef[positions, chosen.columns[i]]
        each[i] = np.bincount(group_of[positions], parts, minlength=len(groups))
        terms.append(_heaviest(names, positions, parts))
    return _explanations(model, list(groups), start, end, each, chosen, scores, _NO_TERM, terms)


def _heaviest(names: np.ndarray, positions: np.ndarray, parts: np.ndarray) -> dict[str, float]:
    """The contributions of the heaviest terms of a row, and the sum of the others."""
    order = np.argsort(-np.abs(parts), kind="stable")
    found = {str(names[positions[k]]): float(parts[k]) for k in order[:_MAX_TERMS]}
    if len(order) > _MAX_TERMS:
        found["other terms"] = float(parts[order[_MAX_TERMS:]].sum())
    return found


def _adjusted(parts: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Contributions that add up to `total`.

    Features in float32 leave a difference of rounding; each contribution takes a part of it in proportion to its size.
    """
    size = np.abs(parts)
    whole = size.sum(axis=1, keepdims=True)
    fractions = np.divide(size, whole, out=np.full_like(size, 1.0 / max(parts.shape[1], 1)), where=whole > 0)
    for _ in range(2):  # the second time for the rounding of the first
        parts = parts + fractions * (total - parts.sum(axis=1))[:, None]
    return parts


def _explanations(
    model: Model,
    columns: list[str],
    start: np.ndarray,
    end: np.ndarray,
    parts: np.ndarray,
    chosen: ExplainedOutputs,
    scores: np.ndarray,
    description: str,
    terms: list[dict[str, float]] | None = None,
) -> Explanations:
    probability = None
    if chosen.classes is not None:
        probability = model.predictor.probabilities_of(scores)[np.arange(len(scores)), chosen.classes]
    return Explanations(columns, start, end, parts, chosen.units, chosen.names, probability, description, terms)


def explained_outputs(model: Model, scores: np.ndarray, output: Any) -> ExplainedOutputs:
    """What is explained of rows with these scores: `output`, or the predicted class of each row."""
    n = len(scores)
    if model.classes_ is None:
        response = model.predictor.response
        target = _target_index(scores.shape[1], output, 0 if response is None else response.predicted)
        name = model.target or ("prediction" if scores.shape[1] == 1 else "target")
        unit = name if scores.shape[1] == 1 else f"{name} {target}"
        if response is not None:
            unit = response.unit_of(name, target)
        return ExplainedOutputs(np.full(n, target), np.ones(n), [output] * n, [unit] * n)
    classes, n_classes = model.classes_, len(model.classes_)
    if output is None:
        index = (scores[:, 0] > 0).astype(np.intp) if n_classes == 2 else scores.argmax(axis=1)
    else:
        found = np.flatnonzero(classes == output)
        if len(found) == 0:
            raise ValueError(f"{output!r} is none of the classes: {', '.join(map(str, classes))}.")
        index = np.full(n, found[0])
    names = list(classes[index])
    if n_classes == 2:
        sign = np.where(index == 1, 1.0, -1.0)
        units = [f"log-odds of {str(name)!r}" for name in names]
        return ExplainedOutputs(np.zeros(n, np.intp), sign / model.predictor.temperature, names, units, index)
    units = [f"softmax score of {str(name)!r}" for name in names]
    return ExplainedOutputs(index, np.full(n, 1.0 / model.predictor.temperature), names, units, index)


def _target_index(n_outputs: int, output: Any, default: int = 0) -> int:
    if output is not None and output not in range(n_outputs):
        raise ValueError(f"output must be the index of a target, 0 to {n_outputs - 1}, not {output!r}.")
    return default if output is None else int(output)
