"""Scores of rows that have their target: the same in blocks as at once."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

from mercer.auto.holdout.labeled_rows import LabeledRows
from mercer.source import Columns


def summary(target, predicted, task, cuts=()):
    rows = LabeledRows("y", task)
    for part in np.split(np.arange(len(predicted)), cuts):
        rows.add(Columns.of({"y": [target[k] for k in part], "x": part}), np.asarray(predicted)[part])
    return rows.summary()


@pytest.mark.parametrize("cuts", [(), (1, 4), (0, 9)])
def test_regression_in_blocks(cuts):
    rng = np.random.default_rng(0)
    y = 1e9 + rng.normal(size=10)
    predicted = y + 0.3 * rng.normal(size=10)
    assert summary(y.tolist(), predicted, "regression", cuts) == (
        f"R2 {r2_score(y, predicted):.3g} on 10 rows that have their 'y'"
    )


@pytest.mark.parametrize(
    ("target", "predicted"),
    [
        (["a", "b", None, "b"], np.array(["a", "a", "b", "b"], dtype=object)),
        ([0, 1, None, 1], np.array([0, 0, 1, 1])),
        ([True, False, None, False], np.array([True, True, False, False])),
        (["1", "2", None, "2"], np.array([1, 1, 2, 2])),
    ],
)
def test_classes_of_any_kind(target, predicted):
    assert summary(target, predicted, "classification").startswith("accuracy 0.667 (")
    assert summary(target, predicted, "classification").endswith("on 3 rows that have their 'y'")


def test_no_summary_without_targets():
    assert summary([None, None], np.zeros(2), "regression") is None
    assert summary(["x", "y"], np.zeros(2), "regression") is None
    assert summary([1.0, 2.0], np.zeros((2, 2)), "regression") is None
    rows = LabeledRows("z", "classification")
    rows.add(Columns.of({"y": [1, 2]}), np.array([1, 2]))
    assert rows.summary() is None


def test_one_row_and_constant_targets():
    assert summary([2.0], np.array([1.5]), "regression") == "root mean squared error 0.5 on 1 row that has its 'y'"
    assert summary([2.0, 2.0], np.array([1.5, 2.5]), "regression").startswith("root mean squared error 0.5 on 2 rows")
