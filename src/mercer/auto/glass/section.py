"""The section `scorecard` of the report: the curves of the strongest columns, the pairs, and all terms by strength."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.auto.diagnostics.schema import Scorecard, ScorecardPair, TermCurve, TermStrength
from mercer.auto.features.terms import terms_block
from mercer.auto.final.predictor import Predictor
from mercer.auto.glass.scorecard import UNSEEN, AxisLevels, axis_levels
from mercer.learn.additive.tables import PairTable

#: Curves of the report, bars of their densities, and levels of a column in the picture of a pair.
_MAX_CURVES, _N_BARS, _MAX_CELLS = 24, 20, 16
#: Standard errors on either side of a curve.
_BAND = 2.0
_MAX_CATEGORIES = 16


def scorecard_section(encoder: Any, predictor: Predictor) -> Scorecard | None:
    """The section of an explainable model; None for other models."""
    block = terms_block(predictor.features)
    if block is None:
        return None
    levels, tables, details = axis_levels(encoder, block), block.tables, block.details
    unit = 1.0 if predictor.classes is None else predictor.temperature
    values = [each / unit for each in [*tables.mains, *(pair.values for pair in tables.pairs)]]
    errors = [each / unit for each in details.errors]
    spreads = [_spread(each, count) for each, count in zip(values, details.counts, strict=True)]
    order = sorted(range(len(values)), key=lambda term: -float(spreads[term].max()))
    names, outputs = block.term_names(), _output_names(predictor, tables.n_outputs)
    terms: list[TermStrength] = []
    curves: list[TermCurve] = []
    pairs: list[ScorecardPair] = []
    for term in order:
        o = int(spreads[term].argmax())
        strength = float(spreads[term][o])
        points, count = values[term][..., o], details.counts[term]
        terms.append(_strength(names[term], outputs[o], strength, points, count))
        if term >= len(levels):
            pair = tables.pairs[term - len(levels)]
            columns = [block.details.columns[pair.first], block.details.columns[pair.second]]
            pairs.append(_pair(columns, outputs[o], strength, pair, levels, points, count))
        elif strength > 0 and len(curves) < _MAX_CURVES:
            curves.append(_curve(levels[term], outputs[o], strength, points, errors[term][..., o], count))
    return {
        "unit": "prediction" if predictor.classes is None else "log-odds", "n_columns": len(set(details.columns)),
        "n_pairs": len(pairs), "terms": terms, "curves": curves, "pairs": pairs,
    }  # fmt: skip


def _output_names(predictor: Predictor, n_outputs: int) -> list[str | None]:
    if predictor.classes is not None:
        return [str(name) for name in predictor.classes[-n_outputs:]]
    return [None] if n_outputs == 1 else [f"target {k}" for k in range(n_outputs)]


def _spread(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The standard deviation of the points of the training rows, for each output."""
    flat, weight = values.reshape(-1, values.shape[-1]), counts.ravel()
    mean = np.average(flat, axis=0, weights=weight)
    return np.sqrt(np.average((flat - mean) ** 2, axis=0, weights=weight))


def _strength(name: str, output: str | None, strength: float, points: np.ndarray, counts: np.ndarray) -> TermStrength:
    seen = points[counts > 0]
    return {
        "term": name, "output": output, "strength": strength, "low": float(seen.min()), "high": float(seen.max())
    }  # fmt: skip


def _curve(
    levels: AxisLevels,
    output: str | None,
    strength: float,
    points: np.ndarray,
    errors: np.ndarray,
    counts: np.ndarray,
) -> TermCurve:
    n, gone = len(levels.values), len(points) > len(levels.values)
    shown = np.arange(n)
    if levels.kind == "category":
        shown = np.array([k for k in shown if counts[k] > 0 or levels.values[k] != UNSEEN], dtype=np.int64)
        shown = np.sort(shown[np.argsort(-counts[shown], kind="stable")][:_MAX_CATEGORIES])
    x = [levels.values[k] for k in shown]
    mean, band = points[shown], _BAND * errors[shown]
    return {
        "column": levels.column, "role": levels.kind, "output": output, "strength": strength, "x": x,
        "mean": _short(mean), "low": _short(mean - band), "high": _short(mean + band),
        "density": _density(levels, x, counts[shown]), "missing": float(points[-1]) if gone else None,
    }  # fmt: skip


def _density(levels: AxisLevels, x: list[Any], counts: np.ndarray) -> Any:
    """Rows of categories, or between equidistant edges."""
    if levels.kind == "category":
        return {"labels": x, "counts": np.rint(counts).astype(int).tolist()}
    if levels.kind == "date":
        ticks = np.array(x, dtype="datetime64[us]").astype(np.int64).astype(np.float64)
    else:
        ticks = np.array(x, dtype=np.float64)
    if len(ticks) < 2 or not ticks[-1] > ticks[0]:
        return {"edges": [], "counts": []}
    edges = np.linspace(ticks[0], ticks[-1], _N_BARS + 1)
    bars = np.histogram(ticks, edges, weights=counts)[0]
    shown = edges.tolist()
    if levels.kind == "date":
        shown = [str(each) for each in np.rint(edges).astype(np.int64).astype("datetime64[us]").astype("datetime64[s]")]
    return {"edges": shown, "counts": np.rint(bars).astype(int).tolist()}


def _pair(
    columns: list[str],
    output: str | None,
    strength: float,
    pair: PairTable,
    levels: list[AxisLevels],
    points: np.ndarray,
    counts: np.ndarray,
) -> ScorecardPair:
    """The points of a pair over at most 16 x 16 groups of levels, as means of the rows in them."""
    (x, first), (y, second) = (
        _grouped(levels[axis], coarse, counts.sum(axis=1 - k))
        for k, (axis, coarse) in enumerate(((pair.first, pair.first_level), (pair.second, pair.second_level)))
    )
    weight = counts + 1e-9 * max(float(counts.max()), 1e-300)  # cells without rows count where a group has no others
    total, mass = (np.zeros((len(x), len(y))) for _ in range(2))
    kept = np.ix_(first >= 0, second >= 0)
    at = (first[first >= 0][:, None], second[second >= 0][None, :])
    np.add.at(total, at, (points * weight)[kept])
    np.add.at(mass, at, weight[kept])
    return {
        "columns": columns, "strength": strength, "output": output, "x": x, "y": y,
        "remainder": [_short(row) for row in (total / mass).T],
    }  # fmt: skip


def _grouped(levels: AxisLevels, coarse: np.ndarray, counts: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """The groups of an axis in the picture of a pair, and the group of each coarse level; -1 for levels not shown."""
    n_levels = int(coarse.max()) + 1
    group = np.full(n_levels, -1, dtype=np.int64)
    first = [int(np.flatnonzero(coarse == level)[0]) for level in range(n_levels)]
    known = [level for level in range(n_levels) if first[level] < len(levels.values)]
    if levels.kind == "category":
        known = [level for level in known if counts[level] > 0]
        known = sorted(sorted(known, key=lambda level: -counts[level])[:_MAX_CATEGORIES])
        group[known] = np.arange(len(known))
        return [levels.values[first[level]] for level in known], group
    part = np.array_split(np.array(known), min(_MAX_CELLS, len(known)))
    for k, some in enumerate(part):
        group[some] = k
    middles = [int(np.median(np.flatnonzero(np.isin(coarse, some)))) for some in part]
    return [levels.values[k] for k in middles], group


def _short(values: np.ndarray) -> list[float]:
    return [float(f"{value:.5g}") for value in values]
