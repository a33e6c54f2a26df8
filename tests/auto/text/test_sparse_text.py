"""Sparse text features: the linear model of the terms, alone and as a score beside other columns."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import mercer
from mercer.auto import MercerClassifier
from mercer.auto.onnx.columns import refuse_untranslatable
from mercer.auto.text.sparse_linear import fit_sparse
from mercer.auto.text.sparse_model import SparseModel

WORDS = np.array([f"word{k}" for k in range(400)])


def texts(n=300, seed=0):
    """Texts of 30 words; in those of class 1 the first ten words are more frequent."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    probabilities = np.ones((2, len(WORDS)))
    probabilities[1, :10] = 6.0
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return [" ".join(WORDS[rng.choice(len(WORDS), 30, p=probabilities[k])]) for k in y], y


@pytest.fixture(scope="module")
def text_model():
    text, y = texts()
    return mercer.fit({"text": text}, np.array(["ham", "spam"])[y], effort="fast", roles={"text": "text"})


def test_text_alone_is_a_sparse_linear_model(text_model):
    text, y = texts(200, seed=1)
    assert isinstance(text_model, SparseModel)
    Z = text_model.transform({"text": text})
    assert sparse.issparse(Z)
    assert Z.shape == (200, len(text_model.get_feature_names_out()))
    scores = (Z @ text_model.predictor.coef + text_model.predictor.intercept)[:, 0]
    labels = np.array(["ham", "spam"])
    np.testing.assert_array_equal(text_model.predict({"text": text}), labels[(scores > 0).astype(int)])
    assert np.mean(text_model.predict({"text": text}) == labels[y]) > 0.8
    np.testing.assert_allclose(text_model.predict_proba({"text": text}).sum(axis=1), 1.0)
    report = text_model.report()
    assert report["model"].startswith("linear on ")
    assert sum(each["kept"] for each in report["candidates"]) == 1
    assert report["importance"] == {"text": 1.0}


def test_an_explanation_names_the_heaviest_terms(text_model):
    row = {"text": ["word1 word2 word3 word300 nothing"]}
    explained = text_model.explain(row, "spam")
    probability = text_model.predict_proba(row)[0, 1]
    log_odds = np.log(probability / (1 - probability))
    assert explained.prediction == pytest.approx(log_odds, rel=1e-9)
    assert explained.baseline + sum(explained.contributions.values()) == pytest.approx(log_odds, rel=1e-9)
    assert explained.contributions["text:word1"] > 0
    assert (explained.unit, explained.probability) == ("log-odds of 'spam'", pytest.approx(probability))
    assert text_model.explain(row, "ham").prediction == pytest.approx(-log_odds, rel=1e-9)


def test_many_texts_are_explained_by_terms_and_by_column(text_model):
    data = {"text": [*texts(30, seed=5)[0], "unknown"]}
    found = text_model.explain(data, "spam")
    p = text_model.predict_proba(data)[:, 1]
    np.testing.assert_allclose(found.baseline + found.contributions.sum(axis=1), np.log(p / (1 - p)), rtol=1e-9)
    assert list(found.to_dict()) == ["baseline", "prediction", "output", "probability", "text"]
    for i in (0, 7, 30):
        assert found[i] == text_model.explain({"text": data["text"][i : i + 1]}, "spam")
        assert sum(found[i].contributions.values()) == pytest.approx(found.contributions[i, 0], abs=1e-12)
    assert found[30].contributions == {}
    assert "a row without any term" in str(found[30])


def test_a_saved_model_predicts_the_same(text_model, tmp_path):
    row = {"text": texts(20, seed=2)[0]}
    text_model.save(tmp_path / "text.mercer")
    again = mercer.load(tmp_path / "text.mercer")
    np.testing.assert_array_equal(again.predict_proba(row), text_model.predict_proba(row))
    with pytest.raises(ValueError, match="'text'"):
        refuse_untranslatable(text_model.encoder)


def test_beside_other_columns_a_text_becomes_a_score(tmp_path):
    text, y = texts(400)
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    amount = 5.0 * y + x + 0.1 * rng.normal(size=400)
    data = {"x": x, "text": text}
    model = mercer.fit(data, amount, effort="fast", roles={"text": "text"})
    assert "text_score_0" in list(model.encoder.get_feature_names_out())
    assert set(model.importance()) == {"x", "text"}
    assert model.importance()["text"] > model.importance()["x"]
    # Alone x explains 1 / (1 + 2.5^2) = 0.14 of the variance.
    assert model.report()["holdout"]["model"]["value"] > 0.25
    assert "terms" in {each["stage"] for each in model.report()["candidates"]}
    explained = model.explain({"x": x[:1], "text": text[:1]})
    assert explained.prediction == pytest.approx(model.predict({"x": x[:1], "text": text[:1]}).item(), abs=1e-4)
    model.save(tmp_path / "mixed.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "mixed.mercer").predict(data), model.predict(data))
    with pytest.raises(ValueError, match="'text'"):
        refuse_untranslatable(model.encoder)


def test_noise_shows_no_skill():
    text, _ = texts(400)
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 400)
    report = mercer.fit({"text": text}, y, effort="fast", roles={"text": "text"}).report()
    score = report["holdout"]["model"]
    # Half of the rows: the 99.99 % interval of a fair coin over the held-out rows.
    assert abs(score["value"] - 0.5) < 3.9 * 0.5 / np.sqrt(report["holdout"]["n"])
    mixed = mercer.fit({"x": rng.normal(size=400), "text": text}, y, effort="fast", roles={"text": "text"}).report()
    assert abs(mixed["holdout"]["model"]["value"] - 0.5) < 3.9 * 0.5 / np.sqrt(mixed["holdout"]["n"])


def test_scores_of_rows_are_out_of_fold():
    """With one indicator per row, a model fits its training rows and knows nothing of other rows."""
    rng = np.random.default_rng(5)
    y, ids = rng.normal(size=200), rng.integers(0, 2**63, 200).astype(np.uint64)
    model, scores = fit_sparse(sparse.identity(200, format="csr"), y, ids, None, 0, alpha=0.1)
    assert np.corrcoef(model.scores(sparse.identity(200, format="csr"))[:, 0], y)[0, 1] > 0.99
    assert abs(np.corrcoef(scores[:, 0], y)[0, 1]) < 0.5


def test_three_classes_in_an_estimator():
    text, y = texts(300)
    frame = pd.DataFrame({"text": text})
    y = np.where(np.arange(300) % 3 == 2, 2, y)
    model = MercerClassifier(effort="fast").fit(frame, y)
    assert model.predict_proba(frame).shape == (300, 3)
    np.testing.assert_array_equal(model.predict(frame), model.model_.predict(frame))


def test_max_features_limits_text_terms():
    text, y = texts()
    model = mercer.fit({"text": text}, y, effort="fast", max_features=50, holdout=0.0, roles={"text": "text"})
    assert model.transform({"text": text[:3]}).shape[1] <= 50
    assert np.mean(model.predict({"text": text}) == y) > 0.8


@pytest.mark.parametrize("beside", [{}, {"x": np.linspace(-1, 1, 300)}])
def test_several_targets_of_texts(beside):
    text, y = texts()
    Y = np.column_stack([y, -2.0 * y + 1, np.cos(np.arange(300))])
    table = {"text": text, **beside}
    model = mercer.fit(table, Y, effort="fast", roles={"text": "text"})
    found = model.predict(table)
    assert found.shape == (300, 3)
    assert np.corrcoef(found[:, 1], Y[:, 1])[0, 1] > 0.8
    explained = model.explain({name: values[:1] for name, values in table.items()}, output=1)
    assert explained.prediction == pytest.approx(found[0, 1], abs=1e-4)
