"""Columns of a table as nodes of an ONNX graph: numbers by their formula, categories by a table of their encodings.

Inputs of numbers are float64, so that the graph encodes to the same bits as the encoder, and no tree turns the other
way. NaN is a missing number, the empty string a missing text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from mercer.io.onnx import TREES, Graph
from mercer.source import Columns
from mercer.tables import TableEncoder
from mercer.tables.columns import encode_table

_UNSEEN = "never seen"
_REASONS = {
    "high-cardinality": "the model keeps hashes of its categories, not their names, and the hash has no operator",
    "date": "the calendar has no operator",
    "text": "n-grams of text have no exact operator",
    "sequence": "n-grams of letters have no exact operator",
}


def encoded_columns(graph: Graph, encoder: TableEncoder) -> str:
    """Inputs for the columns, and the nodes that encode them: (rows, encoded columns) in float64."""
    refuse_untranslatable(encoder)
    inputs = {name: graph.input(name, input_type(encoder, name)) for name in used_columns(encoder)}
    parts, positions = [], []
    for part in (_numbers(graph, encoder, inputs), *(_categories(graph, encoder, name, inputs) for name in inputs)):
        if part is not None:
            parts.append(part[0])
            positions += part[1]
    return graph.columns(graph.concat(parts), np.argsort(positions))


def used_columns(encoder: TableEncoder) -> list[str]:
    """The columns that became features, in the order of the table."""
    used = {block.column for block in encoder.blocks_}
    return [name for name in encoder.schema_ if name in used]


def input_type(encoder: TableEncoder, column: str) -> type:
    return str if encoder.schema_[column] == "text" else np.float64


def refuse_untranslatable(encoder: TableEncoder) -> None:
    """ValueError for the first column that no graph can stand for."""
    for block in encoder.blocks_:
        if block.role in _REASONS:
            raise ValueError(
                f"Column {block.column!r} is a {block.role} column, and {_REASONS[block.role]} in ONNX. Leave the "
                f"column out of the fit, or give it another role, as in roles={{{block.column!r}: 'category'}}."
            )
        if encoder.schema_[block.column] == "text" and "" in known_categories(encoder, block.column):
            raise ValueError(
                f"Column {block.column!r} has the empty string among its categories, which in ONNX stands for a "
                "missing value. Make it missing, or give the category a name, and fit again."
            )


def encoders_of(encoder: TableEncoder, column: str) -> Iterator[tuple[Any, list[int]]]:
    """(encoder, the positions of its outputs among all) for each encoder of a column."""
    for part, block in _parts(encoder):
        if block.column == column:
            yield part, list(range(block.start, block.stop))


def _parts(encoder: TableEncoder) -> list:
    """The encoder of each block, beside it."""
    parts = [part for part in encoder.column_encoders for _ in part.columns]
    return list(zip(parts, encoder.blocks_, strict=True))


def known_categories(encoder: TableEncoder, column: str) -> list:
    """The categories that `fit` has kept, none for numbers."""
    found: dict = {}
    for part, _ in encoders_of(encoder, column):
        if part.kind == "onehot":
            found |= dict.fromkeys((*part.categories, *(part.pooled or ())))
    return list(found)


def _numbers(graph: Graph, encoder: TableEncoder, inputs: dict[str, str]) -> tuple[str, list[int]] | None:
    """z / sqrt(1 + (z/3)^2) of all numbers at once, then their missing indicators; and the positions of both."""
    encoders = _parts(encoder)
    squashed = [(part, block.start) for part, block in encoders if part.kind == "number"]
    if not squashed:
        return None
    names = [part.column for part, _ in squashed]
    x = graph.concat([inputs[name] for name in names])
    gone = graph.add("IsNaN", x)
    z = graph.add("Where", gone, np.float64(0.0), _squashed(graph, x, [part for part, _ in squashed]))
    positions = [start for _, start in squashed]
    flags = [(part.column, block.start) for part, block in encoders if part.kind == "missing" and part.column in names]
    if not flags:
        return z, positions
    flagged = graph.columns(graph.cast(gone, np.float64), [names.index(name) for name, _ in flags])
    return graph.concat([z, flagged]), positions + [start for _, start in flags]


def _squashed(graph: Graph, x: str, parts: list) -> str:
    center, scale = np.array([part.center for part in parts]), np.array([part.scale for part in parts])
    half = np.where(scale > 0, 0.5 * scale, np.inf)
    z = graph.add("Div", graph.add("Sub", graph.add("Mul", x, np.float64(0.5)), 0.5 * center), half)
    z = graph.add("Clip", z, np.float64(-1e150), np.float64(1e150))
    third = graph.add("Div", z, np.float64(3.0))
    root = graph.add("Sqrt", graph.add("Add", graph.add("Mul", third, third), np.float64(1.0)))
    return graph.add("Div", z, root)


def _categories(
    graph: Graph, encoder: TableEncoder, column: str, inputs: dict[str, str]
) -> tuple[str, list[int]] | None:
    """A table of encodings: a row for each category, for a new one and for a missing value."""
    parts = list(encoders_of(encoder, column))
    if any(part.kind == "number" for part, _ in parts):
        return None
    categories = known_categories(encoder, column)
    rows = _encoded(encoder, column, categories, parts)
    positions = [position for _, outputs in parts for position in outputs]
    table, code = np.unique(rows, axis=0, return_inverse=True)
    code = code.ravel().astype(np.int64)
    find = _code_of_text if encoder.schema_[column] == "text" else _code_of_number
    return graph.add("Gather", table, find(graph, inputs[column], categories, code), axis=0), positions


def _encoded(encoder: TableEncoder, column: str, categories: list, parts: list) -> np.ndarray:
    """The encodings of each category, of an unseen one, and of a missing value."""
    kind = encoder.schema_[column]
    new: str | float | None = None  # there is no third truth value
    if kind == "text":
        new = _UNSEEN
        while new in categories:
            new += "!"
    elif kind != "boolean":
        new = max((abs(value) for value in categories), default=0) + 1
    types = {"text": pa.string(), "boolean": pa.bool_(), "integer": pa.int64()}
    values = pa.array([*categories, new, None], types.get(kind, pa.float64()))
    missing = pa.nulls(len(values), pa.string())
    table = Columns(pa.table({name: values if name == column else missing for name in encoder.schema_}))
    return np.hstack(encode_table([part for part, _ in parts], table))


def _code_of_text(graph: Graph, x: str, categories: list, code: np.ndarray) -> str:
    return graph.add(
        "LabelEncoder",
        graph.add("Reshape", x, np.array([-1])),
        domain=TREES,
        keys_strings=[*categories, ""],
        values_int64s=[*code[:-2].tolist(), int(code[-1])],
        default_int64=int(code[-2]),
    )


def _code_of_number(graph: Graph, x: str, categories: list, code: np.ndarray) -> str:
    """The sum of (code of the category - code of a new one) over the categories that are equal: one or none."""
    equal = graph.cast(graph.add("Equal", x, np.array([categories], dtype=np.float64)), np.int64)
    jump = graph.add("Mul", equal, (code[:-2] - code[-2])[None, :])
    known = graph.add("Add", graph.add("ReduceSum", jump, np.array([1]), keepdims=0), code[-2])
    gone = graph.add("Reshape", graph.add("IsNaN", x), np.array([-1]))
    return graph.add("Where", gone, code[-1], known)
