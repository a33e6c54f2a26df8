"""A fitted model as an ONNX graph, and the proof that both predict the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from mercer.auto.final.predictor import Predictor
from mercer.auto.onnx.columns import encoded_columns, encoders_of, input_type, known_categories, used_columns
from mercer.auto.rows.encoding import dense
from mercer.io.onnx import Graph, run
from mercer.linear.regression_losses import MAX_LOG
from mercer.source import Columns
from mercer.tables import TableEncoder

if TYPE_CHECKING:
    from mercer.auto.model import Model

_EPS = float(np.finfo(np.float32).eps)
_ROWS = 200


def onnx_model(model: Model) -> Any:
    """The graph: an input of shape (rows, 1) per column; `prediction`, and for classes `probabilities`."""
    graph, predictor = Graph(), model.predictor
    values = scores(graph, predictor, encoded_columns(graph, model.encoder))
    if predictor.response is not None:
        _response_outputs(graph, predictor, values)
    elif model.classes_ is None:
        n = predictor.coef.shape[1]
        shape = ("rows", n) if n > 1 else ("rows",)
        flat = values if n > 1 else graph.add("Reshape", values, np.array([-1]))
        graph.output("prediction", flat, np.float64, shape)
    else:
        _class_outputs(graph, predictor, values, _labels(model.classes_))
    return graph.model(f"A {model.task} model of Mercer: linear on {model.predictor.features.width} explicit features.")


def scores(graph: Graph, predictor: Predictor, x: str) -> str:
    """features(x) @ coef + intercept: the features in float32, the sum in float64."""
    features = graph.concat([block.onnx_nodes(graph, x) for block in predictor.features.blocks])
    product = graph.add("MatMul", features, predictor.coef.astype(np.float32))
    return graph.add("Add", graph.cast(product, np.float64), np.asarray(predictor.intercept, dtype=np.float64))


def _response_outputs(graph: Graph, predictor: Predictor, values: str) -> None:
    """`prediction`: the mean or the quantile next to the median; and `quantiles` in increasing order."""
    response, n = predictor.response, predictor.coef.shape[1]
    if response.log_link:
        values = graph.add("Exp", graph.add("Clip", values, np.float64(-MAX_LOG), np.float64(MAX_LOG)))
    elif n > 1:
        values = _sorted_columns(graph, values, n)
    chosen = graph.columns(values, np.array([response.predicted])) if n > 1 else values
    graph.output("prediction", graph.add("Reshape", chosen, np.array([-1])), np.float64, ("rows",))
    if n > 1:
        graph.output("quantiles", values, np.float64, ("rows", n))


def _sorted_columns(graph: Graph, values: str, n: int) -> str:
    """The columns of each row in increasing order, by comparisons of neighbors."""
    columns = [graph.columns(values, np.array([k])) for k in range(n)]
    for last in range(n - 1, 0, -1):
        for k in range(last):
            pair = columns[k], columns[k + 1]
            columns[k], columns[k + 1] = graph.add("Min", *pair), graph.add("Max", *pair)
    return graph.concat(columns)


def _class_outputs(graph: Graph, predictor: Predictor, values: str, classes: np.ndarray) -> None:
    cooled = graph.add("Div", values, np.float64(predictor.temperature))
    if len(classes) == 2:
        second = graph.add("Sigmoid", graph.cast(cooled, np.float32))
        probabilities = graph.concat([graph.add("Sub", np.float32(1.0), second), second])
        winner = graph.cast(graph.add("Greater", values, np.float64(0.0)), np.int64)
        winner = graph.add("Reshape", winner, np.array([-1]))
    else:
        probabilities = graph.add("Softmax", graph.cast(cooled, np.float32), axis=1)
        winner = graph.add("ArgMax", values, axis=1, keepdims=0)
    if predictor.decision is not None:
        utility = graph.add("MatMul", graph.cast(probabilities, np.float64), predictor.decision.utility)
        last = int(len(classes) == 2)  # the second of two classes at the threshold
        winner = graph.add("ArgMax", utility, axis=1, keepdims=0, select_last_index=last)
    graph.output("prediction", graph.add("Gather", classes, winner, axis=0), classes.dtype, ("rows",))
    graph.output("probabilities", probabilities, np.float32, ("rows", len(classes)))


def _labels(classes: np.ndarray) -> np.ndarray:
    """The classes in a type that ONNX has; strings are np.str_."""
    if classes.dtype.kind in "OU":
        other = [label for label in classes.tolist() if not isinstance(label, str)]
        if other:
            what = f"{other[0]!r} is a {type(other[0]).__name__}"
            raise ValueError(f"The class {what}; classes of ONNX are all strings, or all numbers.")
        return classes.astype(str)
    return classes.astype({"b": np.bool_, "f": np.float64}.get(classes.dtype.kind, np.int64))


def check_parity(model: Model, graph: Any, rows: Any = None) -> None:
    """Run the graph on rows (on generated ones if there are none) and compare; ValueError names the worst of them."""
    table = likely_rows(model.encoder, model.seed) if rows is None else _table(rows)
    found = list(run(graph, onnx_inputs(model.encoder, table)).values())
    expected = [model.predict(table)]
    allowed = _rounding(model.predictor, dense(model.encoder.transform(table)))
    if model.classes_ is not None:
        probabilities = model.predict_proba(table)
        allowed = allowed.max(axis=1, keepdims=True) / model.predictor.temperature + 8 * _EPS
        _compare(probabilities, found[1], allowed, "probability")
        rule, size = model.predictor.decision, 1.0
        if rule is not None:  # the utilities decide, and their errors are those of the probabilities times the costs
            probabilities, size = probabilities @ rule.utility, max(1.0, float(np.abs(rule.utility).sum(axis=0).max()))
        top = np.sort(probabilities, axis=1)
        clear = np.ones(len(top), bool) if top.shape[1] < 2 else top[:, -1] - top[:, -2] > 2 * size * allowed[:, 0]
        if not np.array_equal(found[0][clear].astype(str), np.asarray(expected[0])[clear].astype(str)):
            raise ValueError("The ONNX graph predicts other classes than the model. Please report this.")
        return
    response = model.predictor.response
    if response is not None:  # exp(s) changes by exp(s) times the change of s; of sorted scores none by more than one
        allowed = allowed.max(axis=1, keepdims=True)
        allowed = 2 * allowed * expected[0][:, None] if response.log_link else allowed
    _compare(expected[0].reshape(len(allowed), -1), found[0].reshape(len(allowed), -1), allowed, "prediction")


def _table(rows: Any) -> Columns:
    return rows if isinstance(rows, Columns) else Columns.of(rows)


def _compare(expected: np.ndarray, found: np.ndarray, allowed: np.ndarray, what: str) -> None:
    excess = np.abs(expected - found) / allowed
    if not np.all(excess <= 1):
        row, column = np.unravel_index(np.argmax(np.where(np.isnan(excess), np.inf, excess)), excess.shape)
        raise ValueError(
            f"The ONNX graph and the model disagree: {what} {found[row, column]!r} instead of "
            f"{expected[row, column]!r} in row {row}, where rounding allows {float(np.ravel(allowed[row])[0]):.2g}. "
            "Please report this; check=False exports anyway."
        )


def _rounding(predictor: Predictor, X: np.ndarray) -> np.ndarray:
    """What float32 may change in the scores of encoded rows, one column per output.

    A sum of n rounded products is off by about eps sqrt(n) times the sum of their sizes (Higham and Mary 2019); each
    block adds what rounding its own features may change.
    """
    size = np.abs(predictor.coef)
    features = np.abs(predictor.features.features(X))
    terms = features @ size
    total = 4 * np.sqrt(len(size)) * terms + 4 * terms
    for block, columns in zip(predictor.features.blocks, predictor.features.slices(), strict=True):
        total += block.onnx_rounding(X, features[:, columns], size[columns])
    return _EPS * (total + np.abs(predictor.intercept)) + np.finfo(np.float64).tiny


def onnx_inputs(encoder: TableEncoder, table: Columns) -> dict[str, np.ndarray]:
    """The columns of a table as a session takes them: NaN for missing numbers, "" for missing text."""
    from mercer.tables.schema import conformed

    table = conformed(table, encoder.schema_)
    found = {}
    for name in used_columns(encoder):
        column = table.table[name]
        if input_type(encoder, name) is str:
            values = np.array(["" if value is None else value for value in column.to_pylist()], dtype=object)
        else:
            values = column.cast(pa.float64()).to_numpy().astype(np.float64)
        found[name] = values.reshape(-1, 1)
    return found


def likely_rows(encoder: TableEncoder, seed: int = 0, n: int = _ROWS) -> Columns:
    """Rows like those of the fit: numbers around their medians, known and new categories, missing values."""
    rng = np.random.default_rng(seed)
    return Columns(pa.table({name: _likely(encoder, name, rng, n) for name in encoder.schema_}))


def _likely(encoder: TableEncoder, name: str, rng: np.random.Generator, n: int) -> pa.Array:
    kind = encoder.schema_[name]
    types = {"text": pa.string(), "integer": pa.int64(), "boolean": pa.bool_(), "date": pa.timestamp("us")}
    gone = rng.random(n) < 0.1
    if name not in used_columns(encoder):
        return pa.nulls(n, types.get(kind, pa.float64()))
    categories = known_categories(encoder, name)
    if categories:
        new = [] if kind == "boolean" else ["a new category"] if kind == "text" else [max(categories) + 1]
        values = [*categories, *new]
        index = rng.integers(len(values), size=n).tolist()
        drawn = [None if g else values[k] for g, k in zip(gone, index, strict=True)]
        return pa.array(drawn, types.get(kind, pa.float64()))
    part = next(part for part, _ in encoders_of(encoder, name) if part.kind == "number")
    with np.errstate(over="ignore"):
        x = part.center + (0.5 * part.scale) * rng.standard_t(4, size=n)
    x = np.where(np.isfinite(x), x, part.center)
    x = (x > 0.5).astype(float) if kind == "boolean" else np.rint(x) if kind == "integer" else x
    return pa.array(np.where(gone, np.nan, x), from_pandas=True).cast(types.get(kind, pa.float64()))
