"""The scorecard of an explainable model: points by bins, categories and cells, in the units of the table."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._runtime.errors import MercerError, Message, Setting
from mercer.auto.features.terms import TermsBlock, terms_block
from mercer.learn.additive.axes import Axis
from mercer.tables.columns import Indicators, SmoothClipped
from mercer.tables.dates import DateParts

if TYPE_CHECKING:
    from mercer.auto.model import Model

#: Names of levels that are no bin or category of the training rows.
UNSEEN, MISSING = "(unseen)", "(missing)"


@dataclass(frozen=True)
class AxisLevels:
    """The levels of an axis in the units of the table.

    `lower` and `upper` are the edges of bins, NaN where there are none; `kind` is number, date or category. `values`
    are the mean number, the date or the category of each level that is no missing value.
    """

    column: str
    kind: str
    labels: list[str]
    lower: np.ndarray
    upper: np.ndarray
    values: list[Any]


def explainable_block(model: Model) -> TermsBlock:
    """The terms of an explainable model; an error for other models."""
    block = terms_block(model.predictor.features)
    if block is None:
        raise MercerError(
            "Only explainable models have a scorecard:", remedy=Message("fit with ", Setting("explainable", True), ".")
        )
    return block


def axis_levels(encoder: Any, block: TermsBlock) -> list[AxisLevels]:
    """The levels of each axis of encoded rows."""
    start = 0
    by_column: dict[int, tuple[Any, int]] = {}
    for part in encoder.column_encoders:
        for names in part.names:
            for offset in range(len(names)):
                by_column[start + offset] = (part, offset)
            start += len(names)
    axes = zip(block.tables.axes, block.details.columns, strict=True)
    return [_levels(axis, column, *by_column[int(axis.columns[0])]) for axis, column in axes]


def _levels(axis: Axis, column: str, encoder: Any, offset: int) -> AxisLevels:
    gone = [MISSING] if axis.missing >= 0 else []
    nothing = np.full(axis.n_levels, np.nan)
    if axis.is_category:
        if isinstance(encoder, Indicators):
            names = [*(str(category) for category in encoder.categories), "other"][: len(axis.columns)]
            return AxisLevels(column, "category", [UNSEEN, *names, *gone], nothing, nothing, [UNSEEN, *names])
        shown = ["present", "missing"]
        return AxisLevels(column, "category", shown, nothing, nothing, shown)
    padding = [np.nan] * len(gone)
    if isinstance(encoder, DateParts):
        labels, dates = (
            [str(np.datetime_as_string(each, unit="auto")) for each in encoder.decoded(part)]
            for part in (axis.cuts, axis.values)
        )
        return AxisLevels(column, "date", [*bins_between(labels), *gone], nothing, nothing, dates)
    cuts, values = axis.cuts, axis.values
    if isinstance(encoder, SmoothClipped):
        cuts, values = encoder.decoded(cuts), encoder.decoded(values)
    labels = [prefix_of(encoder) + label for label in bins_between(short_numbers(cuts))]
    lower, upper = np.array([-np.inf, *cuts, *padding]), np.array([*cuts, np.inf, *padding])
    return AxisLevels(column, "number", [*labels, *gone], lower, upper, values.tolist())


def prefix_of(encoder: Any) -> str:
    """What a bin of a column of high cardinality is a bin of."""
    return {"target": "mean target ", "frequency": "rarity "}.get(encoder.kind, "")


def bins_between(cuts: list[str]) -> list[str]:
    """Names of the bins between cuts.

    >>> bins_between(["1", "2"])
    ['<= 1', '(1, 2]', '> 2']
    >>> bins_between([])
    ['any']
    """
    if not cuts:
        return ["any"]
    inner = [f"({low}, {high}]" for low, high in pairwise(cuts)]
    return [f"<= {cuts[0]}", *inner, f"> {cuts[-1]}"]


def short_numbers(values: np.ndarray) -> list[str]:
    """Numbers with as few digits as distinguish neighbors.

    >>> short_numbers(np.array([0.5, 1.25, 1.2501]))
    ['0.5', '1.25', '1.2501']
    """
    shown: list[str] = []
    for digits in range(3, 18):
        shown = [f"{value:.{digits}g}" for value in values]
        if len(set(shown)) == len(shown):
            break
    return shown


def scorecard_columns(model: Model) -> dict[str, list]:
    """The scorecard as columns: feature, bin, for several outputs class or target, points, error, rows, edges."""
    block = explainable_block(model)
    levels, tables, details = axis_levels(model.encoder, block), block.tables, block.details
    temperature = 1.0 if model.classes_ is None else model.predictor.temperature
    n_outputs, unknown = tables.n_outputs, (np.nan, np.nan, np.nan)
    first = model.predictor.intercept[None]
    parts: list[tuple] = [("(intercept)", ["(intercept)"], first, np.zeros_like(first), unknown)]
    names = block.term_names()
    for j, level in enumerate(levels):
        edges = (details.counts[j], level.lower, level.upper)
        parts.append((names[j], level.labels, tables.mains[j], details.errors[j], edges))
    for p, pair in enumerate(tables.pairs, len(levels)):
        labels = [
            f"{one} x {other}"
            for one in coarse_labels(levels[pair.first], pair.first_level)
            for other in coarse_labels(levels[pair.second], pair.second_level)
        ]
        points, errors = (each.reshape(len(labels), n_outputs) for each in (pair.values, details.errors[p]))
        parts.append((names[p], labels, points, errors, (details.counts[p].ravel(), np.nan, np.nan)))
    return _laid_out(model, parts, temperature)


def _laid_out(model: Model, parts: list, temperature: float) -> dict[str, list]:
    n_outputs = parts[0][2].shape[1]
    found: dict[str, list] = {"feature": [], "bin": []}
    outputs: list[Any] = [None] * n_outputs
    if n_outputs > 1:
        outputs = list(range(n_outputs)) if model.classes_ is None else [str(label) for label in model.classes_]
        found["target" if model.classes_ is None else "class"] = []
    found |= {name: [] for name in ("points", "error", "rows", "lower", "upper")}
    for feature, labels, points, errors, (rows, lower, upper) in parts:
        for o, output in enumerate(outputs):
            found["feature"] += [feature] * len(labels)
            found["bin"] += labels
            if n_outputs > 1:
                found["target" if model.classes_ is None else "class"] += [output] * len(labels)
            found["points"] += (points[:, o] / temperature).tolist()
            found["error"] += (errors[:, o] / temperature).tolist()
            for name, values in (("rows", rows), ("lower", lower), ("upper", upper)):
                found[name] += np.broadcast_to(values, len(labels)).tolist()
    return found


def coarse_labels(levels: AxisLevels, coarse: np.ndarray) -> list[str]:
    """Names of the coarse levels of an axis: runs of bins have the edges of their first and last."""
    n_coarse = int(coarse.max()) + 1
    if n_coarse == len(coarse):
        return levels.labels
    starts = np.flatnonzero(np.diff(coarse, prepend=-1) > 0)
    ends = np.append(starts[1:], len(coarse)) - 1
    return [_run_label(levels, int(a), int(b)) for a, b in zip(starts, ends, strict=True)]


def _run_label(levels: AxisLevels, first: int, last: int) -> str:
    if first == last:
        return levels.labels[first]
    low, high = levels.labels[first], levels.labels[last]
    if low.startswith("<="):
        return f"<= {high.strip('(]').split(', ')[-1]}" if not high.startswith(">") else "any"
    start = low.strip("(]").split(", ")[0]
    return f"> {start}" if high.startswith(">") else f"({start}, {high.strip('(]').split(', ')[-1]}]"


def scorecard_frame(model: Model) -> Any:
    """The scorecard as a frame of pandas if that is installed, else of pyarrow."""
    import narwhals.stable.v2 as nw

    library: Any = "pandas" if find_spec("pandas") else "pyarrow"
    return nw.from_dict(scorecard_columns(model), backend=library).to_native()
