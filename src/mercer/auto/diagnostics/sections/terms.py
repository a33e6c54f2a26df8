"""The heaviest terms of text columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import TermList, TermWeight
from mercer.auto.diagnostics.sections.outputs import class_codes, class_names, is_sparse, sampled
from mercer.auto.explain.perturb import Perturbations
from mercer.auto.text.scored_encoder import SPARSE, ScoredEncoder
from mercer.tables.columns import columns_by_name

_MAX_TERMS, _MAX_OUTPUTS = 15, 10
#: Rows from which standard deviations of terms are estimated: at least, and at most.
_MIN_ROWS, _MAX_ROWS = 100, 1000
#: Rows in which the change by a term is measured, and the most terms of which it is: the most frequent ones.
_N_CHANGED, _MAX_CHANGED = 20, 300


@dataclass(frozen=True)
class _TextColumn:
    """Names and weights of the terms of a column, one column of weights per output, and the terms of some rows."""

    column: str
    names: np.ndarray
    coef: np.ndarray
    terms: Any


def section(rows: HeldOutRows) -> list[TermList] | None:
    """The heaviest terms of each text column for each output; None without texts.

    Weights are changes of the log-odds, or of the prediction, per unit of the term. For text beside other columns they
    are those of the linear model of the column, whose score is a feature; where the terms themselves are columns of the
    search, mean changes over some rows as the term appears. Terms are ranked by |weight| times their standard deviation
    on held-out rows, by |weight| alone where these are few.
    """
    found: list[TermList] = []
    for text in _text_columns(rows):
        scale = _deviations(text.terms)
        for output in _shown_outputs(rows, text.coef.shape[1]):
            weights = text.coef[:, output]
            found.append(_heaviest(text, weights, weights * scale, _output_name(rows, output, text.coef.shape[1])))
    return found or None


def _text_columns(rows: HeldOutRows) -> Iterator[_TextColumn]:
    """Text columns of a model of terms, then those whose score is a feature, then those with few terms."""
    encoder, index = rows.encoder, sampled(len(rows.y), _MAX_ROWS)
    unit = 1.0 if rows.classes is None else rows.predictor.temperature
    if isinstance(encoder, ScoredEncoder):
        names, terms = encoder.table.get_feature_names_out(), encoder.table.transform(rows.table[index])
        terms = sparse.csc_matrix(terms)
        for score in encoder.columns:
            own = 1.0 if rows.classes is None else score.model.temperature
            yield _TextColumn(score.column, names[score.positions], score.model.coef / own, terms[:, score.positions])
        return
    found = columns_by_name(block for block in encoder.blocks_ if block.kind in SPARSE)
    if not found:
        return
    names, X = encoder.get_feature_names_out(), sparse.csc_matrix(rows.X[index])
    for column, positions in found.items():
        terms = X[:, positions]
        coef = rows.predictor.coef[positions] if is_sparse(rows) else _mean_changes(rows, positions, terms)
        yield _TextColumn(column, names[positions], coef / unit, terms)


def _mean_changes(rows: HeldOutRows, positions: np.ndarray, terms: Any) -> np.ndarray:
    """Mean change of the scores of some rows as a term goes from 0 to its largest value, over that value."""
    some = rows.X[sampled(len(rows.y), _N_CHANGED)]
    changes = Perturbations(rows.predictor.features, rows.predictor.coef, some)
    largest = np.asarray(terms.max(axis=0).todense()).ravel()
    square = np.asarray(terms.multiply(terms).sum(axis=0)).ravel()
    coef = np.zeros((len(positions), rows.predictor.coef.shape[1]))
    for k in np.argsort(-square, kind="stable")[:_MAX_CHANGED]:
        if largest[k] > 0:
            ends = (np.full((len(some), 1), value) for value in (0.0, largest[k]))
            absent, present = (changes.changed(positions[k : k + 1], end) for end in ends)
            coef[k] = np.mean(present - absent, axis=0) / largest[k]
    return coef


def _deviations(terms: Any) -> np.ndarray | float:
    """The standard deviation of each term; 1 where there are too few rows to estimate it."""
    n = terms.shape[0]
    if n < _MIN_ROWS:
        return 1.0
    mean = np.asarray(terms.mean(axis=0)).ravel()
    square = np.asarray(terms.multiply(terms).mean(axis=0)).ravel()
    return np.sqrt(np.maximum(square - mean**2, 0.0))


def _shown_outputs(rows: HeldOutRows, n_outputs: int) -> list[int]:
    """All outputs, or those of the classes with most held-out rows."""
    if n_outputs <= _MAX_OUTPUTS or rows.classes is None:
        return list(range(min(n_outputs, _MAX_OUTPUTS)))
    codes = class_codes(rows)
    counts = np.bincount(codes[codes >= 0], minlength=n_outputs)
    return sorted(np.argsort(-counts, kind="stable")[:_MAX_OUTPUTS].tolist())


def _output_name(rows: HeldOutRows, output: int, n_outputs: int) -> str | None:
    if rows.classes is None:
        return None if n_outputs == 1 else f"target {output + 1}"
    names = class_names(rows)
    return names[1] if len(names) == 2 else names[output]


def _heaviest(text: _TextColumn, weights: np.ndarray, ranks: np.ndarray, output: str | None) -> TermList:
    """The terms of largest and of smallest `ranks`, which have the sign of the weights."""
    order = np.argsort(-ranks, kind="stable")

    def listed(index: np.ndarray) -> list[TermWeight]:
        prefix = len(text.column) + 1  # names are "column:term"
        return [{"term": str(text.names[j])[prefix:], "weight": float(weights[j])} for j in index]

    positive = [j for j in order[:_MAX_TERMS] if ranks[j] > 0]
    negative = [j for j in order[::-1][:_MAX_TERMS] if ranks[j] < 0]
    return {
        "column": text.column,
        "output": output,
        "positive": listed(np.array(positive, dtype=np.intp)),
        "negative": listed(np.array(negative, dtype=np.intp)),
    }
