"""The holdout and conformal prediction: calibration where folds gave none, and the coverage that was realized."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.auto.conformal.calibration import IntervalCalibration, SetCalibration
from mercer.auto.holdout.bootstrap import effective_rows
from mercer.auto.holdout.evaluate import wilson

if TYPE_CHECKING:
    from mercer.auto.diagnostics.held_out import HeldOutRows
    from mercer.auto.final.predictor import Predictor

#: The level that is reported first, and the others.
LEVEL, LEVELS = 0.9, (0.5, 0.8, 0.9, 0.95)
#: The fewest held-out rows of which coverage is a number worth reading.
_MIN_ROWS = 20
#: Parts of the rows, from the narrowest intervals to the widest, of which coverage is reported.
_PARTS = 3


def calibrated_on_holdout(
    predictor: Predictor,
    scores: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> Predictor:
    """The model with split conformal calibration by held-out rows: for classes, and where folds gave no residuals."""
    if weight is not None:
        groups = None if groups is None else groups[weight > 0]
        scores, y, weight = scores[weight > 0], y[weight > 0], weight[weight > 0]
    if len(y) == 0:
        return predictor
    if predictor.classes is None:
        if predictor.calibration is not None:
            return predictor
        residuals = (y - predictor.predictions_of(scores)).reshape(len(y), -1)
        return replace(predictor, calibration=IntervalCalibration.split(residuals, weight, groups))
    known = np.isin(y, predictor.classes)
    codes = np.searchsorted(predictor.classes, y[known])
    some = None if weight is None else weight[known]
    of_groups = None if groups is None else groups[known]
    found = SetCalibration.of(predictor.probabilities_of(scores[known]), codes, some, of_groups)
    return replace(predictor, calibration=found)


def coverage_section(rows: HeldOutRows, ordered: bool = False) -> dict[str, Any] | None:
    """The section `intervals` of the report: how many held-out rows intervals or sets contain.

    Where they were calibrated by the holdout itself, each half of it is evaluated with the other half's bounds.
    `ordered` : whether the holdout is the last period
    """
    predictor, y = rows.predictor, np.asarray(rows.y)
    if len(y) < _MIN_ROWS or (predictor.classes is not None and not np.all(np.isin(y, predictor.classes))):
        return None
    scores = predictor.scores(rows.X)
    halves = [np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1]
    cross_validated = isinstance(predictor.calibration, IntervalCalibration) and predictor.calibration.method == "CV+"
    found = []
    for level in LEVELS:
        inside, size = np.zeros(len(y)), np.zeros(len(y))
        for part in [np.ones(len(y), dtype=bool)] if cross_validated else halves:
            checked = predictor
            if not cross_validated:
                empty = replace(predictor, calibration=None)
                weight = None if rows.weight is None else rows.weight[~part]
                checked = calibrated_on_holdout(empty, scores[~part], y[~part], weight)
            inside[part], size[part] = _inside(checked, rows.X[part], scores[part], y[part], level)
        found.append((level, inside, size))
    method = "CV+, checked on the holdout" if cross_validated else "split conformal, halves of the holdout"
    return _section(found, rows.weight, method, predictor.classes is not None, ordered)


def _inside(
    predictor: Predictor, X: Any, scores: np.ndarray, y: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """The fraction of the targets of each row inside intervals or sets, and their widths or numbers of classes."""
    if predictor.classes is not None:
        sets = predictor.calibration.sets(predictor.probabilities_of(scores), level)
        return sets[np.arange(len(y)), np.searchsorted(predictor.classes, y)], sets.sum(axis=1)
    ends, y = predictor.intervals(X, level), y.reshape(len(y), -1)
    return np.mean((y >= ends[..., 0]) & (y <= ends[..., 1]), axis=1), np.mean(ends[..., 1] - ends[..., 0], axis=1)


def _section(found: list, weight: np.ndarray | None, method: str, classes: bool, ordered: bool) -> dict[str, Any]:
    n = len(found[0][1])
    size = effective_rows(n, weight)
    levels = []
    for level, inside, width in found:
        hits = float(np.average(inside, weights=weight)) * size
        mean = float(np.average(width, weights=weight))
        levels.append({"level": level, **asdict(wilson(hits, size)), "width": mean if np.isfinite(mean) else None})
    main = next(each for each in levels if each["level"] == LEVEL)
    _, inside, width = next(each for each in found if each[0] == LEVEL)
    order = np.argsort(width, kind="stable")
    parts = [float(np.mean(inside[part])) for part in np.array_split(order, _PARTS)]
    what = "sets of classes" if classes else "intervals"
    of_what = "classes in a set" if classes else "width"
    width_in_words = "" if main["width"] is None else f"; mean {of_what} {_short(main['width'])}"
    sentence = (
        f"{LEVEL:.0%} {what} contain {main['value']:.1%} of {n:,} held-out rows "
        f"({main['low']:.1%} to {main['high']:.1%}){width_in_words}."
    )
    if ordered:
        sentence += " These are the rows of the last period: for later ones there is no guarantee."
    coverage = {key: main[key] for key in ("value", "low", "high")}
    return {
        "kind": "sets" if classes else "intervals", "method": method, "n": n, "level": LEVEL, "coverage": coverage,
        "width": main["width"], "levels": levels, "coverage_by_width": parts, "sentence": sentence,
    }  # fmt: skip


def _short(value: float) -> str:
    """A positive number with four digits or more, without an exponent where that stays short.

    >>> _short(144412.3), _short(2.71828), _short(3e12)
    ('144,412', '2.718', '3e+12')
    """
    return f"{value:,.0f}" if 1000 <= value < 1e9 else f"{value:.4g}"
