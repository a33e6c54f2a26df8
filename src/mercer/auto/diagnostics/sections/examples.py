"""The worst and the most typical held-out rows, explained by contributions that add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import Contribution, ExampleRow, Examples
from mercer.auto.diagnostics.sections.importances import screened
from mercer.auto.diagnostics.sections.outputs import (
    class_names,
    has_one_output,
    is_sparse,
    predicted_codes,
    row_losses,
    short_text,
)
from mercer.auto.explain.contributions import contributions

_MAX_LISTED = 8
#: The fraction of the rows, of loss nearest to the median, that are typical.
_TYPICAL = 0.25
#: Of more columns the strongest have contributions of their own, so many, and the others one in common.
_MAX_COLUMNS, _N_STRONGEST = 100, 30

#: Columns or terms, their values as text, their contributions, and the score they start from.
Parts = tuple[list[str], Callable[[int], str], np.ndarray, float]
#: (index of a row, column of the scores) -> the parts of its score.
PartsOf = Callable[[int, int], Parts]


def section(
    rows: HeldOutRows, report_rows: int = 3, target: str | None = None, strongest: Sequence[str] = ()
) -> Examples | None:
    """As many rows of largest loss, and of median loss, spread over the predictions.

    Contributions are Shapley values from the mean row on, for texts alone weight times value of the terms from the
    intercept on. For classes they are in log-odds of the predicted class after the temperature; of several classes in
    the score of that class, which is its log-probability up to a number common to all classes. Of more than 100
    columns the 30 strongest are listed, and the others count as one.
    """
    if report_rows < 1 or not has_one_output(rows) or len(rows.y) < 2:
        return None
    losses = row_losses(rows, rows.scores)
    if rows.classes is None:
        unit = target or "target"
    else:
        unit = "log-odds" if len(rows.classes) == 2 else "score of the class (log-probability up to a constant)"
    worst, typical = np.argsort(-losses, kind="stable")[:report_rows], _typical(rows, losses, report_rows)
    parts = _term_parts(rows) if is_sparse(rows) else _column_parts(rows, strongest)
    return {
        "unit": unit,
        "worst": [example(rows, int(k), parts) for k in worst],
        "typical": [example(rows, int(k), parts) for k in typical],
    }


def _typical(rows: HeldOutRows, losses: np.ndarray, size: int) -> np.ndarray:
    """Rows of loss near the median, evenly spaced along the predictions."""
    near = np.argsort(np.abs(losses - np.median(losses)), kind="stable")
    near = near[: max(size, int(_TYPICAL * len(losses)))]
    first = rows.scores[:, 0] if rows.scores.shape[1] == 1 else rows.probabilities.max(axis=1)
    order = near[np.argsort(first[near], kind="stable")]
    middles = (np.arange(size) + 0.5) / size * len(order)
    return order[np.unique(np.minimum(middles.astype(np.intp), len(order) - 1))]


def example(rows: HeldOutRows, k: int, parts_of: PartsOf) -> ExampleRow:
    """The row of index k: baseline + contributions + other = score."""
    column, sign, unit, output, probability = _explained(rows, k)
    names, value, parts, start = parts_of(k, column)
    parts, baseline = sign * parts / unit, float(sign * start / unit)
    score = float(sign * rows.scores[k, column])
    order = [j for j in np.argsort(-np.abs(parts), kind="stable")[:_MAX_LISTED] if parts[j] != 0]
    listed: list[Contribution] = [
        {"column": names[j], "value": value(j), "contribution": float(parts[j])} for j in order
    ]
    predicted = score if rows.classes is None else output
    return {
        "row": int(rows.positions[k]),
        "actual": short_text(np.asarray(rows.y)[k : k + 1].tolist()[0]),
        "predicted": short_text(predicted),
        "probability": probability,
        "output": output,
        "baseline": baseline,
        "score": score,
        "contributions": listed,
        "other": score - baseline - sum(each["contribution"] for each in listed),
    }


def _explained(rows: HeldOutRows, k: int) -> tuple[int, float, float, str | None, float | None]:
    """The column of the scores, its sign, the temperature, the predicted class and its probability."""
    if rows.classes is None:
        return 0, 1.0, 1.0, None, None
    code, unit = int(predicted_codes(rows)[k]), rows.predictor.temperature
    name, probability = class_names(rows)[code], float(rows.probabilities[k, code])
    if len(rows.classes) == 2:
        return 0, 1.0 if code == 1 else -1.0, unit, name, probability
    return code, 1.0, unit, name, probability


def _column_parts(rows: HeldOutRows, strongest: Sequence[str]) -> PartsOf:
    """Shapley values of the columns of the table."""
    groups, others = rows.groups, np.zeros(0, dtype=np.intp)
    if len(groups) > _MAX_COLUMNS:
        shown = list(strongest or screened(rows))[:_N_STRONGEST]
        others = np.concatenate([columns for name, columns in groups.items() if name not in shown])
        groups = {name: groups[name] for name in shown}
    names = list(groups)
    # The others are the last player, whatever the columns are called.
    players = {str(j): columns for j, columns in enumerate([*groups.values(), *([others] if len(others) else [])])}

    def parts_of(k: int, column: int) -> Parts:
        row = rows.table[k : k + 1].table
        start, parts = contributions(rows.predictor.scores, rows.X[k], rows.baseline, players, rows.seed)
        return names, lambda j: short_text(row[names[j]][0].as_py()), parts[: len(names), column], float(start[column])

    return parts_of


def _term_parts(rows: HeldOutRows) -> PartsOf:
    """Weight times value of the terms of a text."""
    terms, predictor = rows.encoder.get_feature_names_out(), rows.predictor

    def parts_of(k: int, column: int) -> Parts:
        x = rows.X[k]
        parts = x.data * predictor.coef[x.indices, column]
        names = [str(name) for name in terms[x.indices]]
        return names, lambda j: f"{x.data[j]:.3g}", parts, float(predictor.intercept[column])

    return parts_of
