"""Options of a fit are checked before anything is read."""

import datetime

import numpy as np
import pytest

from mercer._runtime.errors import MercerError
from mercer.auto.options import Objective, Splitting

BAD_OBJECTIVES = {
    "unknown metric": ({"metric": "rsme"}, "must be one of r2, rmse"),
    "metric of another kind": ({"metric": 3}, "scorer of scikit-learn"),
    "class weights in words": ({"class_weight": "even"}, "'balanced' or a dict"),
    "no class weights": ({"class_weight": {}}, "'balanced' or a dict"),
    "negative class weight": ({"class_weight": {"a": -1}}, "must be a positive number"),
    "class weight of NaN": ({"class_weight": {"a": float("nan")}}, "must be a positive number"),
    "one cost": ({"costs": {"false_positive": 1}}, "two numbers"),
    "unknown cost": ({"costs": {"false_positive": 1, "missed": 2}}, "two numbers"),
    "costs that are not square": ({"costs": [[0, 1, 2], [1, 0, 2]]}, "square matrix"),
    "negative costs": ({"costs": [[0, -1], [1, 0]]}, "at least zero"),
    "costs in words": ({"costs": [["a", "b"], ["c", "d"]]}, "square matrix"),
    "equal costs": ({"costs": [[1, 1], [2, 2]]}, "no decision matters"),
}
BAD_SPLITTINGS = {
    "gap without time": ({"gap": 3}, "name the column of times"),
    "gap in unknown units": ({"time": "t", "gap": "3 moons"}, "'12h', '7d'"),
    "negative gap": ({"time": "t", "gap": -1}, "number of rows"),
    "gap of True": ({"time": "t", "gap": True}, "number of rows"),
    "cv that splits nothing": ({"cv": "five"}, "splitter of scikit-learn"),
    "one fold": ({"cv": 1}, "splitter of scikit-learn"),
    "groups in a matrix": ({"groups": np.zeros((3, 2))}, "one value per row"),
}


@pytest.mark.parametrize("case", BAD_OBJECTIVES)
def test_bad_objectives_are_refused(case):
    options, message = BAD_OBJECTIVES[case]
    with pytest.raises(MercerError, match=message):
        Objective(**options)


@pytest.mark.parametrize("case", BAD_SPLITTINGS)
def test_bad_splittings_are_refused(case):
    options, message = BAD_SPLITTINGS[case]
    with pytest.raises(MercerError, match=message):
        Splitting(**options)


@pytest.mark.parametrize(
    ("options", "task", "message"),
    [
        ({"metric": "f1"}, "regression", "r2, rmse, mae, pinball, or a scorer, for regression"),
        ({"metric": "rmse"}, "classification", "for classification"),
        ({"metric": "roc_auc"}, "regression", "for regression"),
        ({"metric": "neg_mean_squared_error"}, "classification", "for classification"),
        ({"metric": "v_measure_score"}, "classification", "for classification"),
        ({"class_weight": "balanced"}, "regression", "is for classification"),
        ({"costs": [[0, 1], [2, 0]]}, "regression", "is for classification"),
    ],
)
def test_objectives_fit_the_task(options, task, message):
    with pytest.raises(MercerError, match=message):
        Objective(**options).check_task(task)


def test_two_costs_are_a_matrix():
    two = Objective(costs={"false_positive": 1, "false_negative": 5})
    assert two.cost_matrix(2).tolist() == [[0, 1], [5, 0]]
    with pytest.raises(MercerError, match=r"shape \(3, 3\)"):
        two.cost_matrix(3)
    assert Objective().cost_matrix(3) is None


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        (None, (0, 0.0)),
        (12, (12, 0.0)),
        ("1.5 h", (0, 5.4e9)),
        ("7d", (0, 6.048e11)),
        (datetime.timedelta(1), (0, 8.64e10)),
    ],
)
def test_gaps_are_rows_or_durations(gap, expected):
    assert Splitting(time="t", gap=gap).gap_rows_or_duration() == expected
