"""Products of pairs: selection, confirmation on other rows, refit, explanation and export."""

from dataclasses import replace

import numpy as np
import pytest

import mercer
from mercer.auto import Model
from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import EFFORTS
from mercer.auto.budget.progress import Steps
from mercer.auto.features.base import Refit
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.products import ProductBlock
from mercer.auto.features.union import Features
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import EncodedRows, encoded_rows
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.learning import learn, learn_again
from mercer.auto.search.products import best_pairs
from mercer.io import read_table
from mercer.tables import TableEncoder


def rows_of(X, Y, weight=None):
    Y = Y.reshape(len(X), -1)
    return TrainingRows(X, Y, np.arange(len(X), dtype=np.uint64), weight=weight)


def pairs_of(X, Y, max_pairs=4, gains=None, weight=None):
    gains = np.ones(X.shape[1]) if gains is None else gains
    return {tuple(pair) for pair in best_pairs(rows_of(X, Y, weight), Y.reshape(len(X), -1), gains, max_pairs).tolist()}


def areas(n, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4]
    return X, y + 0.3 * y.std() * rng.normal(size=n)


def test_products_have_unit_variance_and_the_names_of_their_factors():
    X = np.random.default_rng(0).gamma(2.0, size=(300, 3))
    block = ProductBlock.fitted(X, [(0, 2), (1, 1)])
    Z, centered = block.features(X), X - X.mean(axis=0)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z.std(axis=0), 1.0, rtol=1e-5)
    ratio = Z / np.column_stack([centered[:, 0] * centered[:, 2], centered[:, 1] ** 2])
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:1], Z.shape), rtol=1e-5)
    assert block.names(["age", "income", "rooms"]) == ["age * rooms", "income^2"]


def test_weighted_products_are_those_of_repeated_rows():
    rng = np.random.default_rng(1)
    X, times = rng.normal(size=(60, 3)), rng.integers(1, 4, 60)
    weighted = ProductBlock.fitted(X, [(0, 1)], times.astype(float))
    repeated = ProductBlock.fitted(np.repeat(X, times, axis=0), [(0, 1)])
    np.testing.assert_allclose(weighted.features(X), repeated.features(X), rtol=1e-5, atol=1e-6)


def test_products_follow_their_columns_and_end_with_them():
    X = np.random.default_rng(2).normal(size=(20, 4))
    block = ProductBlock.fitted(X, [(0, 3), (1, 1), (2, 3)])
    positions = np.array([3, -1, 0, 1])  # column 2 is gone, there is a new one, the others have moved
    moved = np.column_stack([X[:, 3], np.ones(20), X[:, 0], X[:, 1]])
    found, before = block.refit(Refit(None, positions, None)), block.features(X)
    assert found.pairs.tolist() == [[2, 0], [3, 3]]
    np.testing.assert_array_equal(found.features(moved), before[:, :2])
    assert ProductBlock.fitted(X, [(2, 3)]).refit(Refit(None, positions, None)) is None


def test_pairs_are_found_for_one_target_and_for_several():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 10))
    first, second = X[:, 1] * X[:, 7], X[:, 4] ** 2
    noise = 0.5 * rng.normal(size=(500, 2))
    assert pairs_of(X, first + second + noise[:, 0], max_pairs=2) == {(1, 7), (4, 4)}
    assert pairs_of(X, np.column_stack([first, second]) + noise, max_pairs=2) == {(1, 7), (4, 4)}


def test_rows_of_tiny_weight_select_no_pairs():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 5))
    first = np.arange(600) < 300
    y = np.where(first, X[:, 0] * X[:, 1], 5 * X[:, 2] * X[:, 3])
    assert pairs_of(X, y, max_pairs=1, weight=np.where(first, 1.0, 1e-9)) == {(0, 1)}


def test_a_column_selected_alone_makes_no_product():
    X = np.random.default_rng(5).normal(size=(200, 4))
    assert pairs_of(X, X[:, 2], max_pairs=1) == set()


def test_a_product_of_few_rows_stays_out():
    rng = np.random.default_rng(6)
    X = np.column_stack([rng.normal(size=1500), np.zeros(1500), rng.normal(size=(1500, 2))])
    X[:3, 1] = 3.0
    y = 50 * X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=1500)
    assert (0, 1) not in pairs_of(X, y, max_pairs=4)


def test_many_columns_offer_those_of_the_largest_tree_gains():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 400))
    gains = np.zeros(400)
    gains[[17, 390]] = 1.0
    assert pairs_of(X, X[:, 17] * X[:, 390], max_pairs=1, gains=gains) == {(17, 390)}
    assert pairs_of(X, X[:, 198] * X[:, 199], max_pairs=1, gains=gains) != {(198, 199)}


def searched(X, y, classify=False, **sizes):
    """The predictor of a fast search with products."""
    effort = replace(EFFORTS["fast"], max_products=16, **sizes)
    ids = np.arange(len(X), dtype=np.uint64)
    return learn(EncodedRows(X, y, ids), classify, effort, Clock(), 0, Steps())


def kinds(predictor):
    return [block.kind for block in predictor.features.blocks]


@pytest.mark.parametrize("classify", [False, True])
def test_products_that_explain_the_target_are_kept(classify):
    X, y = areas(1200)
    y = (y > 0).astype(int) if classify else y
    found = searched(X[:400], y[:400], classify)
    block = next(block for block in found.features.blocks if block.kind == "products")
    assert {(0, 1), (2, 3)} <= {tuple(pair) for pair in block.pairs.tolist()}
    tried = [each for each in found.candidates if each.stage == "products"]
    assert [each.kept for each in tried] == [False, True, True]
    assert [each.name for each in tried] == ["no products", *2 * [f"{block.width} products"]]
    if not classify:  # the noise leaves 1 / 1.09 of the variance to be explained
        assert 1 - np.mean((found.predict(X[400:]) - y[400:]) ** 2) / np.var(y[400:]) > 0.87


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("classify", [False, True])
def test_noise_keeps_no_products(seed, classify):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(400, 6)), rng.normal(size=400)
    assert "products" not in kinds(searched(X, (y > 0).astype(int) if classify else y, classify, max_fourier=2))


def test_no_products_in_a_fast_search_or_beyond_max_features():
    X, y = areas(400)
    assert EFFORTS["fast"].max_products == 0
    assert "products" in kinds(searched(X, y))
    assert "products" not in kinds(searched(X, y, max_features=9))  # a score and eight columns
    assert searched(X, y, max_features=11).features.width <= 11


def test_new_categories_move_products():
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(2, 480))
    city = rng.choice(["x", "y"], 480)
    city[400:430] = "n"  # sorted before the others, so that their columns move
    y = a * b + np.where(city == "x", a, -a)
    encoders, encoded = [], []
    for span in (slice(400), slice(None)):
        encoders.append(TableEncoder(roles={"city": "category"}))
        table = {"city": city[span].tolist(), "a": a[span], "b": b[span]}
        encoded.append(encoded_rows(encoders[-1], read_table(table, y[span]), learn=True))
    effort = replace(EFFORTS["fast"], max_products=16)
    first = learn(encoded[0], False, effort, Clock(), 0, Steps())
    before, after = (encoder.get_feature_names_out().tolist() for encoder in encoders)
    again = learn_again(first, encoded[1], effort, 0, np.array([before.index(x) if x in before else -1 for x in after]))
    old, new = (next(block for block in model.features.blocks if block.kind == "products") for model in (first, again))
    assert old.names(before) == new.names(after)
    assert old.pairs.tolist() != new.pairs.tolist()


def of_one_product(weight=3.0):
    """A model whose prediction is a weighted product of two columns, and its table."""
    rng = np.random.default_rng(9)
    table = {"age": rng.normal(40, 9, 200), "income": rng.normal(9, 2, 200), "idle": rng.normal(size=200)}
    encoder = TableEncoder()
    X = encoder.fit_transform(table, table["age"])
    features = Features([LinearBlock(3), ProductBlock.fitted(X, [(0, 1)])])
    predictor = Predictor(features, np.array([[0.0], [0.0], [0.0], [weight]]), np.zeros(1), None, np.ones(2))
    return Model("regression", encoder, predictor, X, {}), table


def test_a_product_contributes_equally_to_its_columns():
    model, table = of_one_product()
    row = {name: values[:1] for name, values in table.items()}
    explained = model.explain(row)
    assert explained.baseline == pytest.approx(0.0, abs=1e-6)  # the mean row: both factors are zero
    assert explained.contributions["age"] == pytest.approx(model.predict(row)[0] / 2, rel=1e-5)
    assert explained.contributions["age"] == pytest.approx(explained.contributions["income"], rel=1e-5)
    assert explained.contributions["idle"] == 0
    importance = model.importance()
    assert min(importance["age"], importance["income"]) > 0.25
    assert importance["idle"] == 0


def test_a_model_with_products_is_saved_and_exported(tmp_path):
    model, table = of_one_product()
    model.save(tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(again.predict(table), model.predict(table))
    assert again.get_feature_names_out().tolist() == ["age", "income", "idle", "age * income"]
    assert model.to_onnx(check=table).graph.output[0].name == "prediction"
