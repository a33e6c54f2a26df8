"""Contract of `diagnose`: for every kind of fit the sections conform to the schema, and nothing fails."""

import json
from dataclasses import replace
from functools import cache
from typing import get_type_hints

import numpy as np
import pyarrow as pa
import pytest

from auto.diagnostics.held_out_cases import fitted, mixed_table, texts
from auto.diagnostics.schema_check import conforms
from mercer.auto.diagnostics.diagnose import SECTIONS, diagnose
from mercer.auto.diagnostics.schema import Report
from mercer.auto.rows.encoding import dense
from mercer.auto.text.scored_encoder import ScoredEncoder
from mercer.auto.text.sparse_model import SparsePredictor
from mercer.source import Columns

HINTS = get_type_hints(Report, include_extras=True)


def _mixed(target, classify, n=400, without=(), **options):
    rng = np.random.default_rng(1)
    table, signal = mixed_table(n, rng)
    table = {name: column for name, column in table.items() if name not in without}
    return fitted(table, target(signal, rng), classify, **options)


def _wide():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(160, 600))
    return fitted({f"x{j}": column for j, column in enumerate(X.T)}, X[:, 0] + 0.1 * rng.normal(size=160), False)


def _texts(classify, beside, n=300, words=400):
    rng = np.random.default_rng(3)
    text, good = texts(n, rng, words)
    table = {"text": text} | ({"x": rng.normal(size=n)} if beside else {})
    labels = np.where(good, "yes", "no").astype(object)
    return fitted(table, labels if classify else good + 0.1 * rng.normal(size=n), classify)


def _dates_as_text():
    rng = np.random.default_rng(4)
    days = np.datetime64("2021-03-01") + rng.integers(0, 400, size=200)
    table = {"when": days.astype(str).astype(object), "x": rng.normal(size=200)}
    return fitted(table, table["x"] + (days > np.datetime64("2021-09-01")), False)


def _kernel():
    rng = np.random.default_rng(5)
    X = rng.uniform(-2, 2, size=(1200, 2))
    y = np.sin(3 * X[:, 0] * X[:, 1]) + 0.05 * rng.normal(size=1200)
    return fitted({"a": X[:, 0], "b": X[:, 1]}, y, False, effort="normal")


def _several(signal, rng):
    return np.column_stack([signal, rng.normal(size=len(signal)), -signal])


KINDS = {
    "regression": lambda: _mixed(lambda s, rng: s + 0.1 * rng.normal(size=len(s)), False),
    "huge targets": lambda: _mixed(lambda s, rng: 1e100 * s, False, without=("shop",)),
    "two classes, strings": lambda: _mixed(lambda s, rng: np.where(s > 1, "yes", "no").astype(object), True),
    "two classes, booleans": lambda: _mixed(lambda s, rng: s + rng.normal(size=len(s)) > 1, True),
    "three classes, integers": lambda: _mixed(lambda s, rng: np.digitize(s, [0.5, 1.5]), True),
    "a hundred classes": lambda: _mixed(lambda s, rng: np.argsort(np.argsort(s)) * 100 // len(s), True, n=800),
    "several targets": lambda: _mixed(_several, False, without=("shop",)),
    "constant target": lambda: _mixed(lambda s, rng: np.full(len(s), 2.5), False),
    "one class": lambda: _mixed(lambda s, rng: np.full(len(s), "only", dtype=object), True),
    "weights": lambda: _mixed(
        lambda s, rng: np.where(s > 1, "yes", "no").astype(object),
        True,
        weight=np.random.default_rng(9).integers(0, 3, 400).astype(float),
    ),
    "weighted regression": lambda: _mixed(
        lambda s, rng: s, False, weight=np.random.default_rng(9).exponential(size=400)
    ),
    "few rows": lambda: _mixed(lambda s, rng: s, False, n=50),
    "few rows of classes": lambda: _mixed(lambda s, rng: s > 1, True, n=48),
    "more columns than rows": _wide,
    "texts alone, classes": lambda: _texts(True, False, n=400, words=1500),
    "texts alone, regression": lambda: _texts(False, False, n=400, words=1500),
    "text beside numbers": lambda: _texts(True, True, n=400, words=1500),
    "text beside numbers, regression": lambda: _texts(False, True, n=400, words=1500),
    "few terms beside numbers": lambda: _texts(True, True, n=120, words=20),
    "dates as text": _dates_as_text,
    "random features": _kernel,
}

#: Sections that must be there for some of the kinds.
EXPECTED = {
    "regression": {"importances", "residuals", "effects", "examples", "slices", "interactions", "boundary"},
    "two classes, strings": {"importances", "calibration", "confusion", "thresholds", "effects", "examples", "slices"},
    "a hundred classes": {"importances", "calibration", "confusion", "effects", "examples"},
    "several targets": {"importances", "slices"},
    "texts alone, classes": {"importances", "terms", "calibration", "confusion", "thresholds", "examples"},
    "text beside numbers": {"importances", "terms", "effects", "examples"},
    "few terms beside numbers": {"terms"},
    "random features": {"kernel_map", "certificates", "interactions"},
}


@cache
def _cached(kind):
    return KINDS[kind]()


@pytest.mark.parametrize("kind", KINDS)
def test_sections_conform_to_the_schema(kind):
    rows, encoded = _cached(kind)
    found, left_out = diagnose(rows, encoded)
    assert left_out == []
    assert found.keys() <= SECTIONS.keys()
    assert EXPECTED.get(kind, set()) <= found.keys()
    for name, value in found.items():
        assert conforms(value, HINTS[name], name) is None
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert diagnose(rows, encoded)[0] == found  # the same again


def test_texts_are_of_the_kinds_they_stand_for():
    assert isinstance(_cached("texts alone, classes")[0].predictor, SparsePredictor)
    assert isinstance(_cached("text beside numbers")[0].encoder, ScoredEncoder)
    assert not isinstance(_cached("few terms beside numbers")[0].encoder, ScoredEncoder)


def test_classes_that_only_held_out_rows_have_are_reported():
    rows, encoded = _cached("three classes, integers")
    rows = replace(rows, y=np.where(np.arange(len(rows.y)) < 3, 77, rows.y))
    found, _ = diagnose(rows, encoded)
    assert found["confusion"]["classes"][-1] == "(other classes)"
    assert sum(found["confusion"]["counts"][-1]) == 3
    assert {each["actual"] for each in found["examples"]["worst"]} == {"77"}


@pytest.mark.parametrize("kind", ["regression", "two classes, strings", "texts alone, classes", "text beside numbers"])
@pytest.mark.parametrize("n", [0, 1, 2, 12])
def test_a_handful_of_rows_will_do(kind, n):
    rows, encoded = _cached(kind)
    weight = None if rows.weight is None else rows.weight[:n]
    some = replace(rows, table=rows.table[:n], X=rows.X[:n], y=rows.y[:n], positions=rows.positions[:n], weight=weight)
    found, _ = diagnose(some, encoded)
    for name, value in found.items():
        assert conforms(value, HINTS[name], name) is None


@pytest.mark.parametrize("kind", ["regression", "two classes, strings", "huge targets"])
def test_equal_rows_and_missing_values_are_ordinary(kind):
    rows, encoded = _cached(kind)
    equal = np.zeros(30, dtype=int)
    same = replace(rows, table=rows.table[equal], X=rows.X[equal], y=rows.y[equal], positions=rows.positions[equal])
    table = rows.table.table
    for k, field in enumerate(table.schema):
        table = table.set_column(k, field.name, pa.nulls(len(table), field.type))
    missing = replace(rows, table=Columns(table), X=dense(rows.encoder.transform(Columns(table))))
    for each in (same, missing, replace(rows, weight=np.zeros(len(rows.y)))):
        for name, value in diagnose(each, encoded)[0].items():
            assert conforms(value, HINTS[name], name) is None


def test_without_time_all_sections_are_left_out_by_name():
    rows, _ = _cached("few rows")
    assert diagnose(rows, seconds=-1.0) == ({}, list(SECTIONS))


def test_no_rows_are_shown_where_none_are_wanted():
    rows, _ = _cached("few rows")
    assert "examples" not in diagnose(rows, report_rows=0)[0]
    assert len(diagnose(rows, report_rows=2)[0]["examples"]["worst"]) == 2


def test_two_thousand_columns_are_screened():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 2000))
    y = 3 * X[:, 1234] + 2 * X[:, 77] + 0.1 * rng.normal(size=300)
    rows, encoded = fitted({f"x{j}": column for j, column in enumerate(X.T)}, y, False)
    found, _ = diagnose(rows, encoded)
    columns = found["importances"]["columns"]
    assert [each["column"] for each in columns[:2]] == ["x1234", "x77"]
    assert len(columns) == 30
