"""Rows of a table are added to a model, or taken away from it: all of them, or none if one of them is wrong."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._numeric.block import Block, collected
from mercer._runtime.errors import DataError, MercerError, RowError
from mercer.auto.rows.bad_targets import schema_with_target, unusable, with_usable_targets
from mercer.auto.rows.encoding import dense
from mercer.auto.rows.training import TrainingRows
from mercer.auto.updates.keys import NEW_ROW, row_keys
from mercer.auto.updates.state import UpdateState
from mercer.io import read_table
from mercer.source import Columns, Source
from mercer.source.remarks import reading_notes
from mercer.tables.schema import conformed, refuse_missing

if TYPE_CHECKING:
    from mercer.auto.model import Model


def update_model(model: Model, data: Any, target: Any = None, weight: Any = None, **reading: Any) -> None:
    """Add rows to the linear part of a model."""
    state = _state_of(model)
    rows, keys = _read(model, state, _source(model, state, data, target, weight, reading))
    folds = np.full(len(rows), NEW_ROW)
    statistics, predictor = state.statistics.changed(model.predictor, rows, folds, 1)
    known = None if state.keys is None else state.keys.plus(keys)
    _apply(model, predictor, replace(state, statistics=statistics, keys=known, added=state.added + len(rows)))


def forget_in_model(model: Model, data: Any, target: Any = None, weight: Any = None, **reading: Any) -> None:
    """Take rows away from the linear part of a model."""
    state = _state_of(model)
    if state.keys is None:
        raise MercerError(
            f"This model cannot forget rows: {state.why_not_forget}.", remedy="Fit it again without that."
        )
    source = _source(model, state, data, target, weight, reading)
    rows, keys = _read(model, state, source)
    try:
        left, folds = state.keys.minus(keys)
    except RowError as error:
        raise error.located(source.locate) from None
    statistics, predictor = state.statistics.changed(model.predictor, rows, folds, -1)
    known = replace(state, statistics=statistics, keys=left, forgotten=state.forgotten + len(rows))
    _apply(model, predictor, known)


def _state_of(model: Model) -> UpdateState:
    state = getattr(model, "state", None)
    if state is None:
        raise MercerError("This model keeps no statistics of its rows.", remedy="Fit it again with this version.")
    if state.statistics is None:
        raise MercerError(f"This model cannot be updated: {state.why}.", remedy="Otherwise fit again to all rows.")
    return state


def _apply(model: Model, predictor: Any, state: UpdateState) -> None:
    model.predictor, model.state = predictor, state


def _read(model: Model, state: UpdateState, source: Source) -> tuple[TrainingRows, np.ndarray]:
    """Rows in memory with targets as the statistics hold them, and their keys."""
    schema = model.encoder.schema_
    rows = collected(_block(block, schema) for block in source.blocks() if len(block))
    y = _targets(model, rows, source)
    ids, weights = rows.ids, None if rows.weight is None else np.asarray(rows.weight, dtype=np.float64)
    X = dense(model.encoder.transform(rows.X))
    keys = row_keys(ids, y, weights)
    known = None if weights is None else weights / state.unit
    return TrainingRows(X, state.statistics.numbers(y), ids, state.seed, weight=known), keys


def _block(block: Block, schema: dict[str, str]) -> Block:
    table = conformed(block.X, schema, block.start)
    return Block(table, block.y, block.weight, block.start)


def _source(model: Model, state: UpdateState, data: Any, target: Any, weight: Any, reading: dict[str, Any]) -> Source:
    target = model.target if target is None else target
    weight = model.report_weight if weight is None else weight
    if target is None and not isinstance(data, Source):
        raise MercerError("The model was fitted to an array of targets.", remedy="Give the targets of the rows, too.")
    if state.weighted and weight is None and not isinstance(data, Source):
        raise MercerError("The model was fitted with weights.", remedy="Give the weights of the rows, too.")
    schema = model.encoder.schema_
    if isinstance(data, Source):
        source = data
    elif hasattr(data, "shape") and not hasattr(data, "columns") and np.ndim(data) == 2:
        source = read_table(_named(np.asarray(data), schema), target, weight)
    else:
        source = read_table(data, target, weight, like=schema_with_target(model), **reading)
    if reading.get("on_bad_rows") == "skip":
        source, _, notes = with_usable_targets(source, "skip", "The target", partial(_is_bad, model))
        for note in [*reading_notes(source), *notes]:
            warnings.warn(note, UserWarning, stacklevel=4)
    names = list(source.schema or {})
    refuse_missing(names, schema)
    others = [name for name in names if name not in schema]
    if others:
        raise DataError(
            f"There is a column {others[0]!r}, which the model does not know.",
            remedy="Rows must have the columns of the fit: leave it out, or fit again.",
            column=others[0],
        )
    return source


def _is_bad(model: Model, y: np.ndarray) -> np.ndarray:
    """Mask of targets that the model cannot learn from: no finite numbers, or classes that the fit has not seen."""
    if model.classes_ is None:
        return unusable(y)
    known = set(model.classes_.tolist())
    return np.array([label not in known for label in y.tolist()], dtype=bool)


def _named(X: np.ndarray, schema: dict[str, str]) -> Columns:
    if X.shape[1] != len(schema):
        raise DataError(f"The rows have {X.shape[1]} columns, but the model was fitted to {len(schema)}.")
    return Columns.of(dict(zip(schema, X.T, strict=True)))


def _targets(model: Model, rows: Block, source: Source) -> np.ndarray:
    """Numbers, or class numbers; `RowError` names a row without a usable target."""
    if rows.y is None:
        raise DataError("The rows have no target.", remedy="Name its column, or give an array.")
    y = np.asarray(rows.y)
    if model.classes_ is None:
        if y.dtype.kind not in "fiub":
            raise DataError(f"The target holds {str(y[0])!r}, but the model predicts numbers.")
        bad = np.flatnonzero(~np.isfinite(y.reshape(len(y), -1).astype(np.float64)).all(axis=1))
        if len(bad):
            raise RowError(f"The target is {y[bad[0]]} at ", int(bad[0]), ". Correct it.").located(source.locate)
        return y.astype(np.float64)
    known = {label: k for k, label in enumerate(model.classes_.tolist())}
    codes = np.array([known.get(label, -1) for label in y.tolist()], dtype=np.int64)
    new = np.flatnonzero(codes < 0)
    if len(new):
        message = f"The class {str(y[new[0]])!r} was never seen in the fit, at "
        raise RowError(message, int(new[0]), ". Fit again to learn new classes.").located(source.locate)
    return codes
