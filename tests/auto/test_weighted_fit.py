"""Sample weights: a row of weight two counts as two rows, from the encoder to the score on the holdout."""

import numpy as np
import pytest

import mercer
from mercer.auto import MercerClassifier, MercerRegressor, evaluate
from mercer.auto.rows.weights import FEW, weighted_rows
from mercer.io import read_table
from mercer.learn.trees.boosting import boost
from mercer.learn.trees.losses import LogisticTreeLoss, SquaredTreeLoss
from mercer.learn.trees.params import TreeParams
from mercer.source import Columns


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n), rng.integers(0, 4, n)


@pytest.mark.parametrize("classify", [False, True])
def test_integer_weights_are_repetitions_bit_for_bit(classify):
    X, y, weight = rows()
    y = (y > 0).astype(int) if classify else y
    make = MercerClassifier if classify else MercerRegressor
    order = np.random.default_rng(1).permutation(len(X))
    one = make(effort="fast").fit(X[order], y[order], sample_weight=weight[order])
    two = make(effort="fast").fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    method = "predict_proba" if classify else "predict"
    assert np.array_equal(getattr(one, method)(X), getattr(two, method)(X))


def test_many_rows_and_fractional_weights_keep_their_weights():
    X, y, _ = rows(FEW + 1)
    table, _, weight = weighted_rows(Columns.of(X), y, np.full(len(X), 2.0))
    assert len(table) == len(X)
    assert weight.tolist() == [2.0] * len(X)
    _, _, weight = weighted_rows(Columns.of(X[:9]), y[:9], np.array([0.0, *[0.5] * 8]))
    assert weight.tolist() == [0.5] * 8


@pytest.mark.parametrize("loss", ["squares", "two classes", "three classes"])
def test_boosted_trees_with_weights_are_those_of_repeated_rows(loss):
    """On the training rows of each ensemble: splits that agree on these may differ on other rows."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(100, 3)), rng.integers(1, 4, 100)  # few rows: each value is a bin of its own
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=100)
    label = np.digitize(y, [0.0] if loss == "two classes" else [-0.5, 0.5])
    folds = np.arange(len(y)) % 5

    def ensembles(repeats, weight):
        def again(values):
            return np.repeat(values, repeats, axis=0)

        if loss == "squares":
            made = SquaredTreeLoss(again(y), weight)
        else:
            made = LogisticTreeLoss(again(label), label.max() + 1, weight)
        params = TreeParams(n_estimators=10, max_leaf_nodes=6, min_samples_leaf=10, max_features=1.0)
        return boost(again(X), made, again(folds), params).ensembles

    ones = np.ones(len(y), dtype=int)
    pairs = zip(ensembles(ones, weight.astype(float)), ensembles(weight, None), strict=True)
    for fold, (weighted, repeated) in enumerate(pairs):
        train = X[folds != fold]
        # ten trees at a learning rate of 0.08, of gradients of up to 4 on grids of 23 bits: 31 less those of 240 rows
        atol = 10 * 0.08 * 4 * 2.0**-23
        np.testing.assert_allclose(weighted.scores(train), repeated.scores(train), rtol=0, atol=atol)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_score_on_the_holdout_is_weighted(task):
    class Given:
        def __init__(self, column):
            self.column = column

        def predict(self, X):
            return X.array(self.column)

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200).astype(float)
    data = {"bad": rng.permutation(y), "good": np.where(rng.random(200) < 0.8, y, 1.0)}
    weight = rng.integers(1, 4, 200)
    comparison = evaluate(Given("bad"), Given("good"), read_table(data, y, weight), task)
    repeated = {name: np.repeat(values, weight) for name, values in data.items()}
    other = evaluate(Given("bad"), Given("good"), read_table(repeated, np.repeat(y, weight)), task)
    assert np.isclose(comparison.first.value, other.first.value)
    assert np.isclose(comparison.second.value, other.second.value)
    assert np.isclose(comparison.gain.value, other.gain.value)
    assert comparison.second.low < other.second.low  # repeated rows are not independent


def test_rows_of_large_weight_determine_the_model():
    X, y, _ = rows(400)
    half = np.arange(400) < 200
    y = np.where(half, y, -y)
    weight = np.where(half, 1.0, 1e-3)
    table = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "w": weight, "y": y}
    model = mercer.fit(table, "y", weight="w", effort="fast")
    assert "w" not in model.schema
    assert np.corrcoef(model.predict(X[half]), y[half])[0, 1] > 0.9
    assert model.report()["holdout"]["model"]["value"] > 0.7


def test_texts_take_weights():
    texts = [f"good number {i}" if i % 2 else f"bad number {i}" for i in range(300)]
    label = np.array([i % 2 for i in range(300)])
    wrong = np.where(np.arange(300) < 150, 1 - label, label)
    model = mercer.fit({"text": texts}, wrong, weight=np.where(np.arange(300) < 150, 0.01, 1.0), roles={"text": "text"})
    assert np.mean(model.predict({"text": texts}) == label) > 0.95


@pytest.mark.parametrize(("weight", "message"), [([0.0] * 300, "zero"), ([-1.0, *[1.0] * 299], "-1.0 at row 0")])
def test_weights_that_are_refused(weight, message):
    X, y, _ = rows()
    with pytest.raises(ValueError, match=message):
        mercer.fit(X, y, weight=np.array(weight))
