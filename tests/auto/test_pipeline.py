"""`to_pipeline`: the model as a scikit-learn pipeline of public estimators that predicts the same."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import FeatureUnion, Pipeline

import mercer
from mercer.linear import LogisticClassifier, RidgeRegressor

N = 400


def table(seed=0):
    """Numbers, missing values and a category."""
    rng = np.random.default_rng(seed)
    size, rooms = rng.normal(80, 20, N), rng.integers(1, 7, N).astype(float)
    rooms[::17] = np.nan
    city = rng.choice(["Bern", "Oslo", "Rome"], N)
    y = np.sin(size / 6) + np.nan_to_num(rooms) / 3 + (city == "Oslo") * size / 40 + 0.1 * rng.normal(size=N)
    return {"size": size, "rooms": rooms, "city": city}, y


TARGETS = {
    "regression": lambda y: y,
    "two classes": lambda y: np.where(y > np.median(y), "high", "low"),
    "three classes": lambda y: np.digitize(y, np.quantile(y, [0.3, 0.7])),
    "several targets": lambda y: np.column_stack([y, y**2]),
}


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("effort", ["fast", "normal"])
def test_the_pipeline_predicts_the_same(kind, effort):
    data, y = table()
    model = mercer.fit(data, TARGETS[kind](y), effort=effort)
    pipeline = model.to_pipeline()
    assert isinstance(pipeline, Pipeline)
    assert isinstance(pipeline["features"], FeatureUnion)
    found = pipeline.predict(data)
    if model.classes_ is None:
        # The same numbers, summed in another order.
        np.testing.assert_allclose(found, model.predict(data), rtol=0, atol=1e-9 * np.abs(found).max())
        assert isinstance(pipeline["linear"], RidgeRegressor)
    else:
        np.testing.assert_array_equal(found, model.predict(data))
        np.testing.assert_allclose(pipeline.predict_proba(data), model.predict_proba(data), atol=1e-9)
        assert isinstance(pipeline["linear"], LogisticClassifier)


def test_the_union_has_a_public_transformer_for_each_block():
    data, y = table()
    model = mercer.fit(data, y)
    union = model.to_pipeline()["features"]
    assert [name for name, _ in union.transformer_list] == [block["kind"] for block in model.report()["blocks"]]
    encoded = model.to_pipeline()[:2].transform(data)
    Z = np.asarray(union.transform(encoded), dtype=np.float32)
    np.testing.assert_allclose(Z, model.transform(data), atol=1e-6)


def test_text_alone_is_a_sparse_pipeline():
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(3000)]
    texts = [" ".join(rng.choice(words, 40)) + (" good" if i % 2 else " bad") for i in range(200)]
    model = mercer.fit({"text": texts}, np.arange(200) % 2, effort="fast")
    assert type(model).__name__ == "SparseModel"
    pipeline = model.to_pipeline()
    np.testing.assert_array_equal(pipeline.predict({"text": texts}), model.predict({"text": texts}))


def test_the_parts_can_be_fitted_again():
    data, y = table()
    union = mercer.fit(data, y, effort="normal").to_pipeline()["features"]
    X = np.random.default_rng(0).normal(size=(60, union.transformer_list[0][1].n_features_in_))
    for _, transformer in union.transformer_list:
        again = clone(transformer).fit(X, X[:, 0])
        assert again.transform(X).shape[0] == 60


def test_arrays_and_texts_beside_numbers():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    model = mercer.fit(X, X[:, 0] ** 2, effort="fast")
    np.testing.assert_allclose(model.to_pipeline().predict(X), model.predict(X), atol=1e-9)
    words = [f"word{i}" for i in range(3000)]
    texts = [" ".join(rng.choice(words, 40)) + (" good" if x > 0 else " bad") for x in X[:, 0]]
    data = {"text": texts, "number": X[:, 1]}
    model = mercer.fit(data, (X[:, 0] + X[:, 1] > 0).astype(int), effort="fast")
    np.testing.assert_allclose(model.to_pipeline().predict_proba(data), model.predict_proba(data), atol=1e-9)


def test_the_linear_model_fits_the_same_weights_again():
    data, y = table()
    model = mercer.fit(data, y, effort="normal", holdout=0)
    pipeline, result = model.to_pipeline(), model.predictor.result
    rows = model.to_pipeline()[:2].transform(data)
    Z = model.predictor.features.features(rows, result.scores).astype(np.float64)  # out-of-fold scores, as in the fit
    again = clone(pipeline["linear"]).fit(Z, y)
    # Gram matrices of the search are of float32 features.
    np.testing.assert_allclose(again.predict(Z), pipeline["linear"].predict(Z), atol=2e-3 * np.std(y))
