"""Scores of rows that come with their target: in blocks as at once, and only of rows that have one."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

from mercer.auto.holdout.labeled_rows import LabeledRows
from mercer.source import Columns


def told(target, predicted, task, cuts=()):
    known = LabeledRows("y", task)
    for part in np.split(np.arange(len(predicted)), cuts):
        known.add(Columns.of({"y": [target[k] for k in part], "x": part}), np.asarray(predicted)[part])
    return known.summary()


@pytest.mark.parametrize("cuts", [(), (1, 4), (0, 9)])
def test_quantities_in_blocks(cuts):
    rng = np.random.default_rng(0)
    y = 1e9 + rng.normal(size=10)
    predicted = y + 0.3 * rng.normal(size=10)
    assert told(y.tolist(), predicted, "regression", cuts) == (
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
    assert told(target, predicted, "classification").startswith("accuracy 0.667 (")
    assert told(target, predicted, "classification").endswith("on 3 rows that have their 'y'")


def test_nothing_is_said_where_nothing_is_known():
    assert told([None, None], np.zeros(2), "regression") is None
    assert told(["x", "y"], np.zeros(2), "regression") is None
    assert told([1.0, 2.0], np.zeros((2, 2)), "regression") is None
    known = LabeledRows("z", "classification")
    known.add(Columns.of({"y": [1, 2]}), np.array([1, 2]))
    assert known.summary() is None


def test_one_row_and_targets_that_never_change():
    assert told([2.0], np.array([1.5]), "regression") == "root mean squared error 0.5 on 1 row that has its 'y'"
    assert told([2.0, 2.0], np.array([1.5, 2.5]), "regression").startswith("root mean squared error 0.5 on 2 rows")
