"""The learning curve: points in order, the most telling parts first when time is short, and what they say."""

import numpy as np
import pytest

from auto.diagnostics.held_out_cases import linear_rows
from mercer.auto.diagnostics.learning_curve import learning_curve


class Constant:
    def __init__(self, predictions):
        self.predictions = predictions

    def predict(self, table):
        return self.predictions


def held_out(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1))
    return linear_rows(X, X[:, 0], [1.0]), rng


def curve(errors, n_train=800, affordable=lambda fraction: True):
    """The curve of models whose errors are those of each fraction; the model of all rows has an error of 0.1."""
    rows, rng = held_out()
    noise = rng.normal(size=len(rows.y))
    return learning_curve(
        rows,
        rows.y + 0.1 * noise,
        n_train,
        lambda fraction: None if errors[fraction] is None else Constant(rows.y + errors[fraction] * noise),
        affordable,
    )


def test_points_are_in_the_order_of_rows():
    found = curve({0.5: 0.2, 0.25: 0.4, 0.125: 0.8})
    assert [point["n"] for point in found["points"]] == [100, 200, 400, 800]
    scores = [point["score"]["value"] for point in found["points"]]
    assert scores == sorted(scores)
    assert found["sentence"].startswith("More rows would probably help: from 400 to 800 training rows the R2 went from")


def test_no_gain_from_half_to_all():
    found = curve({0.5: 0.1, 0.25: 0.2, 0.125: 0.2})
    assert found["sentence"].startswith("More rows are unlikely to help much")


def test_parts_of_too_few_rows_are_left_out():
    assert [point["n"] for point in curve({0.5: 0.2, 0.25: 0.4, 0.125: 0.8}, n_train=100)["points"]] == [50, 100]
    assert curve({}, n_train=60) is None


def test_a_short_time_leaves_the_largest_parts_out():
    found = curve({0.5: 0.2, 0.25: 0.4, 0.125: 0.8}, affordable=lambda fraction: fraction < 0.5)
    assert [point["n"] for point in found["points"]] == [100, 200, 800]
    assert curve({}, affordable=lambda fraction: False) is None


def test_parts_without_a_model_are_left_out():
    found = curve({0.5: 0.2, 0.25: None, 0.125: None})
    assert [point["n"] for point in found["points"]] == [400, 800]


@pytest.mark.parametrize("part", [0.0, 1.0])
def test_classes_are_scored_by_accuracy(part):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 1))
    y = (X[:, 0] > 0).astype(int)
    rows = linear_rows(X, y, [5.0], classes=[0, 1])
    found = learning_curve(rows, y, 800, lambda fraction: Constant(np.where(X[:, 0] > part, 1, 0)), lambda f: f == 0.5)
    assert found["metric"] == "accuracy"
    assert found["points"][-1]["score"]["value"] == 1.0
